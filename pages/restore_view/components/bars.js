// What was wrong along each direction of the data, and noise by band. A click on a bar of the first and of the
// last chart leads to its band or image.
export default function ({ data, parentElement, setTriggerValue }) {
  const host = parentElement.querySelector(".bars");
  host.style.setProperty("--hidden", data.colour);
  if (host.judged && host.judged !== data.judged) document.dispatchEvent(new CustomEvent("atnmf-restore-judged"));
  host.judged = data.judged;
  while (host.children.length > data.charts.length) host.lastChild.remove();
  while (host.children.length < data.charts.length) {
    const figure = document.createElement("figure");
    figure.innerHTML = "<figcaption></figcaption><svg role='img'></svg>";
    host.append(figure);
  }
  const leads = (i) => data.first && (i === 0 || i === 3);
  const pick = (number) => setTriggerValue("picked", number);
  const draw = () => data.charts.forEach((one, i) => drawBars(host.children[i], one, leads(i) ? pick : null));
  draw();
  return whenResized(host, draw);
}

function drawBars(figure, { title, label, values, bad, at }, pick) {
  figure.querySelector("figcaption").textContent = title;
  const svg = figure.querySelector("svg"), count = values.length, top = Math.max(...values);
  svg.setAttribute("aria-label", label);
  // Bar i reaches from edge i to edge i + 1: halfway between wavelengths, or between numbers.
  const places = at && count > 1 ? at : values.map((_, i) => i + 1);
  const middle = (i) => (places[i - 1] + places[i]) / 2;
  const edges = places.map((_, i) => (i ? middle(i) : count > 1 ? 2 * places[0] - middle(1) : 0.5));
  edges.push(count > 1 ? 2 * places[count - 1] - middle(count - 1) : 1.5);
  const [low, high] = [edges[0], edges[count]];
  const plot = chart(svg, {
    x: [low, high],
    y: [0, top],
    height: 7,
    edge: { left: 2.9, right: 0.4, top: 0.5, bottom: 1.3 },
    ticks: { x: roundNumbers(Math.max(low, 1), high, 5).filter((tick) => tick >= 1 && Number.isInteger(tick)), y: roundNumbers(0, top, 3) },
  });
  // Many bars overlap a little: side by side, their soft edges would show as a pattern.
  const width = (i) => Math.max(1, plot.X(edges[i + 1]) - plot.X(edges[i]) + (count < 80 ? -1 : 0.6));
  const isBad = (number) => bad.some(([first, last]) => first <= number && number <= last);
  const drawn = values.map((value, i) => ({ number: i + 1, box: [plot.X(edges[i]), plot.Y(value), width(i), plot.Y(0) - plot.Y(value)] }));
  for (const style of ["bar", "bar bad"])
    plot.boxes(style, drawn.filter(({ number, box }) => box[3] > 0 && isBad(number) === (style !== "bar")).map(({ box }) => box));
  svg.style.cursor = pick ? "pointer" : "";
  const under = (event) => edges.filter((edge) => edge <= plot.under(event)).length;
  svg.onclick = pick && ((event) => pick(Math.min(count, Math.max(1, under(event)))));
}
