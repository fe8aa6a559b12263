// JSON as people read it. Only white space is changed: a number with twenty digits or a name that is there twice stays as it was sent.

import { h } from "./dom.js";

const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null|[{}[\],:]/g;
/** Longer payloads are shown as they are: nobody reads their colours, and the browser would have to build them. */
const LONGEST = 200_000;

/** The text as elements: indented and coloured if it is JSON, and as it is otherwise. */
export function pretty(text) {
  if (text.length > LONGEST || !isJson(text)) return h("code", {}, text);
  const parts = [];
  let depth = 0;
  const tokens = text.match(TOKEN) ?? [];
  const line = () => `\n${"  ".repeat(depth)}`;
  tokens.forEach((token, index) => {
    const next = tokens[index + 1];
    if (token === "{" || token === "[") {
      const closed = next === "}" || next === "]";
      depth += 1;
      parts.push(token, closed ? "" : line());
    } else if (token === "}" || token === "]") {
      depth -= 1;
      const before = tokens[index - 1];
      parts.push(before === "{" || before === "[" ? "" : line(), token);
    } else if (token === ",") {
      parts.push(",", line());
    } else if (token === ":") {
      parts.push(": ");
    } else {
      parts.push(h("span", { class: kind(token, next) }, token));
    }
  });
  return h("code", {}, parts);
}

function kind(token, next) {
  if (token.startsWith('"')) return next === ":" ? "json-name" : "json-text";
  return "json-value";
}

function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
