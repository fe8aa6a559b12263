// The configuration that counts, without secrets.

import { get } from "../api.js";
import { h, put } from "../dom.js";
import { copy, empty, load, section } from "../parts.js";

export const title = "Configuration";

export async function show(page) {
  const box = h("div");
  put(page.body, box);
  await load(
    box,
    async () => {
      try {
        const { text } = await get("config", {}, page.signal);
        const aside = h(
          "span",
          { class: "with-button" },
          h("span", { class: "muted" }, "defaults included, secrets left out"),
          copy(text, "Configuration"),
        );
        return section(
          "Of the relay that serves this",
          { aside },
          h("pre", { class: "whole", tabindex: "0", "aria-label": "Configuration" }, h("code", {}, text.split("\n").map(line))),
        );
      } catch (error) {
        if (error.status !== 404) throw error;
        return section(
          "Configuration",
          {},
          empty("There is none to show", "This server was started by a program, and not by a file."),
        );
      }
    },
    12,
  );
}

/** A line of the file: comments step back, names stand out. */
function line(text) {
  const [, before, name, rest, comment] = text.match(/^(\s*(?:- )?)([\w.-]+:)?(.*?)((?:^|\s)#.*)?$/s) ?? [null, "", "", text, ""];
  return [before, name && h("span", { class: "json-name" }, name), rest, comment && h("span", { class: "muted" }, comment), "\n"];
}
