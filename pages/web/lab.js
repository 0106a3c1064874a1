// The page: draws the tree of elements that the worker sends, with the dashboard's components, and tells what people do.
import katex from "./katex.js";

const find = (selector) => document.querySelector(selector), root = new URL("./", import.meta.url), components = {};
const start = find("#start"), main = find("[data-testid=stMainBlockContainer]"), side = find("[data-testid=stSidebarUserContent]");
let worker, plotly, sent = 0, seen = 0, helps = 0;

function begin() {
  worker = new Worker(new URL("worker.js", root), { type: "module" });
  worker.onmessage = ({ data }) => hear(data);
  worker.onerror = () => hear({ failed: "Its scripts could not be loaded." });
  worker.postMessage({ pyodide: new URL(find("[data-pyodide]").dataset.pyodide, root).href, root: root.href });
  goThere();
}

function hear({ shown, share, failed, name, type, content, seen: last }) {
  if (share) start.querySelector("progress").value = share;
  if (failed) start.innerHTML = `<p role="alert"><b>This page cannot compute here.</b> ${inline(failed)}</p>`;
  if (name) Object.assign(document.createElement("a"), { download: name, href: URL.createObjectURL(new Blob([content], { type })) }).click();
  if (!shown) return;
  seen = last;
  Object.assign(components, shown.components);
  if (shown.part) return put(find(`[data-fragment="${CSS.escape(shown.part.key)}"]`), shown.part.in, true);
  start.hidden = true;
  put(side, shown.side.in, shown.done);
  put(main, shown.main.in, shown.done);
  if (!shown.done) return;
  main.ariaBusy = seen < sent;
  const query = String(new URLSearchParams(shown.query)).replaceAll("%2C", ",");
  const address = new URL((shown.page && `${shown.page}/`) + (query && `?${query}`), root);
  if (address.href !== location.href) history[shown.by_history ? "replaceState" : "pushState"](null, "", address);
}

const send = (event) => {
  worker.postMessage({ ...event, n: (sent += 1) });
  main.ariaBusy = true;
  return sent;
};
const page = () => location.pathname.slice(root.pathname.length).replace(/(^|\/)(index\.html)?$/, "");
const goThere = () => send({ page: page(), query: location.search.slice(1) });
addEventListener("popstate", goThere);
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-here]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  history.pushState(null, "", link.href);
  goThere();
  scrollTo(0, 0);
});
find("#menu").onclick = ({ currentTarget }) => currentTarget.setAttribute("aria-expanded", document.body.classList.toggle("open"));

// Elements that were there are kept, with what people have done to them; until a run is done, the others stay too.
function put(place, nodes, done) {
  nodes.forEach(({ in: inside, ...node }, i) => {
    const kind = `${node.is} ${node.key ?? ""}`, told = JSON.stringify(node);
    let there = place.children[i];
    if (there?.kind !== kind) {
      there = [...place.children].slice(i).find((one) => one.kind === kind) ?? Object.assign(document.createElement(TAGS[node.is] ?? "div"), { kind });
      place.insertBefore(there, place.children[i] ?? null);
    }
    if (there.told !== told) draw(there, node);
    there.told = told;
    if (HOLDERS.includes(node.is)) put(there.body ?? there, inside, done);
  });
  while (done && place.children.length > nodes.length) remove(place.lastElementChild);
}

function remove(element) {
  for (const one of [element, ...element.querySelectorAll("*")]) one.cleanUp?.(clearInterval(one.timer));
  element.remove();
}

const TAGS = { expander: "details", popover: "details", title: "h1", header: "h2", subheader: "h3", pages: "nav", code: "pre", multiselect: "fieldset", pills: "fieldset", segmented_control: "fieldset" };
const HOLDERS = ["container", "columns", "expander", "popover", "fragment", "empty"];
const TEST_IDS = { columns: "stHorizontalBlock", container: "stVerticalBlock", markdown: "stMarkdownContainer" };
const GAPS = { small: "1rem", medium: "2rem", large: "4rem" };
function draw(element, node) {
  const { weight, gap, width, horizontal_alignment: across, vertical_alignment: down } = node;
  element.className = [node.is, node.key && `st-key-${node.key}`, node.horizontal && "row", node.border && "border", width === "stretch" && "wide"].filter(Boolean).join(" ");
  element.dataset.testid = weight ? "stColumn" : TEST_IDS[node.is] ?? "stElementContainer";
  Object.assign(element.style, { flexGrow: weight ?? "", width: width > 0 ? `${width}px` : "", justifyContent: { distribute: "space-between", right: "end" }[across] ?? "", alignItems: down ?? "" });
  if (gap !== undefined) element.style.gap = GAPS[gap] ?? 0;
  (DRAW[node.is] ?? text)(element, node);
}

const text = (element, { words }) => { element.innerHTML = markdown(words[0] ?? ""); };
const line = (element, { words }) => { element.innerHTML = inline(words[0]); };
const none = () => {};
const DRAW = {
  container: none, columns: none, empty: none, title: line, header: line, subheader: line, slider, select_slider: slider, multiselect: choices, pills: choices, segmented_control: choices, button, download_button: button,
  html: (element, { words }) => { element.innerHTML = words[0]; },
  code: (element, { words }) => Object.assign(element, { tabIndex: 0, textContent: words[0] }),
  progress: (element, { words: [share, said] }) => { element.innerHTML = `<progress value="${share}" aria-label="Progress"></progress>${inline(said ?? "")}`; },
  expander(element, { words }) {
    if (!element.body) element.append(document.createElement("summary"), (element.body = Object.assign(document.createElement("div"), { className: "container" })));
    element.firstChild.innerHTML = inline(words[0]);
  },
  popover: (element, node) => DRAW.expander(element, node),
  fragment(element, { key, every }) {
    element.dataset.fragment = key;
    clearInterval(element.timer);
    if (every) element.timer = setInterval(() => worker.postMessage({ fragment: key }), every * 1000);
  },
  pages(element, { pages, chosen }) {
    element.ariaLabel = "Pages";
    element.innerHTML = pages.map(([url, title]) => `<a data-here href="${new URL(url && `${url}/`, root)}" ${url === chosen ? 'aria-current="page"' : ""}>${title}</a>`).join("");
  },
  number_input: (element, node) => follow(element, node, Object.assign(labelled(element, node, '<input type="number">'), { min: node.low ?? "", max: node.high ?? "", step: node.step ?? 1 }), none, 400),
  selectbox(element, node) {
    const input = labelled(element, node, "<select></select>");
    input.replaceChildren(...node.texts.map((words, i) => new Option(words, i)));
    follow(element, node, input, none, 0);
  },
  toggle(element, node) {
    const onchange = ({ target }) => send({ key: node.key, value: target.checked });
    Object.assign(labelled(element, node, '<input type="checkbox" role="switch">'), { checked: node.value, onchange });
  },
  component(element, { key, name, data }) {
    const known = components[name], setTriggerValue = (trigger, value) => send({ key, trigger, value });
    if (!element.shadowRoot) element.attachShadow({ mode: "open" }).innerHTML = `<style>${known.css}</style>${known.html}`;
    known.module ??= import(URL.createObjectURL(new Blob([known.js], { type: "text/javascript" })));
    known.module.then(({ default: mount }) => { element.cleanUp = mount({ data: data ?? {}, key, name, parentElement: element.shadowRoot, setTriggerValue }); });
  },
  async plotly_chart(element, { key, figure, alt, selects }) {
    Object.assign(element, { role: "img", ariaLabel: alt });
    await (plotly ??= new Promise((onload) => document.head.append(Object.assign(document.createElement("script"), { src: new URL("plotly.min.js", root), onload }))));
    const { borderColor: line, fontFamily: family, color } = getComputedStyle(document.body), axis = { gridcolor: line, zerolinecolor: line, linecolor: line, automargin: true, title: { font: { size: 14 } } };
    const template = { layout: { font: { family, color }, paper_bgcolor: "transparent", plot_bgcolor: "transparent", xaxis: axis, yaxis: axis } };
    await Plotly.react(element, figure.data, { ...figure.layout, template }, { displayModeBar: false, responsive: true });
    element.removeAllListeners("plotly_click");
    if (selects) element.on("plotly_click", ({ points: [{ x }] }) => send({ key, value: { selection: { points: [{ x }] } } }));
  },
};

function button(element, { key, words, type = "secondary", disabled }) {
  element.innerHTML = `<button type="button" data-testid="stBaseButton-${type}" ${disabled ? "disabled" : ""}>${inline(words[0])}</button>`;
  element.firstChild.onclick = () => send({ key });
}

function slider(element, node) {
  const input = labelled(element, node, '<output></output><input type="range">'), output = element.querySelector("output"), { texts, low = 0, high = texts.length - 1 } = node;
  follow(element, node, Object.assign(input, { min: low, max: high }), () => {
    output.textContent = texts[input.value] ?? input.value;
    input.setAttribute("aria-valuetext", output.textContent);
  }, 60);
}

function choices(element, { key, words, texts, value, several, disabled, help, label_visibility: seen }) {
  const focused = [...element.querySelectorAll("input")].indexOf(document.activeElement), chosen = [value].flat();
  const options = texts.map((words, i) => `<label><input type="${several ? "checkbox" : "radio"}" name="${key}" value="${i}" ${chosen.includes(i) ? "checked" : ""}><span>${inline(words)}</span></label>`);
  element.disabled = Boolean(disabled);
  element.innerHTML = `<legend class="${seen}">${inline(words[0])}</legend>${helped(help)}<div>${options.join("")}</div>`;
  element.querySelectorAll("input")[focused]?.focus();
  const now = () => [...element.querySelectorAll(":checked")].map((input) => Number(input.value));
  element.onchange = () => send({ key, value: several ? now() : now()[0] });
}

const helped = (help) => (help ? `<button type="button" class="help" aria-label="Help" popovertarget="help-${(helps += 1)}">?</button><div popover id="help-${helps}">${markdown(help)}</div>` : "");

function labelled(element, { words, help, label_visibility: seen, disabled }, input) {
  if (element.named !== words[0]) element.innerHTML = `<label><span class="${seen}">${inline((element.named = words[0]))}</span>${input}</label>${helped(help)}`;
  return Object.assign(element.querySelector("input, select"), { disabled: Boolean(disabled) });
}

// What people have moved on meanwhile stays where they have moved it.
function follow(element, { key, value }, input, say, rest) {
  if (!(element.sent > seen || element.resting)) input.value = value;
  say();
  input.oninput = () => {
    say();
    clearTimeout(element.resting);
    element.resting = setTimeout(() => {
      element.resting = undefined;
      if (input.value !== "" && input.checkValidity()) element.sent = send({ key, value: Number(input.value) });
    }, rest);
  };
}

// The Markdown that the dashboard's texts use; formulas are KaTeX's, as MathML.
const escaped = (words) => words.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);
const formula = (tex, displayMode) => katex.renderToString(tex, { displayMode, output: "mathml", throwOnError: false });

function markdown(source) {
  return source.replace(/\$\$([^$]+)\$\$/g, (_, tex) => `\n\n$$${tex.replace(/\s+/g, " ")}\n\n`).split(/\n\s*\n/).filter((block) => block.trim()).map((block) => {
    const lines = block.trim().split("\n"), [head, rule, ...rows] = lines;
    if (head.startsWith("$$")) return `<p class="katex-display">${formula(head.slice(2), true)}</p>`;
    if (!rule?.startsWith("| ---")) return `<p>${inline(lines.join("\n"))}</p>`;
    const cells = (row, tag) => `<tr>${row.slice(1, -1).split("|").map((cell) => `<${tag}>${inline(cell.trim())}</${tag}>`).join("")}</tr>`;
    return `<table><thead>${cells(head, "th")}</thead><tbody>${rows.map((row) => cells(row, "td")).join("")}</tbody></table>`;
  }).join("");
}

function inline(source) {
  const kept = [], keep = (html) => `\u0001${kept.push(html) - 1}\u0001`;
  const words = source.replace(/`([^`]+)`/g, (_, code) => keep(`<code>${escaped(code)}</code>`)).replace(/\$([^$\n]+)\$/g, (_, tex) => keep(formula(tex))).replace(/\\([!-/:-@[-`{-~])/g, (_, letter) => keep(escaped(letter)));
  return escaped(words)
    .replace(/\[([^\]]+)\]\((\?[^)]*)\)/g, '<a data-here href="$2">$1</a>').replace(/\[([^\]]+)\]\([^)]*\)/g, "$1")
    .replace(/\*\*(.+?)\*\*/gs, "<strong>$1</strong>").replace(/\*([^*]+)\*/g, "<em>$1</em>").replace(/ {2}\n/g, "<br>")
    .replace(/:(orange|blue|green|red|violet)\[([^[\]]*)\]/g, '<span class="stMarkdownColoredText $1">$2</span>')
    .replace(/\u0001(\d+)\u0001/g, (_, number) => kept[number]);
}

if (typeof WebAssembly === "object") begin();
else hear({ failed: "It needs WebAssembly, which this browser does not have, or has switched off." });
matchMedia("(prefers-color-scheme: dark)").onchange = () => { document.querySelectorAll(".plotly_chart").forEach((plot) => { plot.told = ""; }); goThere(); };
