// The API, and who asks it. The token is kept for this tab only, and never in a cookie: no other site can make the browser send it.

const KEY = "posthaste-token";
// Beside this file, wherever that is: a proxy may serve everything below a path of its own.
const BASE = new URL("api/v1/", import.meta.url);

/** What the API answers instead of what was asked for. */
export class Problem extends Error {
  constructor(status, body) {
    super(body.detail || body.title || `the server answered with ${status}`);
    this.status = status;
    this.title = body.title || "this failed";
    this.fields = body.errors ?? [];
  }
}

let token = sessionStorage.getItem(KEY) ?? "";

export const session = {
  get known() {
    return token !== "";
  },
  keep(given) {
    token = given;
    sessionStorage.setItem(KEY, given);
  },
  forget() {
    token = "";
    sessionStorage.removeItem(KEY);
  },
};

/** Asks: the answer as it comes. */
export async function open(path, { query, ...options } = {}) {
  const url = new URL(path, BASE);
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined && value !== null && value !== "") url.searchParams.set(name, value);
  }
  const headers = { ...options.headers };
  if (token) headers.authorization = `Bearer ${token}`;
  let response;
  try {
    response = await fetch(url, { ...options, headers });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, { title: "the server does not answer", detail: "it cannot be reached; it is tried again when you ask" });
  }
  if (response.ok) return response;
  const body = await response.json().catch(() => ({}));
  throw new Problem(response.status, body);
}

/** Asks for something. */
export async function get(path, query, signal) {
  return (await open(path, { query, signal })).json();
}

/** Does something. What to do is an object, or JSON that is written already. */
export async function post(path, body = {}) {
  const headers = { "content-type": "application/json" };
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return (await open(path, { method: "POST", headers, body: text })).json();
}

/** Removes something. */
export async function remove(path, query) {
  return (await open(path, { method: "DELETE", query })).json();
}

/** A problem with one field, as the API would tell it. */
export function wrong(field, detail) {
  return new Problem(0, { detail: `${field} ${detail}`, errors: [{ field, detail }] });
}

/** A name as part of a path. */
export const part = encodeURIComponent;
