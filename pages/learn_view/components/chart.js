// A small chart in real pixels, so that its letters keep their size on every screen.
const SVG = "http://www.w3.org/2000/svg";

function chart(svg, { x, y, height, ticks = {}, names = {}, left = 2.75 }) {
  const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
  const width = svg.clientWidth || 600, tall = height * rem;
  const edge = { left: left * rem, right: 0.75 * rem, top: 0.75 * rem, bottom: 2.5 * rem };
  svg.setAttribute("viewBox", `0 0 ${width} ${tall}`);
  svg.style.height = `${tall}px`;
  svg.querySelectorAll(":scope > :not(title)").forEach((old) => old.remove());
  const X = (value) => edge.left + ((value - x[0]) / (x[1] - x[0])) * (width - edge.left - edge.right);
  const Y = (value) => tall - edge.bottom - ((value - y[0]) / (y[1] - y[0])) * (tall - edge.top - edge.bottom);
  const add = (kind, style, attributes, text) => {
    const item = svg.appendChild(document.createElementNS(SVG, kind));
    item.setAttribute("class", style);
    for (const [name, value] of Object.entries(attributes)) item.setAttribute(name, value);
    if (text !== undefined) item.textContent = text;
    return item;
  };
  const line = (style, x1, y1, x2, y2) => add("line", style, { x1: X(x1), y1: Y(y1), x2: X(x2), y2: Y(y2) });
  const text = (style, at, over, words, more = {}) => add("text", style, { x: X(at), y: Y(over), ...more }, words);
  const dot = (style, at, over, r = 7) => add("circle", style, { cx: X(at), cy: Y(over), r });
  const path = (style, points) => add("path", style, { d: points.map(([a, b], i) => `${i ? "L" : "M"}${X(a).toFixed(1)} ${Y(b).toFixed(1)}`).join("") });
  // Curves end at the frame; the value a little beyond it keeps their slope there.
  const curve = (style, f, from = x[0], to = x[1], count = 160) => {
    const high = y[1] + (y[1] - y[0]), low = y[0] - (y[1] - y[0]);
    const points = Array.from({ length: count + 1 }, (_, i) => from + ((to - from) * i) / count).map((a) => [a, Math.max(low, Math.min(high, f(a)))]);
    path(style, points).setAttribute("clip-path", "url(#frame)");
  };
  const frame = add("clipPath", "", { id: "frame" });
  const area = document.createElementNS(SVG, "rect");
  for (const [name, value] of Object.entries({ x: edge.left, y: edge.top, width: width - edge.left - edge.right, height: tall - edge.top - edge.bottom })) area.setAttribute(name, value);
  frame.append(area);
  for (const tick of ticks.y ?? []) {
    line("axis", x[0], tick, x[1], tick);
    add("text", "", { x: edge.left - 0.4 * rem, y: Y(tick) + 0.3 * rem, "text-anchor": "end" }, shortened(tick));
  }
  for (const tick of ticks.x ?? []) add("text", "", { x: X(tick), y: tall - edge.bottom + 1.1 * rem, "text-anchor": "middle" }, shortened(tick));
  if (names.x) add("text", "", { x: (edge.left + width - edge.right) / 2, y: tall - 0.25 * rem, "text-anchor": "middle" }, names.x);
  return { X, Y, add, line, text, dot, path, curve, rem, width, x, y, edge };
}

function shortened(value) {
  return String(Number(value.toFixed(6))).replace("-", "−");
}

function signed(value, digits = 2) {
  return value.toFixed(digits).replace(/^-(?=0\.?0*$)/, "").replace("-", "−");
}

// Draws again when the room for it changes.
function whenResized(svg, draw) {
  svg.observer?.disconnect();
  let known = svg.clientWidth;
  svg.observer = new ResizeObserver(() => {
    if (svg.clientWidth !== known) {
      known = svg.clientWidth;
      draw();
    }
  });
  svg.observer.observe(svg);
  return () => svg.observer.disconnect();
}

// Lets a finger drag what stands nearest to it along the x axis; the chart is drawn anew with every move.
function draggable(svg, current, places, move) {
  let held;
  const at = (event) => {
    const { x, edge, width } = current();
    const box = svg.getBoundingClientRect();
    const share = (event.clientX - box.left - edge.left) / (width - edge.left - edge.right);
    return x[0] + share * (x[1] - x[0]);
  };
  svg.style.touchAction = "pan-y";
  svg.onpointerdown = (event) => {
    const value = at(event), found = places();
    held = Object.keys(found).sort((a, b) => Math.abs(found[a] - value) - Math.abs(found[b] - value))[0];
    if (held === undefined) return;
    svg.setPointerCapture(event.pointerId);
    move(held, value);
  };
  svg.onpointermove = (event) => held !== undefined && move(held, at(event));
  svg.onpointerup = svg.onpointercancel = () => (held = undefined);
}
