// Dead letters: what they died of, which they are, and what to do about them: some at once, or all that fit as a job.

import { get } from "../api.js";
import { h, put } from "../dom.js";
import { choice, field, filter, moment, text, tick } from "../form.js";
import { count, plural, words } from "../format.js";
import { badge, button, empty, load, pager, section, table, when } from "../parts.js";
import { resolveFitting, resolveThese } from "./dead-acts.js";
import { keyLink } from "./events.js";
import { jobs } from "./jobs.js";

export const title = "Dead letters";

const REASONS = ["max_retries_exceeded", "poison_message", "schema_validation_failed", "processing_timeout", "permanent_failure"];
const SELECTION = [
  "subscription",
  "reason",
  "event_type",
  "topic",
  "key",
  "error",
  "error_prefix",
  "moved_after",
  "moved_before",
];

export async function show(page) {
  const [groups, running, list] = [h("div"), h("div"), h("div", { class: "stack" })];
  const selection = Object.fromEntries([...page.params].filter(([name]) => SELECTION.includes(name)));
  const again = () => Promise.all([drawGroups(), drawList(), progress.draw()]);
  const progress = jobs(page, running, () => Promise.all([drawGroups(), drawList()]));
  const drawGroups = () =>
    load(groups, async () => ofGroups(page, await get("dead-letters/groups", selection, page.signal), again), 4);
  const drawList = () =>
    load(list, async () => ofLetters(page, await get("dead-letters", Object.fromEntries(page.params), page.signal), again), 6);
  put(page.body, running, groups, form(page), list);
  if (page.operator) put(page.side, fitting(selection, again));
  await again();
}

/** What is done to everything that the filter finds. */
function fitting(selection, again) {
  const what = Object.keys(selection).length > 0 ? "all that fit" : "all";
  const act = (kind) => async () => (await resolveFitting(kind, selection)) && again();
  return [button(`Replay ${what}…`, act("replay")), button(`Discard ${what}…`, act("discard"), "quiet-danger")];
}

function form(page) {
  const value = (name) => page.params.get(name) ?? "";
  const own = (name, label, hint) => [name, field(label, text(name, value(name)), hint)];
  // A group chooses by the exact line of the error; a person by its beginning.
  const error = page.params.has("error")
    ? own("error", "Error", "exactly this first line")
    : own("error_prefix", "Error begins with");
  return filter("dead-letters", page.go, page.params, {
    fields: [
      own("subscription", "Subscription"),
      [
        "reason",
        field("Reason", choice("reason", [["", "Any"], ...REASONS.map((reason) => [reason, words(reason)])], value("reason"))),
      ],
      own("event_type", "Type"),
      error,
    ],
    more: [
      own("topic", "Topic"),
      own("key", "Key"),
      ["moved_after", field("Died from", moment("moved_after", value("moved_after")))],
      ["moved_before", field("Died before", moment("moved_before", value("moved_before")))],
      ["resolved", tick("resolved", "Also those that are replayed or discarded", value("resolved") === "true")],
    ],
  });
}

function ofGroups(page, { items }, again) {
  if (items.length === 0) return null;
  const own = (group) => ({
    subscription: group.subscription,
    reason: group.reason,
    event_type: group.event_type,
    error: group.error,
  });
  const acts = (group) =>
    h(
      "span",
      { class: "actions" },
      button("Replay…", async () => (await resolveFitting("replay", own(group))) && again(), "small"),
      button("Discard…", async () => (await resolveFitting("discard", own(group))) && again(), "small quiet-danger"),
    );
  const columns = [
    { label: "How many", kind: "number strong", cell: (group) => count(group.count) },
    {
      label: "Error",
      kind: "lead text",
      cell: (group) =>
        h("a", { href: `dead-letters?${new URLSearchParams(own(group))}`, class: "clamp" }, group.error || "no error text"),
    },
    { label: "Reason", kind: "nowrap", cell: (group) => words(group.reason) },
    { label: "Type", cell: (group) => group.event_type },
    { label: "Subscription", cell: (group) => group.subscription },
    { label: "Last", kind: "nowrap", cell: (group) => when(group.last_at) },
  ];
  if (page.operator) columns.push({ label: "Do", kind: "act", cell: acts });
  return section(
    "What they died of",
    { flush: true, aside: h("span", { class: "muted" }, plural(items.length, "group")) },
    table(columns, items),
  );
}

function ofLetters(page, { items, next }, again) {
  if (items.length === 0) return section("Dead letters", {}, none(page, next));
  const chosen = new Set();
  const bar = h("div", { class: "selection", hidden: true });
  const told = h("span", { role: "status" });
  const act = (kind) => async () => (await resolveThese(kind, [...chosen])) && again();
  put(bar, told, button("Replay…", act("replay"), "primary"), button("Discard…", act("discard"), "danger"));
  const ticks = new Map();
  const tell = () => {
    bar.hidden = chosen.size === 0;
    told.textContent = `${plural(chosen.size, "dead letter")} selected`;
    all.checked = chosen.size === ticks.size && ticks.size > 0;
  };
  const set = (id, on) => (on ? chosen.add(id) : chosen.delete(id));
  const all = h("input", {
    type: "checkbox",
    "aria-label": "Select all on this page",
    onchange: () => (ticks.forEach((box, id) => (set(id, all.checked), (box.checked = all.checked))), tell()),
  });
  const one = (letter) => {
    if (letter.resolution) return null;
    const box = h("input", {
      type: "checkbox",
      "aria-label": `Select dead letter ${letter.dead_id}`,
      onchange: () => (set(letter.dead_id, box.checked), tell()),
    });
    ticks.set(letter.dead_id, box);
    return box;
  };
  const columns = page.operator ? [{ label: "Select", kind: "pick", head: all, cell: one }, ...COLUMNS] : COLUMNS;
  return [
    section("Dead letters", { flush: true }, page.operator && bar, table(columns, items)),
    pager("dead-letters", page.params, next),
  ];
}

function none(page, next) {
  if (next)
    return empty(
      "None found so far",
      "The search looks at so many at a time, and there are more.",
      pager("dead-letters", page.params, next, true),
    );
  if ([...page.params.keys()].length > 0) return empty("No dead letter fits", "Change the filter, or clear it.");
  return empty("No dead letters", "Everything was delivered, or still is being tried.");
}

const COLUMNS = [
  { label: "Type", kind: "lead", cell: (letter) => h("a", { href: `dead-letter?id=${letter.dead_id}` }, letter.event_type) },
  { label: "Key", cell: (letter) => keyLink(letter.key) },
  { label: "Subscription", cell: (letter) => letter.subscription },
  {
    label: "Error",
    kind: "text",
    cell: (letter) => [
      h("span", { class: "clamp error-text" }, letter.error),
      h("small", { class: "muted" }, words(letter.reason)),
    ],
  },
  { label: "Attempts", kind: "number", cell: (letter) => letter.attempts },
  { label: "Died", kind: "nowrap", cell: (letter) => when(letter.moved_at) },
  {
    label: "State",
    cell: (letter) =>
      letter.resolution ? badge(letter.resolution) : letter.holds ? badge("dead", "holds its key") : badge("dead"),
  },
];
