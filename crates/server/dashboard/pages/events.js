// Events: found by filter, newest first, and live while the first page is open.

import { get } from "../api.js";
import { h, put } from "../dom.js";
import { choice, field, filter, moment, text } from "../form.js";
import { badge, button, empty, load, pager, section, table, when } from "../parts.js";
import { publish } from "./publish.js";

export const title = "Events";

const STATUSES = ["pending", "processing", "failed", "delivered", "dead", "delayed", "skipped"];
const LIVE = 2000;
/** How many new ones are worth a mark. */
const FEW = 10;
const PAGE = 50;

export async function show(page) {
  const list = h("div");
  const isLive = !page.params.has("cursor") && !page.params.has("sort") && !page.params.has("created_before");
  const live = h("input", { type: "checkbox", checked: isLive });
  const add = async () => {
    const id = await publish();
    if (id) page.go(`event?id=${id}`);
  };
  put(page.side, isLive && h("label", { class: "tick" }, live, "Live"), page.operator && button("Publish…", add));
  const learning = names(page);
  put(page.body, form(page, learning), list);

  const seen = new Set();
  const ask = () =>
    load(
      list,
      async () => {
        const found = await get("events", Object.fromEntries(page.params), page.signal);
        return listing(page, found, seen);
      },
      8,
    );
  if (isLive) page.every(LIVE, () => live.checked && !list.contains(document.activeElement) && ask());
  await Promise.all([ask(), learning]);
}

/** The names of all subscriptions: of the last second, or else out of the status, which takes long where the log is long. */
async function names(page) {
  const live = Object.keys(page.live.last?.subscriptions ?? {});
  if (live.length > 0) return live;
  try {
    const { items } = await get("subscriptions", {}, page.signal);
    return items.map(({ name }) => name);
  } catch (error) {
    if (error.status === 401) throw error;
    // Events are listed without a choice as well, and tell of a server that is in trouble.
    return [];
  }
}

function form(page, learning) {
  const { params } = page;
  const value = (name) => params.get(name) ?? "";
  const any = (names, text) => [["", text], ...names.map((name) => [name, name])];
  const given = value("subscription");
  const subscription = choice("subscription", any(given ? [given] : [], "All"), given);
  const status = choice("status", any(STATUSES, "Any"), value("status"));
  // A status is always one in a subscription.
  const complete = () => {
    if (status.value && !subscription.value) subscription.value = subscription.options[1]?.value ?? "";
  };
  status.addEventListener("change", complete);
  subscription.addEventListener("change", () => subscription.value || (status.value = ""));
  learning.then((names) => (learn(subscription, names), complete())).catch(() => {});
  const own = (name, label, attributes) => [name, field(label, text(name, value(name), attributes))];
  return filter("events", page.go, params, {
    fields: [
      ["subscription", field("Subscription", subscription)],
      ["status", field("Status", status)],
      own("event_type", "Type", { placeholder: "order.placed" }),
      own("key", "Key"),
    ],
    more: [
      own("topic", "Topic"),
      own("aggregate_type", "Aggregate type"),
      own("aggregate_id", "Aggregate id"),
      own("tenant_id", "Tenant"),
      ["created_after", field("Written from", moment("created_after", value("created_after")))],
      ["created_before", field("Written before", moment("created_before", value("created_before")))],
      [
        "sort",
        field(
          "Order",
          choice(
            "sort",
            [
              ["", "Newest first"],
              ["oldest", "Oldest first"],
            ],
            value("sort"),
          ),
        ),
      ],
    ],
  });
}

/** Puts all names into a choice. What is chosen by then stays, also if no subscription has that name. */
function learn(choice, names) {
  const chosen = choice.value;
  const all = new Set(["", ...names, chosen]);
  put(
    choice,
    [...all].map((name) => h("option", { value: name }, name || "All")),
  );
  choice.value = chosen;
}

function listing(page, found, seen) {
  const fresh = seen.size > 0;
  const isNew = (event) => fresh && !seen.has(event.id);
  // Where everything is new, nothing stands out.
  const few = found.items.filter(isNew).length <= FEW;
  const marks = new Map(found.items.map((event) => [event.id, few && isNew(event)]));
  found.items.forEach((event) => seen.add(event.id));
  if (found.items.length === 0) return section("Events", {}, none(page, found));
  const row = (event) => ({ class: marks.get(event.id) ? "is-new" : "" });
  return [
    section("Events", { flush: true }, table(COLUMNS, found.items, { row })),
    pager("events", page.params, found.next, found.items.length < PAGE),
  ];
}

function none(page, found) {
  if (found.next) {
    return empty(
      "None found so far",
      "The search looks at so many events at a time, and there are more.",
      pager("events", page.params, found.next, true),
    );
  }
  if ([...page.params.keys()].length > 0) return empty("No event fits", "Change the filter, or clear it.");
  return empty("The log has no events yet", "They appear here as soon as a transaction with one has committed.");
}

/** The columns of a listing of events. */
export const COLUMNS = [
  { label: "Written", kind: "nowrap", cell: (event) => when(event.created_at, "exact") },
  { label: "Type", kind: "lead", cell: (event) => h("a", { href: `event?id=${event.id}` }, event.event_type) },
  { label: "Key", cell: (event) => keyLink(event.key) },
  { label: "Topic", cell: (event) => event.topic },
  { label: "Status", kind: "status", cell: (event) => statuses(event) },
  { label: "Position", kind: "number", cell: (event) => event.position },
];

/** The way to a key. */
export function keyLink(key) {
  return key === null
    ? h("span", { class: "muted" }, "none")
    : h("a", { class: "mono", title: key, href: `key?key=${encodeURIComponent(key)}` }, key);
}

/** The status in each subscription; those that agree are one. */
export function statuses(event) {
  const by = Map.groupBy(event.statuses, (status) => status.status);
  const told = [...by].map(([status, own]) => {
    const names = own.map(({ subscription }) => subscription).join(", ");
    const text = by.size === 1 && own.length > 1 ? `${status} to all` : `${status}: ${names}`;
    return badge(status, status === "delivered" || by.size > 1 ? text : `${status}: ${names}`);
  });
  return h("span", { class: "badges" }, told.length > 0 ? told : h("span", { class: "muted" }, "no subscription"));
}
