// What is done about dead letters, each after a question that says how many it concerns.

import { post } from "../api.js";
import { ask } from "../dialog.js";
import { h } from "../dom.js";
import { field, json, text } from "../form.js";
import { count, plural, words } from "../format.js";
import { toast } from "../parts.js";

const VERB = { replay: "Replay", discard: "Discard" };
const DONE = { replay: "replayed", discard: "discarded" };
const MEANING = {
  replay: "Each is sent again to the one subscription in which it died, in its order, with no attempts counted.",
  discard: "They are given up for good and never delivered. A key that they hold goes on.",
};

/** Replays or discards these, at once. */
export function resolveThese(kind, ids) {
  return ask({
    title: `${VERB[kind]} ${plural(ids.length, "dead letter")}?`,
    text: MEANING[kind],
    confirm: VERB[kind],
    danger: kind === "discard",
    act: async () => {
      const { concerned } = await post(`dead-letters/${kind}`, { ids });
      return `${plural(concerned, "dead letter")} ${DONE[kind]}`;
    },
  });
}

/** Replays or discards all that fit, as a job. How many that are is asked first. */
export async function resolveFitting(kind, selection) {
  let concerned;
  try {
    ({ concerned } = await post(`dead-letters/${kind}`, { filter: selection, dry_run: true }));
  } catch (error) {
    toast(error.message, "bad");
    return false;
  }
  if (concerned === 0) {
    toast("There is none to do that to", "plain");
    return false;
  }
  const chosen = Object.entries(selection).map(([name, value]) => h("div", {}, h("dt", {}, words(name)), h("dd", {}, value)));
  const pace = h("input", { type: "number", name: "per_second", min: 1, max: 1_000_000, placeholder: "as fast as it goes" });
  return ask({
    title: `${VERB[kind]} ${plural(concerned, "dead letter")}?`,
    text: `${MEANING[kind]} Relays do it in batches; it survives a restart and can be cancelled.`,
    confirm: `${VERB[kind]} ${count(concerned)}`,
    danger: kind === "discard",
    fields: [
      h(
        "dl",
        { class: "facts" },
        chosen.length > 0 ? chosen : h("div", {}, h("dt", {}, "Which"), h("dd", {}, "all dead letters")),
      ),
      field("How many a second at most", pace),
    ],
    act: async () => {
      const body = { filter: selection };
      if (pace.value) body.per_second = Number(pace.value);
      const { job_id } = await post(`dead-letters/${kind}`, body);
      return `Job ${job_id} has begun`;
    },
  });
}

/** Changes a dead letter and sends it again, under a new id. */
export function edit(letter) {
  const payload = h("textarea", { name: "payload", rows: 12, spellcheck: "false", value: indented(letter) });
  const headers = h("textarea", {
    name: "headers",
    rows: 4,
    spellcheck: "false",
    value: JSON.stringify(letter.headers, null, 2),
  });
  const topic = text("topic", letter.topic);
  const before = { payload: payload.value, headers: headers.value };
  const hidden = letter.redacted && "Some of it is hidden behind ***. Write what belongs there, or leave the payload as it is.";
  return ask({
    title: `Edit and replay dead letter ${letter.dead_id}`,
    wide: true,
    confirm: "Replay with changes",
    text: "It is sent again under a new id, which points to the old one.",
    fields: [
      field("Payload", payload, hidden),
      field("Headers", headers, "as JSON: names and texts, all of them"),
      field("Topic", topic),
    ],
    act: async () => {
      const body = {};
      if (payload.value !== before.payload) body.payload = compact(payload.value);
      if (headers.value !== before.headers) body.headers = json(headers) ?? {};
      if (topic.value !== letter.topic) body.topic = topic.value;
      const { new_id } = await post(`dead-letters/${letter.dead_id}/edit`, body);
      return `Sent again as ${new_id}`;
    },
  });
}

/** Indented, if nothing but white space changes by it. */
function indented({ payload }) {
  try {
    const value = JSON.parse(payload);
    return JSON.stringify(value) === payload ? JSON.stringify(value, null, 2) : payload;
  } catch {
    return payload;
  }
}

function compact(written) {
  try {
    const value = JSON.parse(written);
    // What was indented for reading is sent as small as it came; what the browser would change stays as it was written.
    return JSON.stringify(value, null, 2) === written ? JSON.stringify(value) : written;
  } catch {
    return written;
  }
}
