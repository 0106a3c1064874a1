// A table in which a cell, all its lines together, can be chosen: by a click anywhere in it, or by keyboard.
export default function ({ data, parentElement, setTriggerValue }) {
  const scroll = parentElement.querySelector(".scroll");
  if (scroll.shown !== data.table) {
    scroll.shown = data.table;
    scroll.ariaLabel = data.label;
    scroll.innerHTML = data.table;
    scroll.querySelectorAll("td.unmarked").forEach(makeReachable);
  }
  for (const cell of cells(scroll)) {
    const number = Number(cell.dataset.cell), chosen = number === data.chosen;
    cell.classList.toggle("chosen", chosen);
    cell.onclick = () => setTriggerValue("chosen", number);
    cell.onpointerenter = cell.onpointerleave = (event) => mark(scroll, number, event.type === "pointerenter");
    const button = cell.querySelector("button");
    if (button) button.ariaPressed = String(chosen);
  }
}

const cells = (scroll) => scroll.querySelectorAll("td[data-cell]");

function mark(scroll, number, hovered) {
  for (const cell of cells(scroll)) if (Number(cell.dataset.cell) === number) cell.classList.toggle("hovered", hovered);
}

function makeReachable(cell) {
  const button = document.createElement("button");
  button.type = "button";
  button.append(...cell.childNodes);
  cell.append(button);
}
