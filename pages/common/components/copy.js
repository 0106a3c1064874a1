// Puts the page's address, which holds the whole setting, on the clipboard.
export default function ({ parentElement }) {
  const button = parentElement.querySelector("button");
  button.onclick = async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Copy it from the address bar";
    }
    setTimeout(() => (button.textContent = "Copy link"), 2000);
  };
}
