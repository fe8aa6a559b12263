// One event: what it is, how it stands in each subscription, and everything that happened to it.

import { get, part } from "../api.js";
import { h, put } from "../dom.js";
import { ago, plural } from "../format.js";
import { badge, copy, empty, facts, load, section, table, when, which } from "../parts.js";
import { pretty } from "../pretty.js";
import { keyLink } from "./events.js";

export const title = "Event";

const AGAIN = 2000;

export async function show(page) {
  const id = page.params.get("id");
  if (!id) return put(page.body, which("event", "An event is found by its type, key or time.", "events"));
  const box = h("div", { class: "stack" });
  put(page.body, box);
  let shown = "";
  const ask = () =>
    load(
      box,
      async () => {
        const found = await get(`events/${part(id)}`, {}, page.signal);
        shown = JSON.stringify([found.event.statuses, found.timeline.length]);
        return whole(page, found);
      },
      10,
    );
  await ask();
  // What is not over goes on, and is shown only if something is new: a selected text stays selected.
  page.every(AGAIN, async () => {
    const found = await get(`events/${part(id)}`, {}, page.signal).catch(() => null);
    if (found && JSON.stringify([found.event.statuses, found.timeline.length]) !== shown) ask();
  });
}

function whole(page, { event, payload, redacted, headers, timeline }) {
  page.heading.textContent = event.event_type;
  document.title = `${event.event_type} · Posthaste`;
  put(page.side, h("span", { class: "muted" }, `position ${event.position}`));
  return [
    h(
      "div",
      { class: "columns uneven" },
      h("div", { class: "stack" }, standing(event), content(payload, redacted, headers)),
      h("div", { class: "stack" }, identity(event), history(timeline)),
    ),
  ];
}

function identity(event) {
  const aggregate =
    event.aggregate_id &&
    h(
      "a",
      {
        href: `events?aggregate_type=${encodeURIComponent(event.aggregate_type)}&aggregate_id=${encodeURIComponent(event.aggregate_id)}&sort=oldest`,
      },
      `${event.aggregate_type} ${event.aggregate_id}`,
    );
  const list = facts([
    ["Id", h("span", { class: "with-button" }, h("span", { class: "mono" }, event.id), copy(event.id, "Id"))],
    ["Key", keyLink(event.key)],
    ["Topic", event.topic],
    ["Type", `${event.event_type}, version ${event.event_version}`],
    ["Aggregate", aggregate],
    ["Version", event.version],
    ["Tenant", event.tenant_id],
    ["Correlation", event.correlation_id && h("span", { class: "mono" }, event.correlation_id)],
    ["Lane", event.lane],
    ["Happened", when(event.occurred_at, "exact")],
    ["Written", when(event.created_at, "exact")],
    ["Not before", event.deliver_after && when(event.deliver_after)],
  ]);
  return section(
    "Event",
    { aside: event.key && h("a", { href: `key?key=${encodeURIComponent(event.key)}` }, "All of its key") },
    list,
  );
}

function standing(event) {
  const items = event.statuses.map((status) => {
    const more = [
      status.attempts > 0 && plural(status.attempts, "failed attempt"),
      status.due_at && `tried again ${ago(status.due_at)}`,
      status.blocked_by && `waits for position ${status.blocked_by}`,
    ].filter(Boolean);
    const dead =
      status.status === "dead" &&
      h(
        "a",
        {
          href: `dead-letters?subscription=${encodeURIComponent(status.subscription)}${event.key ? `&key=${encodeURIComponent(event.key)}` : ""}`,
        },
        "Dead letter",
      );
    return h(
      "li",
      {},
      h(
        "div",
        {},
        h("p", { class: "standing" }, h("b", {}, status.subscription), badge(status.status), dead),
        more.length > 0 && h("span", { class: "muted" }, more.join(" · ")),
        status.last_error && h("p", { class: "error-text" }, status.last_error),
      ),
    );
  });
  const none = empty("No subscription", "Nobody reads the log yet.");
  return section("In each subscription", {}, items.length > 0 ? h("ul", { class: "list" }, items) : none);
}

function content(payload, redacted, headers) {
  const rows = Object.entries(headers);
  const columns = [
    { label: "Name", kind: "lead mono", cell: ([name]) => name },
    { label: "Value", kind: "mono", cell: ([, value]) => value },
  ];
  const aside = [redacted && h("span", { class: "muted" }, "some of it is hidden"), copy(payload, "Payload")];
  return [
    section(
      "Payload",
      { aside: h("span", { class: "with-button" }, aside) },
      h("pre", { tabindex: "0", "aria-label": "Payload" }, pretty(payload)),
    ),
    section("Headers", { flush: rows.length > 0 }, rows.length > 0 ? table(columns, rows) : empty("No headers")),
  ];
}

/** What happened, for each subscription of its own. */
function history(timeline) {
  const groups = Map.groupBy(timeline, (item) => item.subscription ?? "");
  const parts = [...groups].map(([subscription, items]) => [
    subscription && h("h3", {}, subscription),
    h("ol", { class: "timeline" }, items.map(happened)),
  ]);
  return section("Timeline", {}, parts.length > 0 ? parts : empty("Nothing happened yet"));
}

function happened(item) {
  const by = [item.attempt && `attempt ${item.attempt}`, item.by && `by ${item.by}`].filter(Boolean).join(" · ");
  return h(
    "li",
    {},
    h("div", { class: "timeline-head" }, badge(item.what), h("span", { class: "muted number" }, when(item.at, "exact"))),
    by && h("p", { class: "muted small" }, by),
    item.detail && h("p", { class: "error-text" }, item.detail),
  );
}
