// Fields, what is wrong with them, and filters: forms whose fields are the query of the page's address, so that a filter can be sent to
// somebody.

import { wrong } from "./api.js";
import { h, id } from "./dom.js";

/** A field with its label. */
export function field(label, control, hint) {
  control.id ||= id("field");
  const told = hint && h("small", { id: id("hint"), class: "muted" }, hint);
  if (told) control.setAttribute("aria-describedby", told.id);
  return h("div", { class: "field" }, h("label", { for: control.id }, label), control, told);
}

/** A line of text. */
export function text(name, value = "", attributes = {}) {
  return h("input", { type: "text", name, autocomplete: "off", spellcheck: "false", ...attributes, value: value ?? "" });
}

/** One of several: `[[value, text], …]`. */
export function choice(name, options, value = "", attributes = {}) {
  const items = options.map(([option, shown]) => h("option", { value: option, selected: option === (value ?? "") }, shown));
  return h("select", { name, ...attributes }, items);
}

/** A time, as this place has it; the address has it in UTC. */
export function moment(name, value) {
  const at = value ? new Date(value) : null;
  const local =
    at && !Number.isNaN(at.getTime()) ? new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19) : "";
  return h("input", { type: "datetime-local", name, step: 1, value: local });
}

/** A tick. */
export function tick(name, label, checked) {
  return h("label", { class: "tick" }, h("input", { type: "checkbox", name, value: "true", checked }), label);
}

/** What a form says: without what is empty, times in UTC. */
export function read(form) {
  const found = new URLSearchParams();
  for (const [name, value] of new FormData(form)) {
    const told = typeof value === "string" ? value.trim() : "";
    if (told === "") continue;
    const control = form.elements.namedItem(name);
    found.set(name, control.type === "datetime-local" ? new Date(told).toISOString() : told);
  }
  return found;
}

/** What a control says as JSON; nothing if it is empty. */
export function json(control) {
  if (control.value.trim() === "") return undefined;
  try {
    return JSON.parse(control.value);
  } catch (error) {
    throw wrong(control.name, `is not JSON: ${error.message}`);
  }
}

/** Says what is wrong with a form, each at its field, and answers with what has none. */
export function complain(form, { fields = [], message }) {
  const elsewhere = fields.filter(({ field: name, detail }) => {
    const control = form.elements.namedItem(name);
    const box = control?.closest?.(".field");
    if (!box) return true;
    const told = h("small", { id: id("wrong"), class: "wrong", role: "alert" }, `${name} ${detail}`);
    control.setAttribute("aria-invalid", "true");
    control.setAttribute("aria-errormessage", told.id);
    box.append(told);
    return false;
  });
  form.querySelector("[aria-invalid]")?.focus();
  return fields.length === 0 ? message : elsewhere.map(({ field: name, detail }) => `${name} ${detail}`).join("; ");
}

/** Takes back what was said of a form. */
export function forgive(form) {
  form.querySelectorAll(".wrong").forEach((told) => told.remove());
  form.querySelectorAll("[aria-invalid]").forEach((control) => {
    control.removeAttribute("aria-invalid");
    control.removeAttribute("aria-errormessage");
  });
}

/** A filter over `page`: what is in sight, and what is behind "More filters". */
export function filter(page, go, params, { fields, more = [] }) {
  const inner = more.some(([name]) => params.has(name));
  const list = (items, last) =>
    h(
      "div",
      { class: "fields" },
      items.map(([, element]) => element),
      last,
    );
  const clear = [...params.keys()].length > 0 && h("a", { class: "button", href: page }, "Clear");
  const actions = h("div", { class: "actions" }, h("button", { type: "submit", class: "button primary" }, "Filter"), clear);
  const submit = (event) => {
    event.preventDefault();
    const query = read(event.currentTarget).toString();
    go(query ? `${page}?${query}` : page);
  };
  return h(
    "form",
    { class: "card filter", onsubmit: submit, "aria-label": "Filter" },
    list(fields, actions),
    more.length > 0 && h("details", { open: inner }, h("summary", {}, "More filters"), list(more)),
  );
}
