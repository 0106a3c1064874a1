// Goes through a list of states: play, pause, step, back, reset, speed, and a slider over all of them.
const MILLISECONDS = 1100;

function player(root, { film, shown, at, last, label, next = () => "Step", name, show, rest }) {
  const bar = root.querySelector(".player");
  const part = (what) => bar.querySelector(`[name=${what}]`);
  const slider = bar.querySelector("input"), said = bar.querySelector("output"), speed = bar.querySelector("select");
  const draw = () => {
    const now = Number(slider.value);
    said.textContent = label(now);
    slider.setAttribute("aria-valuetext", label(now));
    part("back").disabled = part("reset").disabled = now === 0;
    part("step").disabled = now === last;
    part("step").textContent = next(Math.min(now + 1, last));
    show(now);
  };
  const stop = () => {
    clearInterval(bar.timer);
    bar.timer = undefined;
    part("play").textContent = "Play";
  };
  const go = (to) => {
    slider.value = Math.max(0, Math.min(last, to));
    draw();
    if (Number(slider.value) === last) stop();
    if (!bar.timer) tell(bar, () => Number(slider.value), rest);
  };
  const play = () => {
    if (Number(slider.value) === last) slider.value = 0;
    part("play").textContent = "Pause";
    bar.timer = setInterval(() => go(Number(slider.value) + 1), MILLISECONDS / Number(speed.value));
    draw();
  };
  slider.max = last;
  slider.setAttribute("aria-label", name);
  if (bar.film !== film) {
    stop();
    bar.film = film;
    bar.told = undefined;
    bar.sent = new Set();
  }
  bar.hidden = !shown;
  follow(bar, at, (to) => { stop(); slider.value = to; });
  slider.oninput = () => { stop(); go(Number(slider.value)); };
  part("step").onclick = () => { stop(); go(Number(slider.value) + 1); };
  part("back").onclick = () => { stop(); go(Number(slider.value) - 1); };
  part("reset").onclick = () => { stop(); go(0); };
  part("play").onclick = () => { if (bar.timer) { stop(); go(Number(slider.value)); } else play(); };
  speed.onchange = () => { if (bar.timer) { stop(); play(); } };
  if (bar.timer) { stop(); play(); }
  draw();
  return stop;
}
