// The share of defects along each direction of the data: many in one place are a bad line.
export default function ({ data, parentElement }) {
  const host = parentElement.querySelector(".bars");
  host.style.setProperty("--hidden", data.colour);
  while (host.children.length > data.charts.length) host.lastChild.remove();
  while (host.children.length < data.charts.length) {
    const figure = document.createElement("figure");
    figure.innerHTML = "<figcaption></figcaption><svg role='img'></svg>";
    host.append(figure);
  }
  const draw = () => data.charts.forEach((one, i) => drawBars(host.children[i], one));
  draw();
  return whenResized(host, draw);
}

function drawBars(figure, { title, label, shares, bad }) {
  figure.querySelector("figcaption").textContent = title;
  const svg = figure.querySelector("svg"), count = shares.length, top = Math.max(...shares);
  svg.setAttribute("aria-label", label);
  const percent = roundNumbers(0, 100 * top, 3);
  const plot = chart(svg, {
    x: [0.5, count + 0.5],
    y: [0, 100 * top],
    height: 7,
    edge: { left: 2.4, right: 0.4, top: 0.5, bottom: 1.3 },
    ticks: { x: roundNumbers(1, count, 5).filter((tick) => tick >= 1 && Number.isInteger(tick)), y: percent },
  });
  // Many bars overlap a little: side by side, their soft edges would show as a pattern.
  const width = Math.max(1, plot.X(2) - plot.X(1) + (count < 80 ? -1 : 0.6));
  const isBad = (number) => bad.some(([first, last]) => first <= number && number <= last);
  shares.forEach((share, i) => {
    if (share > 0) plot.add("rect", isBad(i + 1) ? "bar bad" : "bar", { x: plot.X(i + 0.5), y: plot.Y(100 * share), width, height: plot.Y(0) - plot.Y(100 * share) });
  });
}
