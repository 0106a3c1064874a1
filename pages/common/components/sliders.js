// The sidebar's main sliders once more. What somebody is dragging stays where it is until the page has followed.
export default function ({ data, parentElement, setTriggerValue }) {
  const host = parentElement.querySelector(".sliders"), names = data.sliders.map(({ name }) => name).join();
  if (host.names !== names) {
    host.names = names;
    host.innerHTML = data.sliders.map(() => '<label><span></span><b></b><input type="range" min="0"></label>').join("");
  }
  data.sliders.forEach(({ name, label, texts, at }, i) => {
    const [words, said, input] = host.children[i].children;
    words.textContent = input.ariaLabel = label;
    input.max = texts.length - 1;
    if (input.moved === undefined || input.moved === at) Object.assign(input, { value: at, moved: undefined });
    const say = () => {
      said.textContent = texts[input.value];
      input.setAttribute("aria-valuetext", said.textContent);
    };
    say();
    input.oninput = () => {
      say();
      input.moved = Number(input.value);
      clearTimeout(input.resting);
      input.resting = setTimeout(() => setTriggerValue("moved", [name, input.moved]), 120);
    };
  });
}
