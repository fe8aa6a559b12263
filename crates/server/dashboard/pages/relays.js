// The relays that are alive, and the lanes of a subscription: who holds them, and how far they are.

import { get, part } from "../api.js";
import { h, put } from "../dom.js";
import { choice } from "../form.js";
import { count, plural, span } from "../format.js";
import { badge, empty, load, section, table, when } from "../parts.js";

export const title = "Relays and lanes";

const AGAIN = 3000;

export async function show(page) {
  const named = page.params.get("subscription");
  const lanesOf = async (name) => (await get(`subscriptions/${part(name)}/lanes`, {}, page.signal)).items;
  // Lanes that the address names need not wait for the status. What goes wrong is told where they are shown.
  let ahead = named ? lanesOf(named) : null;
  ahead?.catch(() => {});
  let status = await get("status", {}, page.signal);
  const names = status.subscriptions.map(({ name }) => name);
  const chosen = names.includes(named) ? named : names[0];
  if (chosen !== named) ahead = null;
  const [relays, lanes] = [h("div"), h("div")];
  put(page.body, relays, lanes);
  let letters = new Map();
  const ask = async () => {
    await load(
      relays,
      async () => {
        const found = (status ?? (await get("status", {}, page.signal))).relays;
        status = null;
        letters = new Map(found.map((relay, index) => [relay.relay, letter(index)]));
        return ofRelays(found, letters);
      },
      3,
    );
    if (!chosen)
      return put(lanes, section("Lanes", {}, empty("No subscriptions yet", "A relay creates those of its file when it starts.")));
    if (lanes.contains(document.activeElement)) return;
    const pick = choice(
      "subscription",
      names.map((name) => [name, name]),
      chosen,
      { "aria-label": "Lanes of", onchange: (event) => page.go(`relays?subscription=${encodeURIComponent(event.target.value)}`) },
    );
    await load(
      lanes,
      async () => {
        const found = ahead ?? lanesOf(chosen);
        ahead = null;
        return ofLanes(await found, letters, pick);
      },
      6,
    );
  };
  page.every(AGAIN, ask);
  await ask();
}

/** Relays are named A, B, …: a grid has no room for their ids. */
function letter(index) {
  return index < 26 ? String.fromCharCode(65 + index) : String(index + 1);
}

function ofRelays(relays, letters) {
  if (relays.length === 0)
    return section(
      "Relays",
      {},
      empty("No relay is alive", "Nothing is delivered until one starts: posthaste relay --config FILE."),
    );
  const columns = [
    { label: "Name", cell: (relay) => h("span", { class: "letter" }, letters.get(relay.relay)) },
    { label: "Relay", kind: "lead mono", cell: (relay) => relay.relay },
    { label: "Host", cell: (relay) => relay.host },
    { label: "Version", cell: (relay) => relay.version },
    { label: "Serves", kind: "text", cell: (relay) => relay.subscriptions.join(", ") },
    { label: "Since", kind: "nowrap", cell: (relay) => when(relay.started_at) },
    { label: "Lease", kind: "nowrap", cell: (relay) => when(relay.held_until, "ago") },
    { label: "Lanes", kind: "number", cell: (relay) => count(relay.lanes) },
  ];
  return section("Relays", { flush: true }, table(columns, relays));
}

function ofLanes(lanes, letters, pick) {
  const held = lanes.filter((lane) => lane.holder).length;
  const pending = lanes.reduce((all, lane) => all + lane.pending, 0);
  const damaged = lanes.filter((lane) => lane.n === 0).length;
  const summary = h(
    "p",
    { class: "muted" },
    `${held} of ${lanes.length} lanes are held. ${plural(pending, "event is", "events are")} pending.`,
  );
  const words = h(
    "ul",
    { class: "legend" },
    h("li", {}, h("i", { class: "swatch tone-accent" }), "held: the letter is the relay"),
    h("li", {}, h("i", { class: "swatch hollow" }), "free"),
    h("li", {}, "the figure is what is pending"),
  );
  const grid = h(
    "ol",
    { class: "lanes" },
    lanes.map((lane) => cell(lane, letters)),
  );
  const busiest = lanes
    .filter((lane) => lane.pending > 0)
    .sort((a, b) => b.pending - a.pending)
    .slice(0, 10);
  return [
    section(
      "Lanes",
      { aside: pick },
      damaged > 0 && badge("failing", `${damaged} lanes have no line: the tables are damaged`),
      summary,
      grid,
      words,
    ),
    section(
      "Lanes with most to do",
      { flush: busiest.length > 0 },
      busiest.length > 0 ? table(columns(letters), busiest) : empty("Nothing is pending", "Every lane is at the end of the log."),
    ),
  ];
}

function cell(lane, letters) {
  const holder = lane.holder ? (letters.get(lane.holder) ?? "?") : "";
  const said = `Lane ${lane.lane}: ${holder ? `held by relay ${holder}` : "free"}, ${plural(lane.pending, "event")} pending`;
  return h(
    "li",
    { class: `lane${holder ? " is-held" : ""}`, title: said },
    h("span", { class: "unseen" }, said),
    h("span", { class: "lane-number", "aria-hidden": "true" }, lane.lane),
    h("b", { "aria-hidden": "true" }, holder || "–"),
    h(
      "span",
      { class: "lane-pending", "aria-hidden": "true" },
      lane.pending > 0 ? (lane.pending > 999 ? "999+" : lane.pending) : "·",
    ),
  );
}

function columns(letters) {
  return [
    { label: "Lane", kind: "lead", cell: (lane) => lane.lane },
    { label: "Holder", cell: (lane) => (lane.holder ? `${letters.get(lane.holder) ?? "?"} · ${lane.holder}` : "free") },
    { label: "Pending", kind: "number figure", cell: (lane) => count(lane.pending, lane.pending_estimated) },
    { label: "Oldest", kind: "number figure", cell: (lane) => span(lane.oldest_age_seconds) },
    { label: "Settled up to", kind: "number figure", cell: (lane) => lane.settled },
    {
      label: "Last line",
      cell: (lane) => (lane.kind ? [`${lane.kind.replaceAll("_", " ")} (${lane.n}), `, when(lane.at)] : "none"),
    },
  ];
}
