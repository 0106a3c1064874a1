// Pictures of one scene or image, zoomed together. A pixel that is chosen in one is marked in all and told to the
// page, unless there is none to choose. A picture may have one from before over it, to be swiped away. With a tool,
// shapes are drawn on the pictures instead, and told to the page.
const PIXEL = "atnmf-cube-pixel", MARKS = "atnmf-cube-marks", PIN = "atnmf-cube-pin";
const CLOSEST = 32, CLICK = 4, MOST_POINTS = 300;

export default function ({ data, parentElement, setTriggerValue }) {
  const host = parentElement.querySelector(".host");
  if (!host.marks || host.size !== `${data.rows}x${data.cols}`) {
    host.size = `${data.rows}x${data.cols}`;
    host.window = { x: 0, y: 0, zoom: 1 };
  }
  host.marks = { pixel: data.pixel, pins: data.pins };
  const grid = host.querySelector(".views");
  host.classList.toggle("unpicked", !data.pixel);
  if (!data.pixel) grid.ariaLabel = "Pictures. Plus and minus zoom.";
  host.classList.toggle("drawing", Boolean(data.tool));
  host.querySelector(".hint").hidden = Boolean(data.tool);
  const tell = (points) => setTriggerValue("marked", { tool: data.tool, points });
  grid.style.setProperty("--columns", data.columns);
  grid.classList.toggle("pairs", Boolean(data.pairs));
  drawPanels(grid, data);
  const show = () => place(host, data);
  const choose = (row, col) => {
    if (!data.pixel || row < 0 || col < 0 || row >= data.rows || col >= data.cols) return;
    host.marks = { ...host.marks, pixel: [row, col] };
    show();
    document.dispatchEvent(new CustomEvent(PIXEL, { detail: [row, col] }));
  };
  const zoomBy = (factor, at) => {
    zoomTo(host, data, host.window.zoom * factor, at);
    show();
  };
  for (const button of host.querySelectorAll(".zoom button"))
    button.onclick = () => ({ in: () => zoomBy(2), out: () => zoomBy(0.5), whole: () => zoomBy(1e-9) })[button.dataset.zoom]();
  grid.onkeydown = (event) => onKey(event, host.marks.pixel, choose, zoomBy, data.tool && tell);
  for (const frame of grid.querySelectorAll(".frame")) listen(frame, host, data, choose, zoomBy, show, tell);
  document.removeEventListener(MARKS, host.onMarks);
  host.onMarks = (event) => {
    host.marks = event.detail;
    show();
  };
  document.addEventListener(MARKS, host.onMarks);
  show();
  return () => document.removeEventListener(MARKS, host.onMarks);
}

function drawPanels(grid, data) {
  while (grid.children.length > data.panels.length) grid.lastChild.remove();
  data.panels.forEach((panel, i) => {
    const figure = grid.children[i] ?? grid.appendChild(emptyFigure());
    const caption = figure.querySelector("figcaption");
    caption.textContent = panel.title;
    caption.className = panel.tone;
    const frame = figure.querySelector(".frame"), image = figure.querySelector("img");
    frame.className = `frame ${panel.tone ? `edge-${panel.tone}` : ""}`;
    // A matrix of thousands of rows and a few columns is squeezed: as it is, it would be a page long.
    figure.style.setProperty("--aspect", Math.min(8, Math.max(0.25, data.cols / data.rows)));
    image.hidden = !panel.src;
    image.alt = panel.alt;
    if (panel.src) image.src = panel.src;
    drawSwipe(figure, panel);
    figure.querySelector(".note").innerHTML = panel.note;
  });
}

// The picture before lies over the one after, up to a bar that is moved along.
function drawSwipe(figure, panel) {
  const swipe = figure.querySelector(".swipe"), before = figure.querySelector(".before");
  swipe.hidden = before.hidden = !panel.before;
  if (!panel.before) return;
  before.src = panel.before;
  swipe.setAttribute("aria-label", panel.swipe);
  const move = () => figure.style.setProperty("--before", `${swipe.value}%`);
  swipe.oninput = move;
  swipe.onkeydown = swipe.onpointerdown = (event) => event.stopPropagation();
  move();
}

function emptyFigure() {
  const figure = document.createElement("figure");
  figure.innerHTML = '<figcaption></figcaption><div class="frame"><img alt="" draggable="false"><div class="before-frame"><img class="before" alt="" draggable="false" hidden></div><div class="marks"></div></div><input class="swipe" type="range" min="0" max="100" value="0" hidden><div class="note"></div>';
  return figure;
}

// Every picture shows the same part of the scene, with the same marks.
function place(host, data) {
  const { x, y, zoom } = host.window;
  host.classList.toggle("zoomed", zoom > 1);
  host.querySelector("output").textContent = `${Number(zoom.toPrecision(2))}×`;
  const [out, into, whole] = host.querySelectorAll(".zoom button");
  out.disabled = whole.disabled = zoom <= 1;
  into.disabled = zoom >= CLOSEST;
  const left = (col) => 100 * zoom * ((col + 0.5) / data.cols - x), top = (row) => 100 * zoom * ((row + 0.5) / data.rows - y);
  const size = `width:${(100 * zoom) / data.cols}%;height:${(100 * zoom) / data.rows}%`;
  const { pixel, pins } = host.marks;
  const marks = pins.map(([row, col], i) => `<div class="pin" style="left:${left(col)}%;top:${top(row)}%">${i + 1}</div>`);
  if (pixel) marks.push(`<div class="mark" data-row="${pixel[0]}" data-col="${pixel[1]}" style="left:${left(pixel[1])}%;top:${top(pixel[0])}%;${size}"></div>`);
  if (host.sketch) {
    const [first, last] = [host.sketch[0], host.sketch.at(-1)];
    const shape = data.tool === "rectangle" ? [first, [first[0], last[1]], last, [last[0], first[1]], first] : host.sketch;
    const points = shape.map(([row, col]) => `${left(col - 1)},${top(row - 1)}`).join(" ");
    marks.push(`<svg class="sketch ${data.tool}" viewBox="0 0 100 100" preserveAspectRatio="none"><polyline points="${points}" vector-effect="non-scaling-stroke"/></svg>`);
  }
  for (const frame of host.querySelectorAll(".frame")) {
    for (const image of frame.querySelectorAll("img")) image.style.cssText = `width:${100 * zoom}%;height:${100 * zoom}%;left:${-100 * zoom * x}%;top:${-100 * zoom * y}%`;
    frame.querySelector(".marks").innerHTML = marks.join("");
  }
}

// `at` is the place in the scene, from 0 to 1, that stays where it is; the pixel or the middle where none is given.
function zoomTo(host, data, wanted, at) {
  const before = host.window, zoom = Math.min(CLOSEST, Math.max(1, wanted));
  const [row, col] = host.marks.pixel ?? [(data.rows - 1) / 2, (data.cols - 1) / 2];
  const focus = at ?? { x: (col + 0.5) / data.cols, y: (row + 0.5) / data.rows };
  const kept = (start, point) => (at ? point - ((point - start) * before.zoom) / zoom : point - 0.5 / zoom);
  moveTo(host, { x: kept(before.x, focus.x), y: kept(before.y, focus.y), zoom });
}

function moveTo(host, { x, y, zoom }) {
  const most = 1 - 1 / zoom, within = (value) => Math.min(most, Math.max(0, value));
  host.window = { x: within(x), y: within(y), zoom };
}

function onKey(event, pixel, choose, zoomBy, tell) {
  const [row, col] = pixel ?? [-1, -1];
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  const step = event.shiftKey ? 10 : 1;
  const act = {
    ArrowUp: () => choose(row - step, col),
    ArrowDown: () => choose(row + step, col),
    ArrowLeft: () => choose(row, col - step),
    ArrowRight: () => choose(row, col + step),
    "+": () => zoomBy(2),
    "-": () => zoomBy(0.5),
    p: () => document.dispatchEvent(new CustomEvent(PIN)),
    ...(tell && pixel && { Enter: () => tell([[row + 1, col + 1], [row + 1, col + 1]]) }),
  }[event.key];
  if (!act) return;
  event.preventDefault();
  act();
}

function listen(frame, host, data, choose, zoomBy, show, tell) {
  const share = (event) => {
    const box = frame.getBoundingClientRect();
    return { x: (event.clientX - box.left) / box.width, y: (event.clientY - box.top) / box.height };
  };
  const inScene = ({ x, y }) => ({ x: host.window.x + x / host.window.zoom, y: host.window.y + y / host.window.zoom });
  // Row and column under the pointer, from 1.
  const pixelAt = (event) => {
    const { x, y } = inScene(share(event)), within = (value, count) => Math.min(count, Math.max(1, Math.floor(value * count) + 1));
    return [within(y, data.rows), within(x, data.cols)];
  };
  frame.onpointerdown = (event) => {
    if (data.tool) host.sketch = [pixelAt(event)];
    host.drag = { from: share(event), at: [event.clientX, event.clientY], window: host.window, moved: false };
    frame.setPointerCapture(event.pointerId);
  };
  frame.onpointermove = (event) => {
    if (!host.drag) return;
    if (host.sketch) {
      const [row, col] = pixelAt(event), [lastRow, lastCol] = host.sketch.at(-1);
      if (row === lastRow && col === lastCol) return;
      host.sketch = data.tool === "rectangle" ? [host.sketch[0], [row, col]] : [...host.sketch, [row, col]];
      show();
      return;
    }
    const far = Math.hypot(event.clientX - host.drag.at[0], event.clientY - host.drag.at[1]);
    host.drag.moved ||= far > CLICK;
    if (!host.drag.moved || host.window.zoom === 1) return;
    const now = share(event), { from, window: start } = host.drag;
    moveTo(host, { x: start.x - (now.x - from.x) / start.zoom, y: start.y - (now.y - from.y) / start.zoom, zoom: start.zoom });
    show();
  };
  frame.onpointerup = (event) => {
    const click = host.drag && !host.drag.moved;
    host.drag = undefined;
    if (host.sketch) {
      const every = Math.ceil(host.sketch.length / MOST_POINTS), last = host.sketch.length - 1;
      tell(host.sketch.filter((_, i) => i % every === 0 || i === last));
      host.sketch = undefined;
      show();
      return;
    }
    if (!click) return;
    const { x, y } = inScene(share(event));
    choose(Math.floor(y * data.rows), Math.floor(x * data.cols));
  };
  frame.onpointercancel = () => (host.drag = host.sketch = undefined);
  frame.onwheel = (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    zoomBy(event.deltaY < 0 ? 1.5 : 1 / 1.5, inScene(share(event)));
  };
}
