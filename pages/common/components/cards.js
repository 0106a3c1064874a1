// Buttons with a small picture each, and where there is one a second line.
export default function ({ data, parentElement, setTriggerValue }) {
  const cards = data.cards.map(({ title, note, src, active }, i) => {
    const button = document.createElement("button");
    button.type = "button";
    button.ariaPressed = String(active);
    const image = document.createElement("img");
    image.src = src;
    image.alt = "";
    button.append(image, note ? twoLines(title, note) : title);
    button.onclick = () => setTriggerValue("chosen", i);
    return button;
  });
  const row = parentElement.querySelector(".cards");
  if (data.label) row.ariaLabel = data.label;
  row.classList.toggle("wraps", data.wraps === true);
  row.classList.toggle("wraps-wide", data.wraps === "wide");
  row.replaceChildren(...cards);
}

function twoLines(title, note) {
  const lines = document.createElement("span");
  const second = document.createElement("small");
  second.textContent = note;
  lines.append(title, second);
  return lines;
}
