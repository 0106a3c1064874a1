// Adversary and learner in slow motion: the board after every half-step, and the number they fight over.
const BOARDS = [
  { name: "V", title: "V", words: "the data", actor: "" },
  { name: "R", title: "R", words: "the adversary adds", actor: "adversary" },
  { name: "U", title: "V + R", words: "under attack", actor: "adversary" },
  { name: "P", title: "W H", words: "the learner predicts", actor: "learner" },
];

const MOVES = { adversary: "Adversary moves", learner: "Learner moves" };

export default function ({ data, parentElement, setTriggerValue }) {
  const find = (selector) => parentElement.querySelector(selector);
  const boards = find(".boards");
  if (!boards.children.length) boards.append(...BOARDS.map((board) => emptyBoard(board, data.V)));
  find(".this").textContent = data.tracks.this.name;
  find(".other").textContent = data.tracks.other.name;
  let shown = 0;
  const draw = () => drawCurve(find(".curve"), data, shown);
  const show = (at) => {
    shown = at;
    const step = data.steps[at];
    find(".said").innerHTML = step.said;
    BOARDS.forEach(({ name, actor }, i) => {
      const table = boards.children[i];
      fill(table, name === "V" ? data.V : step[name], name === "R", name === "V" ? 0 : 1);
      table.className = `${actor} ${actor && actor === step.actor ? "moved" : ""}`;
    });
    draw();
  };
  const stop = player(parentElement, {
    film: data.film,
    shown: data.player,
    at: data.at,
    last: data.steps.length - 1,
    name: "Half-step shown",
    label: (at) => `half-step ${at} of ${data.steps.length - 1}`,
    next: (at) => MOVES[data.steps[at].actor],
    show,
    rest: (at) => setTriggerValue("at", at),
  });
  const rest = whenResized(find(".curve"), draw);
  return () => { stop(); rest(); };
}

function emptyBoard({ title, words }, V) {
  const table = document.createElement("table");
  const caption = table.createCaption();
  caption.innerHTML = `<b>${title}</b> <span>${words}</span>`;
  for (const row of V) {
    const line = table.insertRow();
    for (const _ of row) line.insertCell();
  }
  return table;
}

function fill(table, matrix, hasSign, digits) {
  matrix.forEach((row, i) => row.forEach((value, j) => {
    const cell = table.rows[i].cells[j];
    cell.textContent = signed(value, Math.abs(value) >= 100 ? 0 : digits);
    cell.dataset.value = value;
    const tint = hasSign ? (value < 0 ? "#A8742B" : "#2F968B") : "var(--st-text-color)";
    cell.style.setProperty("--tint", tint);
    cell.style.setProperty("--share", `${Math.min(1, Math.abs(value) / (hasSign ? 1.5 : 9)) * (hasSign ? 55 : 28)}%`);
  }));
}

function drawCurve(svg, { steps, tracks, range, ticks }, at) {
  const plot = chart(svg, { x: [0, steps.length - 1], y: range, height: 13, ticks: { y: ticks, x: roundNumbers(0, steps.length - 1, 6) }, names: { x: "half-step" }, edge: { left: 3.4 } });
  if (range[0] < 0) plot.line("zero", 0, 0, plot.x[1], 0);
  plot.path("grey dashed", tracks.other.losses);
  plot.path("grey faint", steps.map((step, i) => [i, step.value]));
  plot.path("ink", tracks.this.losses);
  const tone = { adversary: "teal", learner: "orange", start: "ink" };
  steps.forEach((step, i) => plot.dot(`${tone[step.actor]}${i > at ? " faint" : ""}`, i, step.value, i === at ? 8 : 4.5));
  plot.line("zero", at, range[0], at, range[1]);
  svg.querySelector("title").textContent = `The value of the game after each half-step; now ${signed(steps[at].value, 2)}`;
}
