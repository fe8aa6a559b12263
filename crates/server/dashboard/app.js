// A plain page until the real ones are written: logs in with a token and shows the overview, live.

const $ = (id) => document.getElementById(id);
// Kept for this tab only, and never in a cookie: no other site can make the browser send it.
let token = sessionStorage.getItem("token") ?? "";

function api(path, options = {}) {
  const headers = token ? { authorization: `Bearer ${token}` } : {};
  return fetch(`/api/v1${path}`, { ...options, headers: { ...headers, ...options.headers } });
}

function say(text) {
  $("message").textContent = text;
}

function cells(row, values) {
  for (const value of values) {
    const cell = document.createElement("td");
    // Text, never markup: what stands in an event is not ours.
    cell.textContent = value;
    row.append(cell);
  }
}

function show(sample) {
  $("caption").textContent = `as of ${sample.at}`;
  const rows = Object.entries(sample.subscriptions).map(([name, second]) => {
    const state = second.paused ? "paused" : second.circuit_open ? "destination down" : "running";
    const row = document.createElement("tr");
    cells(row, [name, state, second.delivered_per_second.toFixed(1), second.pending, second.failed, second.dead, second.lag_seconds.toFixed(1)]);
    return row;
  });
  $("rows").replaceChildren(...rows);
  $("overview").hidden = false;
}

// Server-sent events, read by hand: EventSource cannot send the header with the token.
async function watch() {
  const response = await api("/live");
  if (!response.ok) throw new Error((await response.json()).detail);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    text += value;
    const frames = text.split("\n\n");
    text = frames.pop();
    for (const frame of frames) {
      const lines = Object.fromEntries(frame.split("\n").map((line) => line.split(/: (.*)/s, 2)));
      if (lines.event === "sample") show(JSON.parse(lines.data));
      if (lines.event === "notice") say(`${JSON.parse(lines.data).subscription}: ${JSON.parse(lines.data).what}`);
    }
  }
}

async function start() {
  const response = await api("/me");
  if (!response.ok) {
    $("login").hidden = false;
    say(token ? (await response.json()).detail : "");
    return;
  }
  const me = await response.json();
  sessionStorage.setItem("token", token);
  $("login").hidden = true;
  say(`${me.name}, ${me.role}`);
  for (;;) {
    try {
      await watch();
    } catch (error) {
      say(String(error.message ?? error));
    }
    await new Promise((resolve) => setTimeout(resolve, 2000));
  }
}

$("login").addEventListener("submit", (event) => {
  event.preventDefault();
  token = $("token").value.trim();
  start();
});
start();
