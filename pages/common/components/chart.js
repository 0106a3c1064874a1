// A small SVG chart in real pixels, so that its letters keep their size on every screen. Lengths are in rem.
const SVG = "http://www.w3.org/2000/svg";
const EDGE = { left: 2.75, right: 0.75, top: 0.75, bottom: 2.5 };
let frames = 0;

function chart(svg, { x, y, height, ticks = {}, names = {}, edge: given = {} }) {
  const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
  const scale = Number(getComputedStyle(svg).getPropertyValue("--chart-scale")) || 1;
  const width = svg.getBoundingClientRect().width || 600, tall = height * scale * rem;
  const edge = Object.fromEntries(Object.entries({ ...EDGE, ...given }).map(([side, size]) => [side, size * rem]));
  const wide = width - edge.left - edge.right, high = tall - edge.top - edge.bottom;
  svg.setAttribute("viewBox", `0 0 ${width} ${tall}`);
  svg.style.height = `${tall}px`;
  svg.querySelectorAll(":scope > :not(title)").forEach((old) => old.remove());
  const X = (value) => edge.left + ((value - x[0]) / (x[1] - x[0] || 1)) * wide;
  const Y = (value) => edge.top + (1 - (value - y[0]) / (y[1] - y[0] || 1)) * high;
  // The value of x under the pointer.
  const under = (event) => x[0] + ((event.clientX - svg.getBoundingClientRect().left - edge.left) / wide) * (x[1] - x[0]);
  const make = (kind, attributes) => {
    const item = document.createElementNS(SVG, kind);
    for (const [name, value] of Object.entries(attributes)) item.setAttribute(name, value);
    return item;
  };
  const add = (kind, style, attributes, words) => {
    const item = svg.appendChild(make(kind, { class: style, ...attributes }));
    if (words !== undefined) item.textContent = words;
    return item;
  };
  const line = (style, x1, y1, x2, y2) => add("line", style, { x1: X(x1), y1: Y(y1), x2: X(x2), y2: Y(y2) });
  const text = (style, at, over, words, more = {}) => add("text", style, { x: X(at), y: Y(over), ...more }, words);
  const dot = (style, at, over, r = 7) => add("circle", style, { cx: X(at), cy: Y(over), r });
  // A line through [x, y] pairs, interrupted where y is null.
  const path = (style, points) => {
    const known = ([, b]) => b !== null;
    const step = (point, i) => `${i && known(points[i - 1]) ? "L" : "M"}${X(point[0]).toFixed(1)} ${Y(point[1]).toFixed(1)}`;
    return add("path", style, { d: points.map((point, i) => (known(point) ? step(point, i) : "")).join("") });
  };
  // Many rectangles as one element: [left, top, width, height] in pixels.
  const boxes = (style, all) => add("path", style, { d: all.map((box) => `M${box[0].toFixed(1)} ${box[1].toFixed(1)}h${box[2].toFixed(1)}v${box[3].toFixed(1)}h${(-box[2]).toFixed(1)}z`).join("") });
  // Curves end at the frame; the value a little beyond it keeps their slope there.
  const curve = (style, f, from = x[0], to = x[1], count = 160) => {
    const most = 2 * y[1] - y[0], least = 2 * y[0] - y[1];
    const points = Array.from({ length: count + 1 }, (_, i) => from + ((to - from) * i) / count).map((a) => [a, Math.max(least, Math.min(most, f(a)))]);
    path(style, points).setAttribute("clip-path", `url(#${frame()})`);
  };
  let id;
  const frame = () => {
    if (id === undefined) {
      id = `frame-${(frames += 1)}`;
      add("clipPath", "", { id }).append(make("rect", { x: edge.left, y: edge.top, width: wide, height: high }));
    }
    return id;
  };
  for (const tick of ticks.y ?? []) {
    line("axis", x[0], tick, x[1], tick);
    add("text", "", { x: edge.left - 0.4 * rem, y: Y(tick) + 0.3 * rem, "text-anchor": "end" }, shortened(tick));
  }
  const below = Math.min(1.1 * rem, 0.75 * edge.bottom);
  for (const tick of ticks.x ?? []) add("text", "", { x: X(tick), y: tall - edge.bottom + below, "text-anchor": "middle" }, shortened(tick));
  if (names.x) add("text", "", { x: edge.left + wide / 2, y: tall - 0.25 * rem, "text-anchor": "middle" }, names.x);
  return { X, Y, under, add, line, text, dot, path, boxes, curve, x, y, wide };
}

// Round numbers from low to high, about as many as asked for.
function roundNumbers(low, high, count) {
  const rough = (high - low || 1) / count, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough * 0.999);
  const found = [];
  for (let tick = Math.ceil(low / step) * step; tick <= high + step * 1e-6; tick += step) found.push(Number(tick.toPrecision(12)));
  return found;
}

const COMPACT = new Intl.NumberFormat("en", { notation: "compact" });

function shortened(value) {
  const text = Math.abs(value) >= 1e4 ? COMPACT.format(value) : String(Number(value.toPrecision(6)));
  return text.replace("-", "−");
}

function signed(value, digits = 2) {
  return value.toFixed(digits).replace(/^-(?=0\.?0*$)/, "").replace("-", "−");
}

// Draws again whenever the width of an element changes.
function whenResized(element, draw) {
  element.observer?.disconnect();
  const width = () => element.getBoundingClientRect().width;
  let known = width();
  element.observer = new ResizeObserver(() => {
    if (width() !== known) {
      known = width();
      draw();
    }
  });
  element.observer.observe(element);
  return () => element.observer.disconnect();
}
