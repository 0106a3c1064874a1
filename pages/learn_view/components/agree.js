// A value that reader and server both can change. The reader's wins until the server has heard of it.
function follow(host, value, apply) {
  const text = JSON.stringify(value);
  host.sent ??= new Set();
  if (text === host.told) host.sent.clear();
  else if (!host.sent.has(text)) {
    host.told = text;
    apply(value);
  }
}

// Tells the server once the reader rests: every message runs the page. Until then the host is marked as pending.
function tell(host, value, send) {
  clearTimeout(host.telling);
  host.toggleAttribute("data-pending", true);
  host.telling = setTimeout(() => {
    host.toggleAttribute("data-pending", false);
    const text = JSON.stringify(value());
    if (text === host.told) return;
    host.told = text;
    host.sent.add(text);
    send(value());
  }, 350);
}
