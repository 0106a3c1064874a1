const SETTLED = 250;

// Tells the page when somebody has scrolled or tabbed to the end of what it shows so far; once the rest is there,
// when it no longer fits what is shown above.
export default function ({ data, parentElement, setTriggerValue }) {
  const button = parentElement.querySelector("button");
  const tell = () => setTriggerValue("reached", true);
  button.hidden = !data.label;
  button.textContent = data.label;
  button.onclick = button.onfocus = tell;
  // Not at once: while the page is being drawn, what is above has not its full height yet.
  let wait;
  const soon = () => {
    clearTimeout(wait);
    wait = setTimeout(tell, SETTLED);
  };
  const observer = new IntersectionObserver(([seen]) => (seen.isIntersecting ? soon() : clearTimeout(wait)));
  if (data.label) observer.observe(button);
  else document.addEventListener("atnmf-restore-judged", soon);
  return () => {
    clearTimeout(wait);
    observer.disconnect();
    document.removeEventListener("atnmf-restore-judged", soon);
  };
}
