// Publishing an event by hand. What the API does not like is said at the field.

import { post } from "../api.js";
import { ask } from "../dialog.js";
import { h } from "../dom.js";
import { field, json, text } from "../form.js";

/** Asks for an event and publishes it. Answers with its id; none if nobody wanted to. */
export async function publish() {
  const type = text("event_type", "", { placeholder: "order.placed" });
  const topic = text("topic");
  const key = text("key");
  const area = (name, rows, placeholder) => h("textarea", { name, rows, spellcheck: "false", placeholder });
  const payload = area("payload", 6, '{ "order": 7 }');
  const headers = area("headers", 3, '{ "trace": "by hand" }');
  let id = null;
  await ask({
    title: "Publish an event",
    wide: true,
    text: "It is written in a transaction of its own and delivered like any other. A header says that it was you.",
    confirm: "Publish",
    fields: [
      h(
        "div",
        { class: "fields" },
        field("Type", type),
        field("Topic", topic, "as the outbox derives it, if empty"),
        field("Key", key, "no order, if empty"),
      ),
      field("Payload", payload, "any JSON"),
      field("Headers", headers, "as JSON: names and texts"),
    ],
    act: async () => {
      const published = await post("events", body({ type, topic, key, payload, headers }));
      id = published.id;
      return `Published as ${id}`;
    },
  });
  return id;
}

/** Without what is empty. The payload is sent as it is written: read and written again, large numbers would be others. */
function body({ type, topic, key, payload, headers }) {
  const given = { headers: json(headers) };
  for (const control of [type, topic, key]) given[control.name] = control.value.trim() || undefined;
  const members = Object.entries(given).filter(([, value]) => value !== undefined);
  const texts = members.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
  if (json(payload) !== undefined) texts.push(`"payload":${payload.value}`);
  return `{${texts.join(",")}}`;
}
