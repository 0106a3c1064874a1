// A link to this page with another query, to look at and to copy.
export default function ({ data, parentElement }) {
  const field = parentElement.querySelector("input"), button = parentElement.querySelector("button");
  const link = new URL(location.href);
  link.search = data.query;
  field.value = link.href;
  button.onclick = async () => {
    try {
      await navigator.clipboard.writeText(link.href);
      button.textContent = "Copied";
    } catch {
      field.select();
      button.textContent = "Press Ctrl+C";
    }
    setTimeout(() => (button.textContent = "Copy link"), 2000);
  };
}
