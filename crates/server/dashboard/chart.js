// Charts, drawn by hand: lines over the last minutes, with one filled below, a grid, and the figures under the pointer.

import { h, put, svg } from "./dom.js";
import { time } from "./format.js";

const HEIGHT = 150;
const INSET = { top: 8, right: 2, bottom: 20, left: 44 };

/** `lines`: `[{ label, tone, area }]`, `of(sample)`: their values in that order, null for none; `format`: a value as text. */
export class Chart {
  constructor({ title, lines, of, format, unit }) {
    Object.assign(this, { lines, of, format, samples: [] });
    this.figure = h("strong", { class: "chart-figure" }, "–");
    this.canvas = svg("svg", { class: "chart-canvas", role: "img", height: HEIGHT });
    this.tip = h("div", { class: "chart-tip", hidden: true });
    const legend = lines.map((line) => h("li", {}, h("i", { class: `swatch tone-${line.tone}` }), line.label));
    this.element = h(
      "figure",
      { class: "card chart" },
      h(
        "figcaption",
        {},
        h("span", { class: "chart-title" }, title),
        h("span", { class: "chart-now" }, this.figure, " ", h("small", {}, unit)),
      ),
      h("div", { class: "chart-area" }, this.canvas, this.tip),
      h("ul", { class: "legend" }, legend),
    );
    this.title = title;
    this.canvas.addEventListener("pointermove", (event) => this.#point(event));
    this.canvas.addEventListener("pointerleave", () => this.#leave());
    this.watcher = new ResizeObserver(() => this.#draw());
    this.watcher.observe(this.canvas);
  }

  /** Shows these samples, as the last so many seconds. */
  show(samples, seconds) {
    this.samples = samples.slice(-seconds);
    this.seconds = seconds;
    this.values = this.samples.map(this.of);
    this.#draw();
  }

  close() {
    this.watcher.disconnect();
  }

  #draw() {
    const width = this.canvas.clientWidth;
    if (!this.values || width === 0) return;
    this.canvas.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    const top = nice(Math.max(0, ...this.values.flat().filter((value) => value !== null)));
    this.scale = {
      x: (index) =>
        INSET.left +
        ((this.seconds - this.samples.length + index) / Math.max(1, this.seconds - 1)) * (width - INSET.left - INSET.right),
      y: (value) => INSET.top + (1 - value / top) * (HEIGHT - INSET.top - INSET.bottom),
    };
    this.cursor = svg("line", { class: "chart-cursor", y1: INSET.top, y2: HEIGHT - INSET.bottom, visibility: "hidden" });
    put(
      this.canvas,
      this.#grid(top, width),
      this.lines.map((line, index) => this.#line(line, index)),
      this.cursor,
    );
    const last = this.values.at(-1);
    this.figure.textContent = last && last[0] !== null ? this.format(last[0]) : "–";
    const said = this.lines.map(
      (line, index) => `${line.label} ${last && last[index] !== null ? this.format(last[index]) : "none"}`,
    );
    this.canvas.setAttribute("aria-label", `${this.title}: ${said.join(", ")}`);
    if (this.pointed) this.#mark(this.pointed);
  }

  #grid(top, width) {
    const steps = [0, 0.5, 1].map((share) => {
      const y = this.scale.y(top * share);
      const label = svg(
        "text",
        { class: "chart-label", x: INSET.left - 8, y: y + 4, "text-anchor": "end" },
        this.format(top * share),
      );
      return [svg("line", { class: "chart-grid", x1: INSET.left, x2: width - INSET.right, y1: y, y2: y }), label];
    });
    const ago = svg("text", { class: "chart-label", x: INSET.left, y: HEIGHT - 4 }, `${Math.round(this.seconds / 60)} min ago`);
    const now = svg("text", { class: "chart-label", x: width - INSET.right, y: HEIGHT - 4, "text-anchor": "end" }, "now");
    return [steps, ago, now];
  }

  #line(line, index) {
    const runs = [[]];
    this.values.forEach((values, at) => {
      if (values[index] === null) runs.push([]);
      else runs.at(-1).push([this.scale.x(at), this.scale.y(values[index])]);
    });
    return runs
      .filter((run) => run.length > 0)
      .map((run) => {
        const path = `M${run.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join("L")}`;
        const ground = this.scale.y(0).toFixed(1);
        const area = `${path}L${run.at(-1)[0].toFixed(1)},${ground}L${run[0][0].toFixed(1)},${ground}Z`;
        // A single second would be a line without length.
        const dot =
          run.length === 1 && svg("circle", { class: `chart-dot tone-${line.tone}`, cx: run[0][0], cy: run[0][1], r: 1.6 });
        return svg(
          "g",
          {},
          line.area && svg("path", { class: `chart-fill tone-${line.tone}`, d: area }),
          svg("path", { class: `chart-line tone-${line.tone}`, d: path }),
          dot,
        );
      });
  }

  #point(event) {
    const box = this.canvas.getBoundingClientRect();
    this.pointed = { x: event.clientX - box.left, width: box.width };
    this.#mark(this.pointed);
  }

  #mark({ x, width }) {
    const share = (x - INSET.left) / (width - INSET.left - INSET.right);
    const index = Math.round(share * (this.seconds - 1)) - (this.seconds - this.samples.length);
    const values = this.values[index];
    this.tip.hidden = !values;
    this.cursor.setAttribute("visibility", values ? "visible" : "hidden");
    if (!values) return;
    const at = this.scale.x(index);
    this.cursor.setAttribute("x1", at);
    this.cursor.setAttribute("x2", at);
    const rows = this.lines.map((line, line_) =>
      h(
        "div",
        {},
        h("i", { class: `swatch tone-${line.tone}` }),
        line.label,
        h("b", {}, values[line_] === null ? "–" : this.format(values[line_])),
      ),
    );
    put(this.tip, h("div", { class: "muted" }, time(this.samples[index].at)), rows);
    this.tip.classList.toggle("is-left", at > width / 2);
    this.tip.style.setProperty("--x", `${at}px`);
  }

  #leave() {
    this.pointed = null;
    this.tip.hidden = true;
    this.cursor?.setAttribute("visibility", "hidden");
  }
}

/** A line in the height of a text. */
export function sparkline(values) {
  const [width, height] = [96, 22];
  const top = Math.max(1e-9, ...values);
  const points = values.map(
    (value, index) =>
      `${((index / Math.max(1, values.length - 1)) * width).toFixed(1)},${(height - 2 - (value / top) * (height - 4)).toFixed(1)}`,
  );
  return svg(
    "svg",
    { class: "sparkline", viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true" },
    svg("polyline", { class: "chart-line tone-accent", points: points.join(" ") }),
  );
}

/** The next round number: where the scale ends. */
export function nice(value) {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 5, 10].find((step) => value <= step * power);
  return step * power;
}
