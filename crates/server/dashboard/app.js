// The frame around all pages: who looks, where things are, and the way from one page to another.

import { get, session } from "./api.js";
import { h, put } from "./dom.js";
import { Live } from "./live.js";
import { failed, loading } from "./parts.js";
import * as audit from "./pages/audit.js";
import * as configuration from "./pages/configuration.js";
import * as deadLetter from "./pages/dead-letter.js";
import * as deadLetters from "./pages/dead-letters.js";
import * as event from "./pages/event.js";
import * as events from "./pages/events.js";
import * as key from "./pages/key.js";
import * as login from "./pages/login.js";
import * as overview from "./pages/overview.js";
import * as relays from "./pages/relays.js";
import * as subscriptions from "./pages/subscriptions.js";

const PAGES = {
  "": overview,
  events,
  event,
  key,
  "dead-letters": deadLetters,
  "dead-letter": deadLetter,
  subscriptions,
  relays,
  configuration,
  audit,
};
const NAVIGATION = [
  ["", "Overview"],
  ["events", "Events"],
  ["key", "Keys"],
  ["dead-letters", "Dead letters"],
  ["subscriptions", "Subscriptions"],
  ["relays", "Relays and lanes"],
  ["configuration", "Configuration"],
  ["audit", "Audit"],
];
/** A page of one thing belongs to the page of all of them. */
const PARENT = { event: "events", "dead-letter": "dead-letters" };
const ROOT = new URL(".", import.meta.url).pathname;

const app = document.getElementById("app");
let me = null;
let live = null;
let leaving = new AbortController();
let main = null;
let links = [];

function place() {
  return location.pathname.slice(ROOT.length).replace(/\/$/, "");
}

/** Goes to a page. */
function go(address, { replace = false } = {}) {
  history[replace ? "replaceState" : "pushState"](null, "", address || ROOT);
  show({ arrived: true });
}

async function show({ arrived = false } = {}) {
  leaving.abort();
  leaving = new AbortController();
  const name = place();
  const page = PAGES[name];
  links.forEach(([own, link]) => {
    const current = own === (PARENT[name] ?? name);
    if (current) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  });
  document.body.classList.remove("menu-open");
  const heading = h("h1", { tabindex: "-1" }, page?.title ?? "No such page");
  const side = h("div", { class: "page-side" });
  const body = h("div", { class: "page-body" });
  put(main, h("header", { class: "page-head" }, heading, side), body);
  document.title = `${page?.title ?? "No such page"} · Posthaste`;
  // Who reads with the ears hears where he is; who uses the keyboard goes on from here.
  if (arrived) heading.focus({ preventScroll: true });
  if (arrived) scrollTo(0, 0);
  const { signal } = leaving;
  const context = {
    body,
    side,
    heading,
    live,
    me,
    go,
    signal,
    params: new URLSearchParams(location.search),
    operator: me.role === "operator",
    refresh: () => show(),
    /** Calls it every so often, while the page is open and seen. */
    every(milliseconds, act) {
      const timer = setInterval(() => document.hidden || act(), milliseconds);
      signal.addEventListener("abort", () => clearInterval(timer), { once: true });
    },
  };
  try {
    if (page) await page.show(context);
    else put(body, h("p", {}, "There is no page here. ", h("a", { href: ROOT }, "Go to the overview.")));
  } catch (error) {
    if (error.name === "AbortError" || signal.aborted) return;
    if (error.status === 401) return logOut();
    put(
      body,
      failed(error, () => show()),
    );
    if (!("status" in error)) console.error(error);
  }
}

/** A link inside the dashboard changes the page without asking the server for it. */
function follow(event) {
  const link = event.target.closest("a[href]");
  const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (!link || !plain || link.origin !== location.origin || link.hash || link.target || !me) return;
  event.preventDefault();
  go(link.pathname + link.search);
}

function frame() {
  links = NAVIGATION.map(([name, text]) => [name, h("a", { href: ROOT + name }, text)]);
  const menu = h(
    "button",
    { type: "button", class: "button menu", "aria-expanded": "false", "aria-controls": "navigation" },
    "Menu",
  );
  menu.addEventListener("click", () => menu.setAttribute("aria-expanded", document.body.classList.toggle("menu-open")));
  main = h("main", { id: "main", tabindex: "-1" });
  const brand = h(
    "a",
    { class: "brand", href: ROOT },
    h("img", { src: `${ROOT}icon.svg`, alt: "", width: 26, height: 26 }),
    "Posthaste",
  );
  const out = session.known && h("button", { type: "button", class: "button small", onclick: logOut }, "Log out");
  const who = h("p", { class: "who" }, h("b", {}, me.name), h("span", { class: "muted" }, me.role));
  const foot = h("div", { class: "side-foot" }, who, themes(), out, h("p", { class: "muted version" }, `Version ${me.version}`));
  const side = h(
    "div",
    { class: "side" },
    h("div", { class: "side-head" }, brand, pulse(), menu),
    h(
      "div",
      { id: "navigation", class: "side-body" },
      h(
        "nav",
        { "aria-label": "Pages" },
        links.map(([, link]) => link),
      ),
      foot,
    ),
  );
  put(app, h("a", { class: "skip", href: "#main" }, "Skip to the page"), h("div", { class: "frame" }, side, main));
}

/** Whether figures are live. */
function pulse() {
  const text = h("span", {}, "Connecting");
  const element = h("p", { class: "pulse", role: "status" }, h("i", { class: "dot" }), text);
  const tell = () => {
    text.textContent = live.connected ? "Live" : "Reconnecting";
    element.classList.toggle("is-live", live.connected);
  };
  live.addEventListener("state", tell);
  return element;
}

function themes() {
  const names = { system: "As the system", light: "Light", dark: "Dark" };
  const options = Object.entries(names).map(([value, text]) =>
    h("option", { value, selected: value === posthasteTheme.get() }, text),
  );
  return h(
    "label",
    { class: "theme" },
    h("span", {}, "Colours"),
    h("select", { onchange: (event) => posthasteTheme.set(event.target.value) }, options),
  );
}

function logOut() {
  leaving.abort();
  live?.stop();
  session.forget();
  me = null;
  start();
}

async function start() {
  if (!session.known) {
    const needed = (await get("login")).token_needed;
    if (needed) return login.show(app, start);
  }
  try {
    me = await get("me");
  } catch (error) {
    session.forget();
    return login.show(app, start, error);
  }
  live = new Live();
  live.addEventListener("refused", logOut);
  frame();
  live.start();
  show();
}

document.addEventListener("click", follow);
// A page that is kept for the way back must not keep its stream.
addEventListener("pagehide", () => live?.stop());
addEventListener("pageshow", (event) => event.persisted && location.reload());
addEventListener("popstate", () => me && show({ arrived: true }));
put(app, loading());
start().catch((error) =>
  put(
    app,
    failed(error, () => location.reload()),
  ),
);
