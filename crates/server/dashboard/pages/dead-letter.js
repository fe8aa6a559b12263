// One dead letter: why it died, what it carries, and what to do about it.

import { get, part } from "../api.js";
import { h, put } from "../dom.js";
import { plural, words } from "../format.js";
import { badge, button, copy, empty, facts, load, section, table, when, which } from "../parts.js";
import { pretty } from "../pretty.js";
import { edit, resolveThese } from "./dead-acts.js";
import { keyLink } from "./events.js";

export const title = "Dead letter";

export async function show(page) {
  const id = page.params.get("id");
  if (!id) return put(page.body, which("dead letter", "They are listed by what they died of.", "dead-letters"));
  const box = h("div", { class: "stack" });
  put(page.body, box);
  const draw = () => load(box, async () => whole(page, await get(`dead-letters/${part(id)}`, {}, page.signal), draw), 10);
  await draw();
}

function whole(page, letter, draw) {
  page.heading.textContent = `${letter.event_type}, dead in ${letter.subscription}`;
  document.title = `Dead letter ${letter.dead_id} · Posthaste`;
  put(page.side, page.operator && !letter.resolution && acts(letter, draw));
  const headers = Object.entries(letter.headers);
  const columns = [
    { label: "Name", kind: "lead mono", cell: ([name]) => name },
    { label: "Value", kind: "mono", cell: ([, value]) => value },
  ];
  const aside = h(
    "span",
    { class: "with-button" },
    letter.redacted && h("span", { class: "muted" }, "some of it is hidden"),
    copy(letter.payload, "Payload"),
  );
  return [
    letter.resolution && resolved(letter),
    h("div", { class: "columns" }, why(letter), identity(letter)),
    section("Payload", { aside }, h("pre", { tabindex: "0", "aria-label": "Payload" }, pretty(letter.payload))),
    section("Headers", { flush: headers.length > 0 }, headers.length > 0 ? table(columns, headers) : empty("No headers")),
  ];
}

function acts(letter, draw) {
  const act = (kind) => async () => (await resolveThese(kind, [letter.dead_id])) && draw();
  return [
    button("Replay…", act("replay"), "primary"),
    button("Edit and replay…", async () => (await edit(letter)) && draw()),
    button("Discard…", act("discard"), "quiet-danger"),
  ];
}

function resolved(letter) {
  const again = letter.new_id && [
    " It was sent again as ",
    h("a", { class: "mono", href: `event?id=${letter.new_id}` }, letter.new_id),
    ".",
  ];
  return h(
    "div",
    { class: "card calm" },
    badge(letter.resolution),
    h("span", {}, `by ${letter.resolved_by ?? "somebody"}, `, when(letter.resolved_at), "."),
    again,
  );
}

function why(letter) {
  const key =
    letter.holds &&
    !letter.resolution &&
    h("p", {}, badge("dead", "holds its key"), " Later events of its key wait until somebody has decided.");
  return section(
    "Why it died",
    {},
    h(
      "p",
      {},
      h("b", {}, words(letter.reason)),
      h("span", { class: "muted" }, ` after ${plural(letter.attempts, "failed attempt")}, `, when(letter.moved_at)),
    ),
    h("pre", { class: "error-block", tabindex: "0", "aria-label": "Error" }, letter.error),
    key,
  );
}

function identity(letter) {
  return section(
    "Event",
    {},
    facts([
      ["Id", h("a", { class: "mono", href: `event?id=${letter.id}` }, letter.id)],
      ["Key", keyLink(letter.key)],
      ["Topic", letter.topic],
      ["Aggregate", letter.aggregate_id && `${letter.aggregate_type} ${letter.aggregate_id}`],
      ["Tenant", letter.tenant_id],
      ["Content type", letter.content_type],
      ["Position", letter.position],
      ["Dead letter", letter.dead_id],
    ]),
  );
}
