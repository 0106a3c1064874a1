// The loss that is left when the adversary has made its best move, over the prediction p, against NMF's square.
export default function ({ data, parentElement, setTriggerValue }) {
  const find = (selector) => parentElement.querySelector(selector);
  let plot, knobs;
  const draw = (values) => {
    plot = drawLosses(find(".curves"), values);
    find(".said").innerHTML = sentence(values);
  };
  knobs = dials(find(".dials"), data, draw, (values) => setTriggerValue("values", values));
  draggable(find(".curves"), () => plot, () => places(knobs), (name, value) => drag(knobs, name, value));
  return whenResized(find(".curves"), () => draw(knobs.values()));
}

// What can be dragged along the axis: the prediction and, where the leash is felt, its bend.
function places(knobs) {
  const { v, p, lam, g } = knobs.values(), bend = lowerBend(v, lam, g);
  return { ...(knobs.has("p") && { p }), ...(knobs.has("g") && bend > 0 && { g: bend }) };
}

function drag(knobs, name, value) {
  const { v, lam } = knobs.values();
  knobs.move(name, name === "g" ? (1 - value / v) / (lam - 1) : value);
}

function drawLosses(svg, { v, p, lam, g }) {
  const plot = chart(svg, { x: [0, 2], y: [0, 2], height: 21, ticks: { x: [0, 0.5, 1, 1.5, 2], y: [0, 0.5, 1, 1.5, 2] }, names: { x: "p, the prediction" } });
  const bend = lam * v, leash = lowerBend(v, lam, g), loss = entryLoss(v, p, lam, g), square = (v - p) ** 2;
  plot.line("grey", v, 0, v, 2);
  plot.text("strong", v, 1.9, "v", { dx: 6 });
  if (bend < 2) {
    plot.line("orange dashed", bend, 0, bend, 2);
    plot.text("orange strong", bend, 1.72, "λ v", { dx: 6 });
    plot.curve("orange dashed", (p) => parabola(v, p, lam), bend);
  }
  if (leash > 0) {
    plot.line("teal dashed", leash, 0, leash, 2);
    plot.text("teal strong", leash, 1.54, "leash", { dx: -6, "text-anchor": "end" });
    plot.curve("orange dashed", (p) => parabola(v, p, lam), 0, leash);
  }
  plot.curve("blue", (p) => (v - p) ** 2);
  plot.curve("orange wide", (p) => entryLoss(v, p, lam, g));
  plot.line("axis", p, 0, p, 2);
  if (square <= 2) plot.dot("blue", p, square);
  if (loss <= 2) plot.dot("orange", p, loss, 8);
  svg.querySelector("title").textContent = `Loss over the prediction; at p = ${p} AT-NMF pays ${signed(loss, 3)}, NMF ${signed(square, 3)}`;
  return plot;
}

function sentence({ v, p, lam, g }) {
  const loss = entryLoss(v, p, lam, g), bend = lam * v, leash = lowerBend(v, lam, g);
  const second = leash > 0 ? `, that of the leash at ${signed(leash, 2)}` : "";
  const sums = `NMF pays <b class="blue">${signed((v - p) ** 2, 3)}</b>, AT-NMF pays <b class="orange">${signed(loss, 3)}</b>. The bend is at p = λ v = ${signed(bend, 2)}${second}.`;
  if (p < leash) return `${sums} p lies below the second: the adversary is at the end of its leash and gives up. Without the bend AT-NMF would pay ${signed(parabola(v, p, lam), 3)}.`;
  if (p === v) return `${sums} The prediction is right, and costs nothing.`;
  const side = p > bend
    ? `p lies beyond λ v: the adversary has wiped v out and gives up. Without the bend AT-NMF would pay ${signed(parabola(v, p, lam), 3)}.`
    : `p lies ${leash > 0 ? "between the two" : "before it"}: AT-NMF pays ${signed(lam / (lam - 1), 2)} times what NMF pays.`;
  return `${sums} ${side}`;
}
