// The list of chapters. While presenting, a presenter's keys turn them like pages.
const TURN = { ArrowLeft: -1, PageUp: -1, ArrowRight: 1, PageDown: 1 };

export default function ({ data, parentElement, setTriggerValue }) {
  const nav = parentElement.querySelector("nav");
  const choose = (number) => {
    if (number >= 1 && number <= data.titles.length) setTriggerValue("chosen", number);
  };
  nav.hidden = !data.shown;
  const view = `${data.chosen} ${data.keys}`;
  if (nav.view !== view) toTop();
  nav.view = view;
  nav.querySelector("ol").replaceChildren(...data.titles.map((title, i) => entry(title, i + 1, data.chosen, choose)));
  document.removeEventListener("keydown", nav.onKey);
  nav.onKey = (event) => {
    if (!data.keys || !TURN[event.key] || event.altKey || event.ctrlKey || event.metaKey || isBusy()) return;
    event.preventDefault();
    choose(data.chosen + TURN[event.key]);
  };
  document.addEventListener("keydown", nav.onKey);
  return () => document.removeEventListener("keydown", nav.onKey);
}

// A chapter opens at its top, also while its picture is still growing.
function toTop() {
  const main = document.querySelector('[data-testid="stMain"]');
  const up = () => main?.scrollTo({ top: 0, behavior: "instant" });
  const stop = () => clearInterval(again);
  const again = setInterval(up, 50);
  up();
  setTimeout(stop, 600);
  for (const touched of ["wheel", "touchstart", "pointerdown", "keydown"]) addEventListener(touched, stop, { once: true });
}

function entry(title, number, chosen, choose) {
  const item = document.createElement("li"), button = document.createElement("button");
  button.type = "button";
  button.innerHTML = `<b>${number}</b><span></span>`;
  button.querySelector("span").textContent = title;
  if (number === chosen) button.setAttribute("aria-current", "step");
  button.onclick = () => choose(number);
  item.append(button);
  return item;
}

// Arrow keys belong to sliders, tabs and text fields while one of these has the focus.
function isBusy() {
  let focused = document.activeElement;
  while (focused?.shadowRoot?.activeElement) focused = focused.shadowRoot.activeElement;
  return Boolean(focused?.closest("input, select, textarea, [role=slider], [role=radio], [role=tab], [role=combobox]"));
}
