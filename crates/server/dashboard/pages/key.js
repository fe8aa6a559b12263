// One key: its events in the order of the log, and what it waits for.

import { get, part } from "../api.js";
import { h, put } from "../dom.js";
import { field, text } from "../form.js";
import { ago, plural } from "../format.js";
import { badge, empty, load, pager, section, table, when } from "../parts.js";
import { statuses } from "./events.js";

export const title = "Keys";

const AGAIN = 3000;

export async function show(page) {
  const key = page.params.get("key");
  const box = h("div", { class: "stack" });
  put(page.body, search(page, key), box);
  if (!key)
    return put(
      box,
      section(
        "One key, in order",
        {},
        empty(
          "Which key?",
          "All events of a key are in one lane and are delivered in their order. Look one up to see them, and what it waits for.",
        ),
      ),
    );
  page.heading.textContent = `Key ${key}`;
  document.title = `${key} · Posthaste`;
  const ask = () =>
    load(
      box,
      async () => {
        const query = { cursor: page.params.get("cursor") };
        try {
          return whole(page, await get(`keys/${part(key)}`, query, page.signal));
        } catch (error) {
          if (error.status !== 404) throw error;
          return section(
            "Events of this key",
            {},
            empty("No event has this key", "It was never used, or its events are delivered and removed by the retention."),
          );
        }
      },
      6,
    );
  page.every(AGAIN, () => box.contains(document.activeElement) || ask());
  await ask();
}

function search(page, key) {
  const input = text("key", key, { placeholder: "order-7", required: true });
  const submit = (event) => {
    event.preventDefault();
    page.go(`key?key=${encodeURIComponent(input.value.trim())}`);
  };
  return h(
    "form",
    { class: "card filter one-line", onsubmit: submit, "aria-label": "Look a key up" },
    field("Key", input),
    h("button", { type: "submit", class: "button primary" }, "Look up"),
  );
}

function whole(page, { items, blocked, next }) {
  const first = items[0];
  const aggregate = first?.aggregate_type && h("span", { class: "muted" }, `${first.aggregate_type} ${first.aggregate_id}`);
  put(page.side, first && h("span", { class: "muted" }, `lane ${first.lane}`));
  const columns = [
    { label: "Position", kind: "number", cell: (event) => event.position },
    { label: "Type", kind: "lead", cell: (event) => h("a", { href: `event?id=${event.id}` }, event.event_type) },
    { label: "Version", kind: "number", cell: (event) => event.version ?? "–" },
    { label: "Written", kind: "nowrap", cell: (event) => when(event.created_at, "exact") },
    { label: "Status", kind: "status", cell: (event) => statuses(event) },
  ];
  return [
    section("What it waits for", {}, waits(items, blocked)),
    section("Events in order", { flush: true, aside: aggregate }, table(columns, items)),
    pager("key", page.params, next, items.length < 50),
  ];
}

function waits(items, blocked) {
  if (blocked.length === 0) return h("p", { class: "calm-line" }, badge("fine"), "Nothing blocks this key.");
  const list = blocked.map((found) => {
    const head = items.find((event) => event.position === found.position);
    const name = head
      ? h("a", { href: `event?id=${head.id}` }, `${head.event_type} at position ${found.position}`)
      : `position ${found.position}`;
    const why = found.due_at
      ? `It failed, and is tried again ${ago(found.due_at)}.`
      : "It is a dead letter that holds the key until somebody has decided.";
    const decide =
      !found.due_at &&
      h(
        "a",
        {
          class: "button small",
          href: `dead-letters?subscription=${encodeURIComponent(found.subscription)}&key=${encodeURIComponent(head?.key ?? items[0].key)}`,
        },
        "Decide",
      );
    return h(
      "li",
      {},
      badge("failed", "blocked"),
      h(
        "div",
        {},
        h("p", {}, h("b", {}, found.subscription), " waits for ", name, "."),
        h("p", { class: "muted" }, `${why} ${plural(found.waiting, "event waits", "events wait")} behind it on this page.`),
      ),
      decide,
    );
  });
  return h("ul", { class: "list" }, list);
}
