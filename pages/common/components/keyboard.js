// Tab enters a choice at what is chosen, not at its first option; F6 goes from the pages to the controls to the picture.
const PLACES = { stSidebarNav: "", stSidebarUserContent: "Controls", stMain: "" };
let byTab = false;

function onKey(event) {
  byTab = event.key === "Tab";
  if (event.key !== "F6") return;
  event.preventDefault();
  const places = Object.keys(PLACES).map((name) => document.querySelector(`[data-testid="${name}"]`)).filter((place) => place?.checkVisibility());
  const now = places.findIndex((place) => place.contains(document.activeElement));
  const next = places.at((now + (event.shiftKey ? (now < 0 ? 0 : -1) : 1)) % places.length);
  next.tabIndex = -1;
  next.focus();
}

function onFocus({ target, relatedTarget }) {
  const choice = target.closest('[role="radiogroup"]');
  if (byTab && choice && !choice.contains(relatedTarget)) choice.querySelector('[role="radio"][aria-checked="true"]')?.focus();
}

const onPointer = () => (byTab = false);

export default function () {
  for (const [name, label] of Object.entries(PLACES)) {
    const place = document.querySelector(`[data-testid="${name}"]`);
    if (label && place) Object.assign(place, { role: "region", ariaLabel: label });
  }
  const heard = { keydown: onKey, focusin: onFocus, pointerdown: onPointer };
  for (const [name, hear] of Object.entries(heard)) document.addEventListener(name, hear, true);
  return () => Object.entries(heard).forEach(([name, hear]) => document.removeEventListener(name, hear, true));
}
