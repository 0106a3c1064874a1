// Spectra over the bands: lines, a speck for each observed value, and a mark under the axis for each hidden band.
const TONES = { truth: "ink faint", orange: "orange", blue: "blue dashed", pure: "ink dashed" };
const NARROW = { left: 1.9, right: 0.4, top: 0.4, bottom: 1.15 };

function drawSpectra(svg, { x, unit, lines, within, observed = [], hidden = [], top, height, small = false, onPoint }) {
  const ends = [Math.min(...x), Math.max(...x)];
  svg.classList.toggle("small", small);
  const plot = chart(svg, {
    x: ends,
    y: [0, top],
    height,
    edge: small ? NARROW : {},
    ticks: { x: roundNumbers(...ends, small ? 4 : 6), y: roundNumbers(0, top, small ? 2 : 4) },
    names: small ? {} : { x: unit === "nm" ? "wavelength, nm" : "band" },
  });
  const width = Math.min(12, Math.max(1, (plot.wide / x.length) * 0.8));
  const under = hidden.map((is, i) => is && [plot.X(x[i]) - width / 2, plot.Y(0) + 1, width, small ? 3 : 6]);
  plot.boxes("hidden", under.filter(Boolean));
  if (within) spread(plot, x, within);
  for (const { tone, values } of lines) plot.path(TONES[tone], values.map((value, i) => [x[i], value]));
  // Lines of no length with round ends: one element, where circles would be a hundred.
  const specks = observed.map((value, i) => (value === null ? "" : `M${plot.X(x[i]).toFixed(1)} ${plot.Y(value).toFixed(1)}h0`));
  plot.add("path", "speck", { d: specks.join("") });
  if (onPoint) readable(svg, plot, x, onPoint);
}

// The area between low and high, in pieces where they are known.
function spread(plot, x, { low, high }) {
  const half = (i) => [i ? (x[i] + x[i - 1]) / 2 : x[i], i + 1 < x.length ? (x[i] + x[i + 1]) / 2 : x[i]];
  const boxes = low.map((value, i) => {
    if (value === null) return null;
    const [left, right] = half(i).map(plot.X).sort((a, b) => a - b);
    return [left, plot.Y(high[i]), Math.max(1, right - left), Math.max(1, plot.Y(value) - plot.Y(high[i]))];
  });
  plot.boxes("within", boxes.filter(Boolean));
}

// Follows the pointer with a rule at the nearest band.
function readable(svg, plot, x, onPoint) {
  const rule = plot.line("zero dashed", x[0], plot.y[0], x[0], plot.y[1]);
  rule.setAttribute("visibility", "hidden");
  svg.onpointermove = (event) => {
    const wanted = plot.under(event);
    const nearest = x.reduce((best, value, i) => (Math.abs(value - wanted) < Math.abs(x[best] - wanted) ? i : best), 0);
    for (const end of ["x1", "x2"]) rule.setAttribute(end, plot.X(x[nearest]));
    rule.setAttribute("visibility", "visible");
    onPoint(nearest);
  };
  svg.onpointerleave = () => {
    rule.setAttribute("visibility", "hidden");
    onPoint(null);
  };
}
