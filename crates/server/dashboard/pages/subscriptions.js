// Subscriptions: how each stands, how its destination is, and what operators do to it.

import { get, part, post } from "../api.js";
import { ask } from "../dialog.js";
import { h, put } from "../dom.js";
import { count, plural, span } from "../format.js";
import { badge, button, empty, facts, load, stateOf, toast, when } from "../parts.js";
import { drop } from "./drop.js";
import { reset } from "./reset.js";

export const title = "Subscriptions";

const AGAIN = 2000;

export async function show(page) {
  const box = h("div", { class: "stack" });
  put(page.body, box);
  const wanted = page.params.get("subscription");
  const draw = () =>
    load(
      box,
      async () => {
        const [found, health] = await Promise.all([get("subscriptions", {}, page.signal), get("checks", {}, page.signal)]);
        if (found.items.length === 0)
          return h(
            "section",
            { class: "card" },
            empty("No subscriptions yet", "A relay creates those of its file when it starts."),
          );
        return found.items.map((own) =>
          card(
            page,
            own,
            health.checks.filter((check) => check.subscription === own.name),
            draw,
          ),
        );
      },
      8,
    );
  await draw();
  // Whether a circuit is open is what the stream says.
  if (!page.live.last) page.live.addEventListener("sample", draw, { once: true, signal: page.signal });
  if (wanted) box.querySelector(`#${CSS.escape(`subscription-${wanted}`)}`)?.scrollIntoView({ block: "start" });
  page.every(AGAIN, () => box.contains(document.activeElement) || document.querySelector("dialog") || draw());
}

function card(page, own, checks, draw) {
  const second = page.live.last?.subscriptions[own.name];
  const circuit = second ? (second.circuit_open ? badge("down", "open: nothing is sent") : badge("closed")) : badge("unknown");
  const sink = checks.find((check) => check.name === "sink");
  const health = sink
    ? h("span", {}, badge(sink.state), h("span", { class: "muted small" }, ` ${sink.detail}`))
    : h("span", { class: "muted" }, "served by another relay");
  const state = stateOf({ paused: own.paused, circuit_open: second?.circuit_open, lanes_held: own.lanes_held });
  const wanted = page.params.get("subscription") === own.name;
  return h(
    "section",
    { class: `card${wanted ? " is-wanted" : ""}`, id: `subscription-${own.name}`, "aria-label": own.name },
    h("header", { class: "card-head" }, h("h2", {}, own.name, " ", state), page.operator && actions(page, own, draw)),
    own.paused &&
      own.lanes_held > 0 &&
      h(
        "p",
        { class: "muted" },
        `Its relays settle what is under way: ${plural(own.lanes_held, "lane is", "lanes are")} still held.`,
      ),
    figures(own),
    facts(
      [
        ["Circuit", circuit],
        ["Destination", health],
        ["Last minute", `${count(own.delivered_last_minute)} delivered`],
        ["Last hour", `${count(own.dead_last_hour)} died`],
        ["Moved last", when(own.moved_at)],
        ["Lanes", h("a", { href: `relays?subscription=${encodeURIComponent(own.name)}` }, `${count(own.lanes_held)} held`)],
        ["Not fine", trouble(checks)],
      ],
      "many",
    ),
  );
}

function figures(own) {
  const name = encodeURIComponent(own.name);
  const items = [
    ["Pending", count(own.pending, own.pending_estimated), `events?subscription=${name}&status=pending`],
    ["Failed", count(own.failed), `events?subscription=${name}&status=failed`],
    ["Delayed", count(own.delayed), `events?subscription=${name}&status=delayed`],
    ["Dead", count(own.dead), `dead-letters?subscription=${name}`],
    ["Lag", span(own.oldest_age_seconds ?? 0), null],
  ];
  return h(
    "dl",
    { class: "figures" },
    items.map(([label, value, href]) => h("div", {}, h("dt", {}, label), h("dd", {}, href ? h("a", { href }, value) : value))),
  );
}

function trouble(checks) {
  const bad = checks.filter((check) => check.name !== "sink" && (check.state === "failing" || check.state === "warning"));
  return bad.length > 0
    ? h(
        "ul",
        { class: "plain" },
        bad.map((check) => h("li", {}, badge(check.state, check.name), " ", h("span", { class: "muted small" }, check.detail))),
      )
    : null;
}

function actions(page, own, draw) {
  const act = async (what, text) => {
    try {
      await post(`subscriptions/${part(own.name)}/${what}`);
      toast(text);
    } catch (error) {
      toast(error.message, "bad");
    }
    document.activeElement?.blur();
    await draw();
  };
  const pause = async () => {
    const done = await ask({
      title: `Pause ${own.name}?`,
      confirm: "Pause",
      text: "Its relays settle what is under way and give its lanes back. Events wait in the log until it is resumed; nothing is lost.",
      act: async () => (await post(`subscriptions/${part(own.name)}/pause`), `${own.name} is paused`),
    });
    document.activeElement?.blur();
    if (done) await draw();
  };
  const change = own.paused ? button("Resume", () => act("resume", `${own.name} goes on`), "primary") : button("Pause…", pause);
  return h(
    "div",
    { class: "actions" },
    change,
    button("Reset cursor…", async () => (await reset(own)) && draw()),
    button("Drop…", async () => (await drop(own)) && draw(), "quiet-danger"),
  );
}
