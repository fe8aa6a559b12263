// What happens, as it happens: the stream of the API, and what was before it.

import { get, open } from "./api.js";

/** How many seconds are kept. */
export const KEPT = 900;
const AGAIN = 2000;

/** Tells of `sample` (each second), `notice` and `state` (whether the stream is there). */
export class Live extends EventTarget {
  samples = [];
  notices = [];
  connected = false;
  #stopped = new AbortController();

  /** Reads for ever, until it is stopped. */
  async start() {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      // A browser has few connections to one server, and a stream takes one: who is not looked at gives it back.
      const turn = new AbortController();
      const leave = () => document.hidden && turn.abort();
      document.addEventListener("visibilitychange", leave, { signal });
      try {
        await seen(signal);
        await this.#read(AbortSignal.any([signal, turn.signal]));
      } catch (error) {
        if (error.status === 401) this.dispatchEvent(new CustomEvent("refused", { detail: error }));
      }
      document.removeEventListener("visibilitychange", leave);
      this.#connect(false);
      if (!turn.signal.aborted) await pause(AGAIN, signal);
    }
  }

  stop() {
    this.#stopped.abort();
  }

  /** The last second; none before the first. */
  get last() {
    return this.samples.at(-1);
  }

  /** Asks for what was before: so many seconds, and what happened lately. */
  async past(seconds, signal) {
    const [history, lately] = await Promise.all([get("history", { seconds }, signal), get("notices", {}, signal)]);
    this.samples = history.times.map((at, index) => {
      const seconds = Object.entries(history.subscriptions).filter(([, column]) => column[index]);
      return { at, subscriptions: Object.fromEntries(seconds.map(([name, column]) => [name, column[index]])) };
    });
    this.notices = lately.items;
    this.dispatchEvent(new Event("sample"));
    this.dispatchEvent(new Event("notice"));
  }

  // EventSource cannot send the header with the token, so the stream is read by hand.
  async #read(signal) {
    const response = await open("live", { signal });
    this.#connect(true);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      text += value;
      const frames = text.split("\n\n");
      text = frames.pop();
      frames.forEach((frame) => this.#hear(frame));
    }
  }

  #hear(frame) {
    const fields = Object.fromEntries(frame.split("\n").map((line) => line.split(/: (.*)/s, 2)));
    if (fields.event === "sample") {
      this.samples.push(JSON.parse(fields.data));
      this.samples.splice(0, this.samples.length - KEPT);
    } else if (fields.event === "notice") {
      this.notices.unshift(JSON.parse(fields.data));
      this.notices.length = Math.min(this.notices.length, 100);
    } else {
      return;
    }
    this.dispatchEvent(new Event(fields.event));
  }

  #connect(connected) {
    if (this.connected === connected) return;
    this.connected = connected;
    this.dispatchEvent(new Event("state"));
  }
}

/** Waits until the page is looked at. */
function seen(signal) {
  if (!document.hidden) return Promise.resolve();
  return new Promise((resolve) => document.addEventListener("visibilitychange", resolve, { once: true, signal }));
}

function pause(milliseconds, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });
}
