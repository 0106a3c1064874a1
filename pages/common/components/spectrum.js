// The spectrum of the pixel that was chosen in the pictures, and of those that are pinned beside it.
const PIXEL = "atnmf-cube-pixel", MARKS = "atnmf-cube-marks", PIN = "atnmf-cube-pin";
const EVERY = 120;

export default function ({ data, parentElement, setTriggerValue }) {
  const host = parentElement.querySelector(".host");
  const { current: [current], pins } = data;
  host.style.setProperty("--hidden", data.hidden_colour);
  host.querySelector(".place").textContent = current.name;
  host.querySelector(".seen").textContent = current.seen;
  host.querySelector(".measures").innerHTML = current.measures;
  const pinning = host.querySelector(".pinning"), known = pins.some((pin) => same(pin.place, current.place));
  pinning.hidden = data.pinning === false;
  pinning.textContent = known ? "Unpin" : "Pin";
  pinning.onclick = () => setTriggerValue(known ? "unpin" : "pin", current.place);
  drawLegend(host.querySelector(".legend"), data);
  const cards = pins.map((pin, i) => pinned(pin, i, setTriggerValue));
  host.querySelector(".pins").replaceChildren(...cards);
  const readout = host.querySelector(".readout");
  const point = (i) => (readout.innerHTML = i === null ? "Point at the chart to read a band." : sentence(data, current, i));
  const svg = host.querySelector(".chart svg");
  svg.setAttribute("aria-label", `Spectrum of ${current.name}, ${current.seen}`);
  const draw = () => {
    drawSpectra(svg, { ...chartOf(data, current), height: 18.75, onPoint: point });
    cards.forEach((card, i) => drawSpectra(card.querySelector("svg"), { ...chartOf(data, pins[i]), height: 6, small: true }));
  };
  draw();
  const rest = whenResized(host, draw);
  point(null);
  const details = host.querySelector("details");
  const fill = () => details.open && fillTable(host.querySelector("table"), data, current);
  details.ontoggle = fill;
  fill();
  // The pictures know at once which pixel was chosen; the page hears of the last of many quick moves.
  const tell = (place) => setTriggerValue("pixel", place);
  const listeners = { [PIXEL]: (event) => unhurried(host, () => tell(event.detail)), [PIN]: () => pinning.click() };
  for (const [name, listener] of Object.entries(host.listeners ?? {})) document.removeEventListener(name, listener);
  host.listeners = listeners;
  for (const [name, listener] of Object.entries(listeners)) document.addEventListener(name, listener);
  if (!host.waiting) document.dispatchEvent(new CustomEvent(MARKS, { detail: { pixel: current.place, pins: pins.map((pin) => pin.place) } }));
  return () => {
    rest();
    for (const [name, listener] of Object.entries(listeners)) document.removeEventListener(name, listener);
  };
}

// The first of several quick moves is told at once, then one at a time, the last of them in any case; while
// more may follow the host is marked as pending.
function unhurried(host, act) {
  if (host.timer) {
    host.waiting = act;
    return;
  }
  act();
  host.toggleAttribute("data-pending", true);
  host.timer = setTimeout(() => {
    host.timer = undefined;
    host.toggleAttribute("data-pending", false);
    const waiting = host.waiting;
    host.waiting = undefined;
    if (waiting) unhurried(host, waiting);
  }, EVERY);
}

const same = (one, other) => one[0] === other[0] && one[1] === other[1];

function chartOf(data, pixel) {
  const lines = linesOf(data, pixel).map(([tone, name]) => ({ tone, values: pixel[name] }));
  return { x: data.x, unit: data.unit, top: data.top, lines, within: pixel.within, observed: pixel.specks, hidden: pixel.observed.map((is) => !is) };
}

// Tone, name in the data and words of each line that is known.
const linesOf = (data, pixel) => data.lines.filter(([, name]) => pixel[name]);

function drawLegend(legend, data) {
  legend.replaceChildren(...data.legend.map(([tone, words]) => Object.assign(document.createElement("span"), { className: tone, textContent: words })));
}

function pinned(pin, i, setTriggerValue) {
  const card = document.createElement("div");
  card.className = "pinned";
  card.innerHTML = '<header><span class="number"></span><button type="button" class="go"></button><button type="button" class="away">×</button></header><div><svg role="img"></svg></div>';
  card.querySelector(".number").textContent = i + 1;
  const go = card.querySelector(".go"), away = card.querySelector(".away");
  go.textContent = pin.name;
  go.title = "Look at this pixel again";
  go.onclick = () => setTriggerValue("pixel", pin.place);
  away.setAttribute("aria-label", `Unpin ${pin.name}`);
  away.onclick = () => setTriggerValue("unpin", pin.place);
  card.querySelector("svg").setAttribute("aria-label", `Spectrum of pin ${i + 1}, ${pin.name}`);
  return card;
}

const say = (value) => (value === null || value === undefined ? "unknown" : value.toFixed(4));

function sentence(data, pixel, i) {
  const values = linesOf(data, pixel).map(([, name, words]) => `${words} <b>${say(pixel[name][i])}</b>`);
  return `${data.names[i]}, ${data.flag[pixel.observed[i] ? 0 : 1]}: ${values.join(" · ")}`;
}

function fillTable(table, data, pixel) {
  const columns = linesOf(data, pixel);
  const digits = (value) => (value === null ? "" : String(Number(value.toPrecision(7))));
  const row = (cells, tag) => `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join("")}</tr>`;
  const head = ["band", ...(data.unit === "nm" ? ["nm"] : []), data.flag[0], ...columns.map(([, , words]) => words)];
  const body = data.x.map((x, i) =>
    row([i + 1, ...(data.unit === "nm" ? [Number(x.toPrecision(7))] : []), pixel.observed[i] ? "yes" : "no", ...columns.map(([, name]) => digits(pixel[name][i]))], "td"),
  );
  table.innerHTML = `<thead>${row(head, "th")}</thead><tbody>${body.join("")}</tbody>`;
}
