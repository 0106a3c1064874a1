// Saves a chart of the page as PNG or SVG, with Plotly's own export: its toolbar's button, told the format.
export default function ({ data, parentElement }) {
  const buttons = ["png", "svg"].map((format) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = format.toUpperCase();
    button.onclick = () => save(data, format);
    return button;
  });
  parentElement.querySelector(".formats").replaceChildren(...buttons);
}

function save({ chart, stem }, format) {
  const plot = document.querySelector(`.st-key-${chart} .js-plotly-plot`);
  const own = plot?.querySelector('.modebar-btn[data-attr="toImage"], .modebar-btn[data-title*="Download"]');
  if (!own) return;
  const scale = format === "png" ? 2 : 1;
  plot._context.toImageButtonOptions = { format, filename: stem, scale };
  own.click();
}
