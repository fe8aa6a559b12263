// What pages are made of: badges, tables, times, and what is shown while there is nothing to show.

import { h, id, put } from "./dom.js";
import { ago, exact, full, time } from "./format.js";

// A state is a word; the tone only underlines it.
const TONES = {
  delivered: "good",
  fine: "good",
  running: "good",
  resumed: "good",
  finished: "good",
  done: "good",
  closed: "good",
  pending: "plain",
  skipped: "plain",
  unknown: "plain",
  cancelled: "plain",
  waiting: "plain",
  processing: "accent",
  delayed: "accent",
  replayed: "accent",
  edited: "accent",
  started: "accent",
  published: "accent",
  failed: "warn",
  warning: "warn",
  paused: "warn",
  pausing: "warn",
  reset: "warn",
  dead: "bad",
  failing: "bad",
  down: "bad",
  discarded: "bad",
  dropped: "bad",
};

/** A state in a word. */
export function badge(state, text = state) {
  return h("span", { class: `badge tone-${TONES[state] ?? "plain"}` }, h("i", { class: "dot" }), text.replaceAll("_", " "));
}

/** How a subscription stands, in a word: from one second of it. */
export function stateOf(second) {
  if (second.paused) return second.lanes_held > 0 ? badge("pausing") : badge("paused");
  if (second.circuit_open) return badge("down", "destination down");
  return second.lanes_held > 0 ? badge("running") : badge("warning", "no relay");
}

/** A time, with everything about it on request. */
export function when(text, style = "time") {
  if (!text) return "–";
  const shown = { time, exact, ago }[style](text);
  return h("time", { datetime: text, title: full(text) }, shown);
}

/** A table of `rows` by `columns`: `{ label, cell(row), kind }`. At phone width each row is a card of its own. */
export function table(columns, rows, { caption, row: rowOf } = {}) {
  const head = columns.map(({ label, kind, head: own }) => h("th", { scope: "col", class: kind }, own ?? label));
  const body = rows.map((row) => {
    const cells = columns.map(({ label, cell, kind }) =>
      h("td", { class: kind, "data-label": label }, h("div", { class: "cell" }, cell(row))),
    );
    return h("tr", rowOf?.(row) ?? {}, cells);
  });
  return h(
    "div",
    { class: "table-box" },
    h("table", {}, caption && h("caption", {}, caption), h("thead", {}, h("tr", {}, head)), h("tbody", {}, body)),
  );
}

/** Names and values. Those without a value are left out. */
export function facts(pairs, kind = "") {
  const given = pairs.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return h(
    "dl",
    { class: `facts ${kind}` },
    given.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))),
  );
}

/** A part of a page with a heading. */
export function section(title, { aside, flush } = {}, ...children) {
  const name = id("section");
  return h(
    "section",
    { class: `card${flush ? " flush" : ""}`, "aria-labelledby": name },
    h("header", { class: "card-head" }, h("h2", { id: name }, title), aside),
    children,
  );
}

/** What is shown while an answer is awaited. */
export function loading(lines = 4) {
  const bars = Array.from({ length: lines }, () => h("span", { class: "bone" }));
  return h("div", { class: "skeleton", role: "status" }, h("span", { class: "unseen" }, "Loading…"), bars);
}

/** What is shown where there is nothing. */
export function empty(title, text, action) {
  return h("div", { class: "empty" }, h("p", { class: "empty-title" }, title), text && h("p", { class: "muted" }, text), action);
}

/** What is shown on the page of one thing where nobody said which: the way to the page where they are listed. */
export function which(thing, text, href) {
  return empty(`Which ${thing}?`, text, h("a", { class: "button", href }, `Go to ${thing}s`));
}

/** What is shown where something failed. */
export function failed(problem, again) {
  const button = again && h("button", { type: "button", class: "button", onclick: again }, "Try again");
  return h(
    "div",
    { class: "empty is-bad", role: "alert" },
    h("p", { class: "empty-title" }, problem.title ?? "This page has a fault"),
    h("p", {}, problem.message),
    button,
  );
}

/** Asks, and shows what came, or why it did not. `ask` may be called again by what it shows. */
export async function load(box, ask, lines) {
  if (!box.hasChildNodes()) put(box, loading(lines));
  try {
    put(box, await ask());
  } catch (error) {
    if (error.name === "AbortError") return;
    put(
      box,
      failed(error, () => (put(box), load(box, ask, lines))),
    );
    if (!("status" in error)) console.error(error);
  }
}

/** A button. */
export function button(text, onclick, kind = "") {
  return h("button", { type: "button", class: `button ${kind}`, onclick }, text);
}

/** A button that copies a text. */
export function copy(text, what) {
  const act = async () => {
    try {
      await navigator.clipboard.writeText(text);
      toast(`${what} copied`);
    } catch {
      toast(`${what} was not copied: this browser does not allow it`, "bad");
    }
  };
  return h("button", { type: "button", class: "button small", onclick: act, "aria-label": `Copy ${what.toLowerCase()}` }, "Copy");
}

/** A word to whoever looks, for a few seconds. */
export function toast(text, tone = "good") {
  const element = h("div", { class: `toast tone-${tone}` }, h("i", { class: "dot" }), text);
  document.getElementById("toasts").append(element);
  setTimeout(() => element.remove(), 6000);
}

/** The way to the next page of a listing, and back to the first. A search looks at so many rows at a time: a page of few says so. */
export function pager(page, params, next, few = false) {
  const link = (cursor, text) => {
    const there = new URLSearchParams(params);
    if (cursor) there.set("cursor", cursor);
    else there.delete("cursor");
    const query = there.toString();
    return h("a", { class: "button", href: query ? `${page}?${query}` : page }, text);
  };
  const first = params.has("cursor") && link(null, "First page");
  if (!first && !next) return null;
  return h("nav", { class: "pager", "aria-label": "Pages" }, first, next && link(next, few ? "Look further" : "Next page"));
}
