// One entry under attack: gain, price and their difference over r; below, the number line that the adversary moves v on.
export default function ({ data, parentElement, setTriggerValue }) {
  const find = (selector) => parentElement.querySelector(selector);
  let ruler, knobs;
  const draw = (values) => {
    drawCurves(find(".curves"), values);
    ruler = drawLine(find(".line"), values);
    find(".said").innerHTML = sentence(values);
  };
  knobs = dials(find(".dials"), data, draw, (values) => setTriggerValue("values", values));
  const shown = () => Object.fromEntries(["v", "p"].filter(knobs.has).map((name) => [name, knobs.values()[name]]));
  draggable(find(".line"), () => ruler, shown, knobs.move);
  return whenResized(find(".curves"), () => draw(knobs.values()));
}

function drawCurves(svg, { v, p, lam }) {
  const r = bestAttack(v, p, lam), left = attackValue(v, p, lam, r);
  const plot = chart(svg, { x: [-1.1, 1.3], y: [-0.6, 1.4], height: 17, ticks: { x: [-1, -0.5, 0, 0.5, 1], y: [-0.5, 0, 0.5, 1] }, names: { x: "r, what the adversary adds" } });
  const wall = Math.max(plot.x[0], -v);
  if (wall > plot.x[0]) plot.add("rect", "shade", { x: plot.X(plot.x[0]), y: plot.Y(plot.y[1]), width: plot.X(wall) - plot.X(plot.x[0]), height: plot.Y(plot.y[0]) - plot.Y(plot.y[1]) });
  plot.line("zero", plot.x[0], 0, plot.x[1], 0);
  plot.line("ink", wall, plot.y[0], wall, plot.y[1]);
  plot.text("strong", wall, 1.28, "the wall: v + r = 0", { dx: 6 });
  plot.curve("teal dashed", (r) => (v + r - p) ** 2, wall);
  plot.curve("grey dashed", (r) => lam * r ** 2, wall);
  plot.curve("teal wide", (r) => attackValue(v, p, lam, r), wall);
  if (r <= plot.x[1] && left <= plot.y[1]) {
    plot.line("teal dashed", r, plot.y[0], r, left);
    plot.dot("teal", r, left, 8);
    plot.text("teal strong", r, -0.53, `r* = ${signed(r, 3)}`, r > 0.8 ? { dx: -8, "text-anchor": "end" } : { dx: 8 });
  } else plot.text("teal strong", plot.x[1], 1.1, `r* = ${signed(r, 2)}, far outside →`, { "text-anchor": "end" });
  svg.querySelector("title").textContent = `Gain, price and their difference over r; the difference is largest, ${signed(left, 3)}, at r* = ${signed(r, 3)}`;
}

function drawLine(svg, { v, p, lam }) {
  const moved = v + bestAttack(v, p, lam);
  const plot = chart(svg, { x: [0, 2], y: [-1, 1.6], height: 7, ticks: { x: [0, 0.5, 1, 1.5, 2] }, edge: { left: 1 } });
  const end = Math.min(moved, 2.02);
  plot.line("zero", 0, 0, 2, 0);
  plot.line("teal wide", v, 0, end, 0);
  if (moved > 2) plot.text("teal strong", 2, 0, `v + r* = ${signed(moved)} →`, { dy: "1.6em", "text-anchor": "end" });
  else {
    plot.dot("teal", moved, 0, 8);
    plot.text("teal strong", moved, 0, "v + r*", { dy: "1.6em", "text-anchor": moved < 0.08 ? "start" : "middle" });
  }
  plot.dot("ink", v, 0, 9);
  plot.dot("orange", p, 0, 9);
  plot.text("strong", v, 0, "v", { dy: "-1em", "text-anchor": "middle" });
  plot.text("orange strong", p, 0, "p", { dy: Math.abs(p - v) < 0.04 ? "-2.1em" : "-1em", "text-anchor": "middle" });
  svg.querySelector("title").textContent = `Number line: v = ${v}, p = ${p}, v + r* = ${signed(moved, 3)}`;
  return plot;
}

function sentence({ v, p, lam }) {
  const wish = (v - p) / (lam - 1), r = bestAttack(v, p, lam);
  const sum = `r* = max((${v.toFixed(2)} − ${p.toFixed(2)}) / (${lam} − 1), −${v.toFixed(2)}) = max(${signed(wish, 3)}, ${signed(-v)}) = <b class="teal">${signed(r, 3)}</b>`;
  const account = `It gains ${signed((v + r - p) ** 2, 3)}, pays ${signed(lam * r ** 2, 3)}, and <b class="teal">${signed(attackValue(v, p, lam, r), 3)}</b> is left.`;
  let why = "It pushes v up, away from the prediction.";
  if (v === p) why = "The prediction is right: there is no gap to widen, so it leaves v alone.";
  else if (r > wish) why = `It would like ${signed(wish, 3)}, but no entry of the data may fall below 0. So it stops at −v: v is wiped out.`;
  else if (r < 0) why = "It pushes v down, away from the prediction.";
  return `${sum}. ${why} ${account}`;
}
