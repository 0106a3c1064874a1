// Tells the page when somebody has scrolled or tabbed to the end of what it shows so far.
export default function ({ data, parentElement, setTriggerValue }) {
  const button = parentElement.querySelector("button");
  button.textContent = data.label;
  button.onclick = button.onfocus = () => setTriggerValue("reached", true);
  const observer = new IntersectionObserver(([seen]) => seen.isIntersecting && button.onclick());
  observer.observe(button);
  return () => observer.disconnect();
}
