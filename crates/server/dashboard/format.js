// Figures and times as people read them.

const WHOLE = new Intl.NumberFormat("en");
const ONE = new Intl.NumberFormat("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const COMPACT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const FULL = new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeStyle: "long" });

/** A count; `≈` if it is an estimate. */
export function count(number, estimated = false) {
  return (estimated ? "≈ " : "") + WHOLE.format(number);
}

/** A count in little room: 12.3K. */
export function short(number) {
  return number < 10_000 ? WHOLE.format(Math.round(number)) : COMPACT.format(number);
}

/** A rate, with a digit after the point as long as that says something. */
export function rate(number) {
  if (number === 0) return "0";
  return number < 100 ? ONE.format(number) : short(number);
}

/** A time span from seconds. */
export function span(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds < 0.001) return "0 s";
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 10) return `${ONE.format(seconds)} s`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}

/** Bytes. */
export function bytes(number) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  while (number >= 1000 && unit < units.length - 1) {
    number /= 1000;
    unit += 1;
  }
  return `${unit === 0 || number >= 100 ? Math.round(number) : ONE.format(number)} ${units[unit]}`;
}

/** The time of a day, and the day if it is another one. */
export function time(text) {
  const at = new Date(text);
  const today = at.toDateString() === new Date().toDateString();
  return today ? CLOCK.format(at) : `${DAY.format(at)}, ${CLOCK.format(at)}`;
}

/** The time with thousandths, for things that happen close together. */
export function exact(text) {
  return `${time(text)}.${String(new Date(text).getMilliseconds()).padStart(3, "0")}`;
}

/** Everything about a time. */
export function full(text) {
  return `${FULL.format(new Date(text))} (${text})`;
}

/** How long ago, or in how long. */
export function ago(text, now = Date.now()) {
  const seconds = (now - new Date(text).getTime()) / 1000;
  if (Math.abs(seconds) < 1) return "now";
  return seconds > 0 ? `${span(seconds)} ago` : `in ${span(-seconds)}`;
}

/** One or many. */
export function plural(number, one, many = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : many}`;
}

/** A word of the API in words of people: `max_retries_exceeded` becomes `max retries exceeded`. */
export function words(text) {
  return text.replaceAll("_", " ");
}
