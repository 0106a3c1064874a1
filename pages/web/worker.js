// Python in the browser: the dashboard's own pages and core under Pyodide, in a thread beside the page's.
const events = [], suspends = "Suspending" in WebAssembly;
let call, running = false, working = false, seen = 0;

// Lets what has been sent meanwhile arrive.
const turn = () => new Promise((go) => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => { port1.close(); go(); };
  port2.postMessage(0);
});
onmessage = ({ data }) => {
  if (data.pyodide) return start(data).catch((error) => postMessage({ failed: String(error) }));
  events.push(data);
  if (call) handle();
};

async function start({ pyodide, root }) {
  const { loadPyodide } = await import(`${pyodide}pyodide.mjs`);
  const archive = fetch(`${root}lab.zip`).then((answer) => answer.arrayBuffer());
  const python = await loadPyodide({ indexURL: pyodide, packages: ["numpy", "pillow", "scipy"] });
  postMessage({ share: 0.5 });
  python.unpackArchive(await archive, "zip", { extractDir: "/lab" });
  python.runPython("import os, sys; os.chdir('/lab'); sys.path.insert(0, '/lab')");
  const lab = python.pyimport("pages.web.browser"), { run_sync } = python.pyimport("pyodide.ffi");
  lab.start({
    show: (text) => postMessage({ shown: JSON.parse(text), seen }),
    save: (name, type, content) => postMessage({ name, type, content: content.toJs() }),
    can_rest: suspends, run_sync, rest: turn,
    let_others: async () => { do await turn(); while (running); },
    is_waiting: () => events.some((event) => !event.fragment),
  });
  call = (name, ...given) => (suspends ? lab[name].callPromising(...given) : lab[name](...given));
  postMessage({ share: 0.75 });
  handle();
}

// What people did, one run of the page after another; then what waits for its turn, bit by bit.
async function handle() {
  if (running) return;
  running = true;
  while (events.length) {
    const now = events.splice(0).map(({ n, ...event }) => ((seen = n ?? seen), event));
    await call("handle", JSON.stringify(now));
  }
  running = false;
  if (working) return;
  working = true;
  do await turn(); while (!running && (await call("work")));
  working = false;
}
