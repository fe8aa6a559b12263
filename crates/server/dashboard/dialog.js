// Questions before something is done. The browser keeps the focus inside, closes at Escape, and gives the focus back.

import { h, id } from "./dom.js";
import { complain, forgive } from "./form.js";
import { button, toast } from "./parts.js";

/** Asks: `fields` between the text and the buttons; `act(form)` does it and answers with what to say, or throws a problem to show. */
export function ask({ title, text, fields, act, confirm, danger, wide }) {
  return new Promise((resolve) => {
    const name = id("dialog");
    const trouble = h("p", { class: "trouble", role: "alert", hidden: true });
    const yes = h("button", { type: "submit", class: `button ${danger ? "danger" : "primary"}` }, confirm);
    let done = false;
    const submit = async (event) => {
      event.preventDefault();
      yes.disabled = true;
      trouble.hidden = true;
      forgive(form);
      try {
        const said = await act(form, dialog);
        done = true;
        dialog.close();
        if (said) toast(said);
      } catch (error) {
        trouble.textContent = complain(form, error);
        trouble.hidden = trouble.textContent === "";
      }
      yes.disabled = false;
    };
    const form = h(
      "form",
      { onsubmit: submit },
      h("h2", { id: name }, title),
      text && h("p", { class: "muted" }, text),
      fields,
      trouble,
      h(
        "div",
        { class: "actions end" },
        button("Cancel", () => dialog.close()),
        yes,
      ),
    );
    const dialog = h("dialog", { class: wide ? "wide" : "", "aria-labelledby": name }, form);
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(done);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
