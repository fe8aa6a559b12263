// Jobs: what the relays do to many dead letters, and how far they are.

import { get, post } from "../api.js";
import { h, put } from "../dom.js";
import { count, rate, words } from "../format.js";
import { badge, button, section, toast, when } from "../parts.js";

const AGAIN = 1000;
/** How long a job that is over stays in sight. */
const LATELY = 10 * 60_000;

/** Shows jobs in a box for as long as the page is open. `finished` is called when one is over. */
export function jobs(page, box, finished) {
  let open = new Set();
  const draw = async () => {
    const found = await get("jobs", {}, page.signal).catch(() => null);
    if (!found) return;
    const now = new Set(found.items.filter(isOpen).map((job) => job.job_id));
    const over = [...open].some((id) => !now.has(id));
    open = now;
    const seen = found.items.filter((job) => isOpen(job) || Date.now() - new Date(job.finished_at) < LATELY).slice(0, 5);
    put(
      box,
      seen.length > 0 &&
        section(
          "Jobs",
          {},
          h(
            "ul",
            { class: "list" },
            seen.map((job) => item(page, job, draw)),
          ),
        ),
    );
    if (over) await finished();
  };
  page.every(AGAIN, () => open.size > 0 && draw());
  return { draw };
}

function isOpen(job) {
  return job.state === "waiting" || job.state === "running";
}

function item(page, job, draw) {
  const about = Object.entries(job.filter)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${words(name)} ${value}`)
    .join(", ");
  const bar = h("progress", {
    max: Math.max(1, job.concerned),
    value: job.state === "done" ? Math.max(1, job.concerned) : job.done,
    "aria-label": `Job ${job.job_id}`,
  });
  const cancel = async () => {
    try {
      await post(`jobs/${job.job_id}/cancel`);
      toast(`Job ${job.job_id} is cancelled`);
    } catch (error) {
      toast(error.message, "bad");
    }
    await draw();
  };
  const pace = job.per_second ? ` at most ${rate(job.per_second)} a second` : "";
  return h(
    "li",
    {},
    badge(job.state),
    h(
      "div",
      { class: "grow" },
      h(
        "p",
        {},
        h("b", {}, `${job.kind} ${count(job.done)} of ${count(job.concerned)}`),
        h("span", { class: "muted" }, ` ${about || "all dead letters"}${pace}`),
      ),
      bar,
      h("p", { class: "muted small" }, `Job ${job.job_id}, asked for by ${job.requested_by} at `, when(job.requested_at)),
      job.error && h("p", { class: "error-text" }, job.error),
    ),
    page.operator && isOpen(job) && button("Cancel job", cancel, "small"),
  );
}
