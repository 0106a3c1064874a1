// A row of small pictures to choose from: by click, or by the arrow keys wherever nothing else wants them.
export default function ({ data, parentElement, setTriggerValue }) {
  const faces = parentElement.querySelector(".faces");
  const choose = (number) => {
    if (number >= 1 && number <= data.count) setTriggerValue("chosen", number);
  };
  faces.replaceChildren(...data.thumbnails.map((src, i) => thumbnail(data, src, data.first + i, choose)));
  const chosen = faces.querySelector('[aria-pressed="true"]');
  // Only sideways, so that the page itself stays where it is.
  if (chosen) faces.scrollLeft = chosen.offsetLeft - (faces.clientWidth - chosen.offsetWidth) / 2;
  const [back, on] = parentElement.querySelectorAll(".page");
  back.disabled = data.first <= 1;
  on.disabled = data.first + data.thumbnails.length > data.count;
  back.onclick = () => choose(data.first - 1);
  on.onclick = () => choose(data.first + data.thumbnails.length);
  const host = parentElement.querySelector(".strip");
  document.removeEventListener("keydown", host.onKey);
  host.onKey = (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step || event.altKey || event.ctrlKey || event.metaKey || isBusy(parentElement)) return;
    event.preventDefault();
    choose(data.chosen + step);
  };
  document.addEventListener("keydown", host.onKey);
  return () => document.removeEventListener("keydown", host.onKey);
}

function thumbnail(data, src, number, choose) {
  const button = document.createElement("button");
  button.type = "button";
  button.ariaPressed = String(number === data.chosen);
  button.setAttribute("aria-label", `Show ${data.noun} ${number}`);
  const image = document.createElement("img");
  image.src = src;
  image.alt = "";
  button.append(image);
  button.onclick = () => choose(number);
  return button;
}

// Arrow keys belong to sliders, tabs and text fields while one of these has the focus.
function isBusy(root) {
  const focused = document.activeElement;
  return focused && focused !== document.body && focused.shadowRoot !== root;
}
