const SETTLED = 250;

// Tells the page when somebody has scrolled or tabbed to the end of what it shows so far.
export default function ({ data, parentElement, setTriggerValue }) {
  const button = parentElement.querySelector("button");
  button.textContent = data.label;
  button.onclick = button.onfocus = () => setTriggerValue("reached", true);
  // Not at once: while the page is being drawn, what is above has not its full height yet.
  let wait;
  const observer = new IntersectionObserver(([seen]) => {
    clearTimeout(wait);
    if (seen.isIntersecting) wait = setTimeout(button.onclick, SETTLED);
  });
  observer.observe(button);
  return () => {
    clearTimeout(wait);
    observer.disconnect();
  };
}
