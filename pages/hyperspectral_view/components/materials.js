// One card per material: its spectrum as either method found it, and where it is.
export default function ({ data, parentElement }) {
  const host = parentElement.querySelector(".host"), cards = host.querySelector(".cards");
  cards.style.setProperty("--maps", data.maps);
  cards.replaceChildren(...data.cards.map(drawn));
  const draw = () =>
    cards.querySelectorAll("svg").forEach((svg, k) => {
      const { top, lines } = data.cards[k];
      drawSpectra(svg, { x: data.x, unit: data.unit, top, lines, height: 7.5, small: true });
    });
  draw();
  return whenResized(host, draw);
}

function drawn({ name, remark, colour, maps, nearest }) {
  const card = document.createElement("div");
  card.className = "card";
  card.style.setProperty("--colour", colour);
  card.innerHTML = '<header><strong></strong><span></span></header><div><svg role="img"></svg></div><div class="maps"></div><ul class="nearest"></ul>';
  card.querySelector("strong").textContent = name;
  card.querySelector("header span").textContent = remark;
  card.querySelector("svg").setAttribute("aria-label", `Spectrum of ${name}`);
  card.querySelector(".maps").replaceChildren(...maps.map(mapped));
  card.querySelector(".nearest").replaceChildren(...nearest.map(item));
  card.querySelector(".nearest").hidden = nearest.length === 0;
  return card;
}

function item(text) {
  const line = document.createElement("li");
  line.textContent = text;
  return line;
}

function mapped({ title, tone, src, alt, figures }) {
  const figure = document.createElement("figure");
  figure.innerHTML = '<figcaption></figcaption><img><div class="figures"></div>';
  const caption = figure.querySelector("figcaption"), image = figure.querySelector("img");
  caption.textContent = title;
  caption.className = tone;
  image.src = src;
  image.alt = alt;
  figure.querySelector(".figures").innerHTML = figures;
  return figure;
}
