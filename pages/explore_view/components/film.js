// Replays stored pictures of a run; everything was drawn on the server, so moving the slider costs nothing.
export default function ({ data, parentElement }) {
  const film = parentElement.querySelector(".film");
  const slider = film.querySelector("input"), play = film.querySelector("button"), said = film.querySelector("output");
  const frames = film.querySelector(".frames");
  frames.replaceChildren(...data.titles.map(picture));
  slider.max = data.steps.length - 1;
  const show = () => {
    const step = data.steps[slider.value];
    frames.querySelectorAll("img").forEach((image, i) => {
      image.src = step.pictures[i];
    });
    said.textContent = step.label;
    slider.setAttribute("aria-valuetext", step.label);
  };
  slider.value = data.steps.length - 1;
  slider.oninput = () => { stop(film, play); show(); };
  play.onclick = () => (film.timer ? stop(film, play) : start(film, play, slider, show));
  stop(film, play);
  show();
  return () => stop(film, play);
}

function picture({ text, tone, alt }) {
  const figure = document.createElement("figure");
  const caption = document.createElement("figcaption");
  caption.textContent = text;
  caption.className = tone;
  const image = document.createElement("img");
  image.alt = alt;
  figure.append(caption, image);
  return figure;
}

function start(film, play, slider, show) {
  if (slider.value === slider.max) slider.value = 0;
  play.textContent = "Pause";
  show();
  film.timer = setInterval(() => {
    slider.value = Number(slider.value) + 1;
    show();
    if (slider.value === slider.max) stop(film, play);
  }, 250);
}

function stop(film, play) {
  clearInterval(film.timer);
  film.timer = undefined;
  play.textContent = "Play";
}
