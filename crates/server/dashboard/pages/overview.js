// How everything is: what needs somebody, the last minutes as charts, subscriptions, relays, and what happened lately.

import { get } from "../api.js";
import { Chart, sparkline } from "../chart.js";
import { h, put } from "../dom.js";
import { bytes, count, plural, rate, short, span } from "../format.js";
import { badge, empty, facts, failed, loading, section, stateOf, table, when } from "../parts.js";
import { choice } from "../form.js";
import { alerts, lately } from "./overview-news.js";

export const title = "Overview";

const WINDOWS = [
  ["60", "1 minute"],
  ["300", "5 minutes"],
  ["900", "15 minutes"],
];
/** How often is asked for what the stream does not tell. */
const ASK = 5000;

export async function show(page) {
  const boxes = {
    alerts: h("div"),
    charts: h("div", { class: "charts" }),
    subscriptions: h("div"),
    relays: h("div"),
    lately: h("div"),
  };
  const chosen = { seconds: 300, subscription: "" };
  const charts = makeCharts(() => chosen.subscription);
  put(
    boxes.charts,
    charts.map((chart) => chart.element),
  );
  page.signal.addEventListener("abort", () => charts.forEach((chart) => chart.close()), { once: true });

  const past = () => page.live.past(chosen.seconds, page.signal).catch(() => {});
  const draw = () => {
    charts.forEach((chart) => chart.show(page.live.samples, chosen.seconds));
    put(boxes.subscriptions, subscriptions(page));
  };
  put(page.side, controls(page, chosen, draw, past));
  put(boxes.subscriptions, loading(3));
  put(boxes.relays, loading(3));
  const columns = h("div", { class: "columns" }, boxes.relays, boxes.lately);
  put(page.body, boxes.alerts, boxes.charts, boxes.subscriptions, columns);

  const news = () => put(boxes.lately, lately(page.live.notices));
  page.live.addEventListener("sample", draw, { signal: page.signal });
  page.live.addEventListener("notice", news, { signal: page.signal });
  // After a break the stream goes on, and what was missed is asked for.
  page.live.addEventListener("state", () => page.live.connected && past(), { signal: page.signal });
  draw();
  news();
  if (page.live.connected) past();
  const ask = () => refresh(page, boxes);
  page.every(ASK, ask);
  await ask();
}

async function refresh(page, boxes) {
  try {
    const [health, status] = await Promise.all([get("checks", {}, page.signal), get("status", {}, page.signal)]);
    put(boxes.alerts, alerts(health));
    put(boxes.relays, relays(status));
  } catch (error) {
    if (error.name === "AbortError") return;
    if (error.status === 401) throw error;
    put(boxes.alerts, failed(error));
  }
}

function controls(page, chosen, draw, past) {
  const names = [["", "All subscriptions"], ...Object.keys(page.live.last?.subscriptions ?? {}).map((name) => [name, name])];
  const only = choice("subscription", names, "", {
    "aria-label": "Charts of",
    onchange: (event) => ((chosen.subscription = event.target.value), draw()),
  });
  const learn = () => {
    const known = Object.keys(page.live.last?.subscriptions ?? {});
    if (only.options.length !== known.length + 1)
      put(
        only,
        [["", "All subscriptions"], ...known.map((name) => [name, name])].map(([value, text]) =>
          h("option", { value, selected: value === chosen.subscription }, text),
        ),
      );
  };
  page.live.addEventListener("sample", learn, { signal: page.signal });
  const window = choice("seconds", WINDOWS, "300", {
    "aria-label": "Charts over",
    onchange: (event) => ((chosen.seconds = Number(event.target.value)), draw(), past()),
  });
  return [only, window];
}

function makeCharts(only) {
  const of = (sample) =>
    Object.entries(sample.subscriptions)
      .filter(([name]) => !only() || name === only())
      .map(([, second]) => second);
  const sum = (field) => (sample) => of(sample).reduce((all, second) => all + second[field], 0);
  const worst = (field) => (sample) => {
    const values = of(sample)
      .map((second) => second[field])
      .filter((value) => value !== null);
    return values.length > 0 ? Math.max(...values) : null;
  };
  const [delivered, failed, lag, half, most] = [
    sum("delivered_per_second"),
    sum("failed_per_second"),
    worst("lag_seconds"),
    worst("latency_p50_ms"),
    worst("latency_p99_ms"),
  ];
  const [pending, parked, dead] = [sum("pending"), sum("failed"), sum("dead")];
  return [
    new Chart({
      title: "Delivered",
      unit: "a second",
      format: rate,
      of: (sample) => [delivered(sample), failed(sample)],
      lines: [
        { label: "delivered", tone: "accent", area: true },
        { label: "failed", tone: "bad" },
      ],
    }),
    new Chart({
      title: "Latency",
      unit: "half of all",
      format: (value) => span(value / 1000),
      of: (sample) => [half(sample), most(sample)],
      lines: [
        { label: "half of all", tone: "accent", area: true },
        { label: "99 of 100", tone: "soft" },
      ],
    }),
    new Chart({
      title: "Lag",
      unit: "oldest event not delivered",
      format: span,
      of: (sample) => [lag(sample)],
      lines: [{ label: "oldest event not delivered", tone: "accent", area: true }],
    }),
    new Chart({
      title: "Depth",
      unit: "pending",
      format: short,
      of: (sample) => [pending(sample), parked(sample), dead(sample)],
      lines: [
        { label: "pending", tone: "accent", area: true },
        { label: "failed", tone: "warn" },
        { label: "dead", tone: "bad" },
      ],
    }),
  ];
}

function subscriptions(page) {
  const { last, samples } = page.live;
  if (!last) return section("Subscriptions", {}, loading(3));
  const rows = Object.entries(last.subscriptions).map(([name, second]) => ({ name, ...second }));
  if (rows.length === 0)
    return section("Subscriptions", {}, empty("No subscriptions yet", "A relay creates those of its file when it starts."));
  const past = samples.slice(-60);
  const columns = [
    {
      label: "Name",
      kind: "lead",
      cell: (row) => h("a", { href: `subscriptions?subscription=${encodeURIComponent(row.name)}` }, row.name),
    },
    { label: "State", cell: stateOf },
    {
      label: "Last minute",
      kind: "wide-only",
      cell: (row) => sparkline(past.map((sample) => sample.subscriptions[row.name]?.delivered_per_second ?? 0)),
    },
    { label: "Delivered/s", kind: "number figure", cell: (row) => rate(row.delivered_per_second) },
    { label: "Pending", kind: "number figure", cell: (row) => count(row.pending) },
    { label: "Failed", kind: "number figure", cell: (row) => count(row.failed) },
    {
      label: "Dead",
      kind: "number figure",
      cell: (row) =>
        row.dead > 0 ? h("a", { href: `dead-letters?subscription=${encodeURIComponent(row.name)}` }, count(row.dead)) : "0",
    },
    { label: "Lag", kind: "number figure", cell: (row) => span(row.lag_seconds) },
    { label: "Lanes", kind: "number figure", cell: (row) => count(row.lanes_held) },
  ];
  return section("Subscriptions", { flush: true, aside: h("a", { href: "subscriptions" }, "Manage") }, table(columns, rows));
}

function relays(status) {
  const list = status.relays.map((relay) => {
    return h(
      "li",
      {},
      h(
        "div",
        {},
        h("b", { class: "mono" }, relay.relay),
        h("span", { class: "muted" }, `${relay.host} · version ${relay.version}`),
      ),
      h("span", { class: "number" }, plural(relay.lanes, "lane")),
    );
  });
  const log = facts([
    ["Events in the log", count(status.events, status.events_estimated)],
    ["Size", bytes(status.bytes)],
    ["Lanes", count(status.lanes)],
    ["Orphaned", status.orphaned > 0 ? badge("failing", count(status.orphaned)) : "0"],
    ["As of", when(status.now)],
  ]);
  const none = empty("No relay is alive", "Nothing is delivered until one starts: posthaste relay --config FILE.");
  return section(
    "Relays and log",
    { aside: h("a", { href: "relays" }, "Lanes") },
    list.length > 0 ? h("ul", { class: "list" }, list) : none,
    log,
  );
}
