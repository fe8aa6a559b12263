// Moving the cursor of a subscription: what it would do is said before it is done.

import { part, post } from "../api.js";
import { ask } from "../dialog.js";
import { h, put } from "../dom.js";
import { field, moment } from "../form.js";
import { count, plural } from "../format.js";
import { button } from "../parts.js";

const PLACES = [
  ["beginning", "To the beginning", "Everything that the log still has is delivered again."],
  ["now", "To the end", "Everything that is pending is never delivered."],
  ["time", "To a time", "The first event written then or later is the next one."],
  ["position", "To a position", "The event there is the next one."],
];

/** Asks where to, says what that would do, and does it. */
export function reset(own) {
  const time = moment("time");
  const position = h("input", { type: "number", name: "position", min: 1, step: 1 });
  const foreseen = h("p", { class: "foreseen", role: "status" }, "Nothing is changed before you confirm.");
  const where = (form) => {
    const place = new FormData(form).get("place");
    if (place === "time") return { time: new Date(time.value || Number.NaN).toISOString() };
    if (place === "position") return { position: Number(position.value) };
    return { to: place };
  };
  const request = (form, dry_run) => {
    let body;
    try {
      body = { ...where(form), dry_run };
    } catch {
      throw new Error("choose a time first");
    }
    return post(`subscriptions/${part(own.name)}/reset`, body);
  };
  const foresee = async (event) => {
    try {
      put(foreseen, say(await request(event.target.closest("form"), true)));
    } catch (error) {
      put(foreseen, error.message);
    }
  };
  const places = PLACES.map(([value, label, hint], index) =>
    h(
      "label",
      { class: "tick block" },
      h("input", { type: "radio", name: "place", value, checked: index === 0 }),
      h("span", {}, h("b", {}, label), h("small", { class: "muted" }, hint)),
    ),
  );
  // Only what the chosen place needs is asked for.
  const more = [field("Time", time), field("Position", position)];
  const choose = (event) => {
    const place = event?.target.value;
    more[0].hidden = place !== "time";
    more[1].hidden = place !== "position";
  };
  choose();
  const text = own.paused
    ? "It is paused, so that its cursor can be moved."
    : "Pause it first: the cursor of a subscription that runs cannot be moved.";
  return ask({
    title: `Reset the cursor of ${own.name}`,
    text,
    confirm: "Reset",
    danger: true,
    fields: [
      h("fieldset", { onchange: choose }, h("legend", { class: "unseen" }, "Where to"), places),
      more,
      h("div", { class: "actions" }, button("What would it do?", foresee)),
      foreseen,
    ],
    act: async (form) => {
      const done = await request(form, false);
      return `The cursor of ${own.name} was moved in ${plural(done.concerned, "lane")}`;
    },
  });
}

function say({ concerned, again, skipped, estimated }) {
  const about = estimated ? "about " : "";
  return `It would move ${plural(concerned, "lane")}: ${about}${count(again)} events come again, and ${about}${count(skipped)} are passed over and never delivered.`;
}
