// Building the page: elements by function calls. Text is always text, and there is no way here to make markup of a string.

const SVG = "http://www.w3.org/2000/svg";

/** An element: `h("a", { class: "link", href: "events", onclick: f }, "Events", [more], null)`. */
export function h(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** The same for drawings. */
export function svg(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked" || name === "disabled" || name === "hidden") element[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...flat(children));
  return element;
}

function flat(children) {
  const found = children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
  return found.map((child) => (child instanceof Node ? child : document.createTextNode(String(child))));
}

/** Puts these in place of what is there. */
export function put(element, ...children) {
  element.replaceChildren(...flat(children));
  return element;
}

let ids = 0;

/** A new id, to tie a label or a heading to what it belongs to. */
export function id(name) {
  ids += 1;
  return `${name}-${ids}`;
}
