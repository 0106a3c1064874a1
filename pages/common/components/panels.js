// Pictures side by side. Pointing at a pixel marks it in every panel of the page and tells its numbers.
const EVENT = "atnmf-pixel";

export default function ({ data, parentElement }) {
  const host = parentElement.querySelector(".host");
  host.style.setProperty("--wide", data.columns);
  host.style.setProperty("--gap", data.gap);
  draw(host.querySelector(".panels"), data);
  document.removeEventListener(EVENT, host.onPixel);
  host.onPixel = (event) => point(host, data, event.detail);
  document.addEventListener(EVENT, host.onPixel);
  // A pixel once pointed at stays marked, and its numbers follow the sliders.
  point(host, data, host.pointed);
  return () => document.removeEventListener(EVENT, host.onPixel);
}

function draw(grid, data) {
  while (grid.querySelectorAll("figure").length > data.panels.length) grid.querySelector("figure:last-of-type").remove();
  data.panels.forEach((panel, i) => {
    const figure = grid.querySelectorAll("figure")[i] ?? grid.insertBefore(emptyFigure(), grid.querySelector(".readout"));
    const caption = figure.querySelector("figcaption");
    caption.innerHTML = panel.letter ? "<span></span> <strong></strong>" : "<strong></strong>";
    if (panel.letter) caption.querySelector("span").textContent = `(${panel.letter})`;
    caption.querySelector("strong").textContent = panel.title;
    const picture = figure.querySelector(".picture");
    picture.className = `picture ${panel.frame ?? ""} ${panel.src ? "" : "waiting"}`;
    picture.style.setProperty("--aspect", shownAspect(data.aspect ?? data.cols / data.rows));
    const image = figure.querySelector("img");
    image.hidden = !panel.src;
    image.alt = panel.alt ?? "";
    if (panel.src) image.src = panel.src;
    figure.querySelector(".note").innerHTML = panel.note ?? "";
    picture.onpointermove = picture.onpointerdown = (event) => panel.src && report(image, event, data);
  });
}

// Width over height. A matrix of thousands of rows and a few columns, or the reverse, is squeezed: as it is, it would
// be a page long, or a hair thin.
function shownAspect(aspect) {
  return Math.min(8, Math.max(0.25, aspect));
}

function emptyFigure() {
  const figure = document.createElement("figure");
  figure.innerHTML = '<figcaption></figcaption><div class="picture"><img alt=""><div class="cross"></div></div><div class="note"></div>';
  return figure;
}

function report(image, event, { rows, cols }) {
  const box = image.getBoundingClientRect();
  const col = Math.floor(((event.clientX - box.left) / box.width) * cols);
  const row = Math.floor(((event.clientY - box.top) / box.height) * rows);
  if (col < 0 || row < 0 || col >= cols || row >= rows) return;
  document.dispatchEvent(new CustomEvent(EVENT, { detail: { row, col } }));
}

function point(host, data, pixel) {
  const inside = pixel && pixel.row < data.rows && pixel.col < data.cols;
  host.pointed = inside ? pixel : undefined;
  const width = 100 / data.cols, height = 100 / data.rows;
  for (const cross of host.querySelectorAll(".cross"))
    cross.style.cssText = inside
      ? `display:block;left:${pixel.col * width}%;top:${pixel.row * height}%;width:${width}%;height:${height}%`
      : "display:none";
  if (!data.pixels) return;
  const readout = host.querySelector(".readout");
  if (inside) readout.innerHTML = sentence(data, pixel.row, pixel.col);
  else readout.textContent = "Point at a pixel, or tap it, to see its numbers.";
}

function sentence(data, row, col) {
  const i = row * data.cols + col;
  const [v, hat, r, nmf, attacked] = ["v", "at_hat", "r", "nmf_hat", "attacked"].map((name) => words(data.pixels[name])[i].replace("nan", "unknown"));
  const [observed, held] = ["observed", "walls"].map((name) => words(data.pixels[name])[i] === "1");
  const place = `Row ${row + 1}, column ${col + 1}`;
  if (!observed)
    return `${place}: <b>hidden</b>, ${data.pixels.unmarked ? "unmarked: the solver takes it for a zero" : "marked: the solver leaves it out"}. The truth is v = <b>${v}</b>; AT-NMF says <b>${hat}</b>, NMF says <b>${nmf}</b>.`;
  const { lam, leash } = data.pixels;
  const free = `max((${v} − ${hat}) / (${lam} − 1), −${v})`;
  const attack = leash ? `min(${free}, ${leash} · ${v})` : free;
  const gaveUp = held ? " At a wall: the adversary has given up." : "";
  return `${place}: v = <b>${v}</b>, v̂ = <b>${hat}</b>, r* = ${attack} = <b>${r}</b>, v + r* = <b>${attacked}</b>.${gaveUp} NMF says ${nmf}.`;
}

const split = new Map();

// The last few are kept, since every move of the pointer asks again.
function words(text) {
  if (!split.has(text)) {
    if (split.size > 20) split.clear();
    split.set(text, text.split(" "));
  }
  return split.get(text);
}
