// What needs somebody, and what happened lately.

import { h } from "../dom.js";
import { count, words } from "../format.js";
import { badge, empty, section, when } from "../parts.js";

const WHAT = {
  dead_letter: ["dead", "dead letter"],
  paused: ["paused", "paused"],
  resumed: ["running", "resumed"],
  circuit_open: ["down", "destination down"],
  circuit_closed: ["fine", "destination is back"],
};

/** The checks that are not fine, the worst first; or that all are. */
export function alerts(health) {
  const bad = health.checks.filter((check) => check.state === "failing" || check.state === "warning");
  bad.sort((a, b) => a.state.localeCompare(b.state));
  if (bad.length === 0) {
    const text = `All ${count(health.checks.length)} checks are fine.`;
    return h(
      "div",
      { class: "card calm", id: "alerts" },
      badge("fine"),
      h("span", {}, "Nothing needs you."),
      h("span", { class: "muted" }, text),
    );
  }
  const items = bad.map((check) => {
    const about =
      check.subscription &&
      h("a", { href: `subscriptions?subscription=${encodeURIComponent(check.subscription)}` }, check.subscription);
    return h(
      "li",
      {},
      badge(check.state),
      h("div", {}, h("b", {}, words(check.name)), about && [" in ", about], h("p", { class: "muted" }, check.detail)),
    );
  });
  const aside = h("span", { class: "muted" }, `${count(bad.length)} of ${count(health.checks.length)} checks`);
  const element = section("Needs attention", { aside }, h("ul", { class: "list alerts" }, items));
  element.id = "alerts";
  return element;
}

/** What the stream told of, the newest first. */
export function lately(notices) {
  const items = notices.slice(0, 8).map((notice) => {
    const [state, text] = WHAT[notice.what] ?? ["unknown", words(notice.what)];
    const many = notice.count > 1 ? `${count(notice.count)} × ` : "";
    const place = notice.what === "dead_letter" ? "dead-letters" : "subscriptions";
    const link = h("a", { href: `${place}?subscription=${encodeURIComponent(notice.subscription)}` }, notice.subscription);
    return h("li", {}, badge(state, many + text), h("span", {}, link), h("span", { class: "muted number" }, when(notice.at)));
  });
  const none = empty("Nothing happened lately", "Dead letters, pauses and destinations that go down are told of here.");
  return section("Lately", {}, items.length > 0 ? h("ul", { class: "list" }, items) : none);
}
