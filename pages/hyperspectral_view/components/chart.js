// Spectra as lines over bands, drawn as SVG. Shared by the components that show spectra.
const SVG = "http://www.w3.org/2000/svg";

function drawChart(svg, { x, unit, lines, dots, hidden, top, height, small, onPoint }) {
  const width = Math.max(160, svg.parentElement.clientWidth);
  const edge = small ? { left: 30, right: 6, top: 6, bottom: 18 } : { left: 42, right: 10, top: 10, bottom: 40 };
  const [low, high] = [Math.min(...x), Math.max(...x)];
  const across = (value) => edge.left + ((value - low) / (high - low || 1)) * (width - edge.left - edge.right);
  const up = (value) => height - edge.bottom - (value / top) * (height - edge.top - edge.bottom);
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("height", height);
  svg.replaceChildren();
  const add = (tag, attributes, text) => {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text !== undefined) element.textContent = text;
    svg.append(element);
    return element;
  };
  for (const tick of ticks(0, top, small ? 2 : 4)) {
    add("line", { class: "grid", x1: edge.left, x2: width - edge.right, y1: up(tick), y2: up(tick) });
    add("text", { class: "tick", x: edge.left - 5, y: up(tick) + 4, "text-anchor": "end" }, short(tick));
  }
  for (const tick of ticks(low, high, small ? 4 : 6)) {
    if (tick < low) continue;
    add("text", { class: "tick", x: across(tick), y: height - edge.bottom + (small ? 13 : 21), "text-anchor": "middle" }, String(tick));
  }
  if (!small) add("text", { class: "tick", x: width - edge.right, y: height - 4, "text-anchor": "end" }, unit === "nm" ? "wavelength, nm" : "band");
  if (hidden) {
    // A mark under the axis for each band that the learner did not see.
    const wide = Math.min(12, Math.max(1, ((width - edge.left - edge.right) / x.length) * 0.8));
    hidden.forEach((is, i) => {
      if (is) add("rect", { class: "hidden", x: across(x[i]) - wide / 2, y: height - edge.bottom + 1, width: wide, height: small ? 3 : 6 });
    });
  }
  for (const { tone, values } of lines) add("path", { class: `line ${tone}`, d: path(values, (i) => across(x[i]), up) });
  if (dots) dots.forEach((value, i) => value !== null && add("circle", { class: "dot", cx: across(x[i]), cy: up(value), r: small ? 1 : 1.9 }));
  if (onPoint) {
    const rule = add("line", { class: "rule", x1: 0, x2: 0, y1: edge.top, y2: height - edge.bottom, visibility: "hidden" });
    svg.onpointermove = (event) => {
      const box = svg.getBoundingClientRect();
      const wanted = low + (((event.clientX - box.left) / box.width) * width - edge.left) / (width - edge.left - edge.right) * (high - low);
      const nearest = x.reduce((best, value, i) => (Math.abs(value - wanted) < Math.abs(x[best] - wanted) ? i : best), 0);
      rule.setAttribute("x1", across(x[nearest]));
      rule.setAttribute("x2", across(x[nearest]));
      rule.setAttribute("visibility", "visible");
      onPoint(nearest);
    };
    svg.onpointerleave = () => {
      rule.setAttribute("visibility", "hidden");
      onPoint(null);
    };
  }
}

function path(values, across, up) {
  let drawn = "", pen = false;
  values.forEach((value, i) => {
    if (value === null) pen = false;
    else {
      drawn += `${pen ? "L" : "M"}${across(i).toFixed(1)} ${up(value).toFixed(1)}`;
      pen = true;
    }
  });
  return drawn;
}

// Round numbers from low to high, about as many as asked for.
function ticks(low, high, count) {
  const rough = (high - low || 1) / count, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough * 0.999);
  const found = [];
  for (let tick = Math.ceil(low / step) * step; tick <= high + step * 1e-6; tick += step) found.push(Number(tick.toPrecision(12)));
  return found;
}

const short = (value) => (value === 0 ? "0" : Math.abs(value) >= 1000 ? value.toPrecision(2) : String(Number(value.toPrecision(3))));

// Charts are drawn to the width that they are given, again whenever that changes.
function follow(host, draw) {
  host.watcher?.disconnect();
  let before = host.clientWidth;
  draw();
  host.watcher = new ResizeObserver(() => {
    if (host.clientWidth !== before) {
      before = host.clientWidth;
      draw();
    }
  });
  host.watcher.observe(host);
}
