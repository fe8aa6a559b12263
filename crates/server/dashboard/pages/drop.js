// Dropping a subscription: what goes with it is counted first, and its name is typed before it is done.

import { part, remove, wrong } from "../api.js";
import { ask } from "../dialog.js";
import { h } from "../dom.js";
import { field, text } from "../form.js";
import { count, plural } from "../format.js";
import { toast } from "../parts.js";

/** Says what would be lost, asks for the name, and does it. */
export async function drop(own) {
  const path = `subscriptions/${part(own.name)}`;
  let lost;
  try {
    lost = await remove(path, { dry_run: true });
  } catch (error) {
    toast(error.message, "bad");
    return false;
  }
  const name = text("name");
  return ask({
    title: `Drop ${own.name}?`,
    text: own.paused
      ? "It is paused, so that it can be dropped. Its cursors are gone with it; a relay that still has it in its file makes it anew when it starts."
      : "Pause it first: a subscription that runs cannot be dropped.",
    confirm: "Drop",
    danger: true,
    fields: [h("p", { class: "foreseen" }, say(lost)), field("Its name, to be sure", name, `Write ${own.name}.`)],
    act: async () => {
      if (name.value.trim() !== own.name) throw wrong("name", `is not ${own.name}; nothing was dropped`);
      await remove(path);
      return `${own.name} is dropped; its dead letters stay`;
    },
  });
}

function say({ pending, pending_estimated, parked, dead }) {
  const events = `${count(pending, pending_estimated)} pending and ${plural(parked, "parked event")}`;
  return `It would never deliver ${events}. ${plural(dead, "dead letter stays", "dead letters stay")}.`;
}
