// A face put together from its parts, one more at every step.
export default function ({ data, parentElement, setTriggerValue }) {
  const find = (selector) => parentElement.querySelector(selector);
  find(".face").src = data.face;
  find(".face").alt = data.alt;
  const tiles = data.parts.map(({ src, weight }) => {
    const tile = document.createElement("li"), image = document.createElement("img");
    image.src = src;
    image.alt = "";
    tile.append(image, `×${weight}`);
    return tile;
  });
  find(".parts").replaceChildren(...tiles);
  const show = (count) => {
    find(".now").src = data.sums[count];
    find(".now").alt = `Sum of ${count} parts, RMSE ${data.errors[count]}`;
    find(".sum").textContent = `Sum of ${count} part${count === 1 ? "" : "s"}, error ${data.errors[count]}`;
    find(".added").textContent = count ? `Added last: part ${count}, weight ${data.parts[count - 1].weight}` : "Nothing added yet";
    find(".part").style.visibility = count ? "visible" : "hidden";
    if (count) find(".part").src = data.parts[count - 1].src;
    find(".part").alt = count ? `Part ${count}` : "";
    tiles.forEach((tile, i) => {
      tile.classList.toggle("in", i < count);
      if (i === count - 1) tile.setAttribute("aria-current", "step");
      else tile.removeAttribute("aria-current");
    });
  };
  return player(parentElement, {
    film: data.film,
    shown: data.player,
    at: data.at,
    last: data.parts.length,
    name: "Parts added",
    label: (count) => `${count} of ${data.parts.length} parts`,
    show,
    rest: (count) => setTriggerValue("at", count),
  });
}
