// Logging in with a token.

import { get, session } from "../api.js";
import { h, put } from "../dom.js";
import { field } from "../form.js";

/** Asks for a token until one is right, and then goes on. */
export function show(app, start, problem) {
  document.title = "Log in · Posthaste";
  const token = h("input", {
    type: "password",
    name: "token",
    autocomplete: "current-password",
    spellcheck: "false",
    required: true,
  });
  const trouble = h("p", { class: "trouble", role: "alert", hidden: !problem }, problem?.message);
  const submit = async (event) => {
    event.preventDefault();
    session.keep(token.value.trim());
    try {
      await get("me");
      start();
    } catch (error) {
      session.forget();
      trouble.textContent = error.message;
      trouble.hidden = false;
      token.select();
    }
  };
  const form = h(
    "form",
    { class: "card login", onsubmit: submit },
    h("img", { src: "icon.svg", alt: "", width: 44, height: 44 }),
    h("h1", {}, "Posthaste"),
    h("p", { class: "muted" }, "Log in with a token of this server. It is kept for this tab only."),
    // Who keeps passwords wants a name beside them.
    h("input", { type: "text", name: "name", autocomplete: "username", value: "Posthaste", hidden: true }),
    field("Token", token),
    trouble,
    h("button", { type: "submit", class: "button primary" }, "Log in"),
    h(
      "p",
      { class: "muted small" },
      "Tokens are listed under ",
      h("code", {}, "server.tokens"),
      " in the relay's file. A viewer's token shows everything, an operator's also acts.",
    ),
  );
  put(app, h("main", { class: "login-box" }, form));
  token.focus();
}
