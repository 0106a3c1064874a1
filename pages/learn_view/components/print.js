// The browser's own dialogue, from which a page can be printed or saved as PDF.
export default function ({ parentElement }) {
  parentElement.querySelector("button").onclick = () => window.print();
}
