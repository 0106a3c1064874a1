// Sliders over given stops that answer at once. `values` holds those that are not shown, too.
function dials(host, { dials: shown, values }, changed, send) {
  const stopsOf = Object.fromEntries(shown.map((dial) => [dial.name, dial.stops]));
  if (host.names !== shown.map((dial) => dial.name).join()) {
    host.names = shown.map((dial) => dial.name).join();
    host.replaceChildren(...shown.map(oneDial));
  }
  const put = (name) => {
    const label = host.querySelector(`[data-name=${name}]`);
    if (!label) return;
    const text = shown.find((dial) => dial.name === name).texts[stopsOf[name].indexOf(host.values[name])];
    label.querySelector("input").value = stopsOf[name].indexOf(host.values[name]);
    label.querySelector("input").setAttribute("aria-valuetext", text);
    label.querySelector("output").textContent = text;
  };
  const set = (name, value) => {
    if (host.values[name] === value) return;
    host.values = { ...host.values, [name]: value };
    put(name);
    changed(host.values);
    tell(host, () => host.values, send);
  };
  follow(host, values, (all) => { host.values = all; });
  for (const { name, stops } of shown) {
    host.querySelector(`[data-name=${name}] input`).oninput = (event) => set(name, stops[event.target.value]);
    put(name);
  }
  changed(host.values);
  // A stop that is null stands for none, and nothing can be dragged there.
  const nearest = (name, value) => stopsOf[name].reduce((a, b) => (b !== null && Math.abs(b - value) < Math.abs(a - value) ? b : a));
  return { values: () => host.values, move: (name, value) => set(name, nearest(name, value)), has: (name) => name in stopsOf };
}

function oneDial({ name, label, stops }) {
  const whole = document.createElement("label");
  whole.dataset.name = name;
  const words = document.createElement("span"), said = document.createElement("output"), input = document.createElement("input");
  words.textContent = label;
  Object.assign(input, { type: "range", min: 0, max: stops.length - 1, step: 1 });
  input.setAttribute("aria-label", label);
  whole.append(words, said, input);
  return whole;
}

// Lets a finger drag what stands nearest to it along the x axis; the chart is drawn anew with every move.
function draggable(svg, plot, places, move) {
  let held;
  svg.style.touchAction = "pan-y";
  svg.onpointerdown = (event) => {
    const value = plot().under(event), found = places();
    held = Object.keys(found).sort((a, b) => Math.abs(found[a] - value) - Math.abs(found[b] - value))[0];
    if (held === undefined) return;
    svg.setPointerCapture(event.pointerId);
    move(held, value);
  };
  svg.onpointermove = (event) => held !== undefined && move(held, plot().under(event));
  svg.onpointerup = svg.onpointercancel = () => (held = undefined);
}
