// Buttons with a small picture each.
export default function ({ data, parentElement, setTriggerValue }) {
  const cards = data.cards.map(({ title, src, active }, i) => {
    const button = document.createElement("button");
    button.type = "button";
    button.ariaPressed = String(active);
    const image = document.createElement("img");
    image.src = src;
    image.alt = "";
    button.append(image, title);
    button.onclick = () => setTriggerValue("chosen", i);
    return button;
  });
  parentElement.querySelector(".cards").replaceChildren(...cards);
}
