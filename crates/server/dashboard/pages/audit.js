// What operators did.

import { get } from "../api.js";
import { h, put } from "../dom.js";
import { choice, field, filter, text } from "../form.js";
import { count } from "../format.js";
import { badge, empty, load, pager, section, table, when } from "../parts.js";

export const title = "Audit";

const ACTS = ["replayed", "edited", "discarded", "paused", "resumed", "reset", "dropped", "started", "cancelled", "finished"];

export async function show(page) {
  const box = h("div", { class: "stack" });
  const value = (name) => page.params.get(name) ?? "";
  const form = filter("audit", page.go, page.params, {
    fields: [
      ["by", field("Who", text("by", value("by")))],
      ["what", field("What", choice("what", [["", "Everything"], ...ACTS.map((act) => [act, act])], value("what")))],
      ["subscription", field("Subscription", text("subscription", value("subscription")))],
    ],
  });
  put(page.body, form, box);
  await load(
    box,
    async () => {
      const found = await get("audit", Object.fromEntries(page.params), page.signal);
      if (found.items.length === 0 && !found.next) return section("Acts", {}, none(page));
      return [section("Acts", { flush: true }, table(COLUMNS, found.items)), pager("audit", page.params, found.next)];
    },
    6,
  );
}

function none(page) {
  const filtered = [...page.params.keys()].length > 0;
  return filtered
    ? empty("No act fits", "Change the filter, or clear it.")
    : empty(
        "Nobody did anything yet",
        "Pauses, replays, edits and everything else that changes something is written down here, with who did it.",
      );
}

const COLUMNS = [
  { label: "When", kind: "nowrap", cell: (act) => when(act.at) },
  { label: "Who", kind: "lead", cell: (act) => act.by },
  { label: "What", cell: (act) => badge(act.what) },
  { label: "Subscription", cell: (act) => act.subscription ?? "–" },
  { label: "Concerned", kind: "number", cell: (act) => count(act.concerned) },
  { label: "Detail", kind: "text", cell: (act) => act.detail ?? "" },
];
