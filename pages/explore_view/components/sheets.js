// One picture of many tiles, each of which can be clicked.
export default function ({ data, parentElement, setTriggerValue }) {
  const image = parentElement.querySelector("img"), tiles = parentElement.querySelector(".tiles");
  image.src = data.src;
  image.alt = data.alt;
  tiles.style.gridTemplateColumns = `repeat(${data.columns}, 1fr)`;
  tiles.style.gridTemplateRows = `repeat(${Math.ceil(data.names.length / data.columns)}, 1fr)`;
  tiles.replaceChildren(...data.names.map((name, i) => {
    const button = document.createElement("button");
    button.type = "button";
    button.title = name;
    button.setAttribute("aria-label", name);
    button.ariaPressed = String(i === data.chosen);
    button.onclick = () => setTriggerValue("chosen", i === data.chosen ? -1 : i);
    return button;
  }));
}
