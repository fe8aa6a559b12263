//! The faults of the dashboard: what a person sees, may do and is asked, in a real browser.

use super::{
    Fault,
    catcher::{Catcher, browser},
};

const ACTING_EVENT: &[Catcher] = &[browser("acting::an_event_is_seen")];
const ACTING_PUBLISH: &[Catcher] = &[browser("acting::an_event_is_published")];
const ACTING_DROP: &[Catcher] = &[browser("acting::a_subscription_is_dropped")];
const ASKING_EVENTS: &[Catcher] = &[browser("asking::events_are_there")];
const LOOKING_VIEWER: &[Catcher] = &[browser("looking::a_viewer")];
const LOOKING_LIVE: &[Catcher] = &[browser("looking::what_happens")];
const LOOKING_TOKEN: &[Catcher] = &[browser("looking::without_a_right_token")];
const LOOKING_KEYBOARD: &[Catcher] = &[browser("looking::the_keyboard")];

/// All of them.
pub(crate) const FAULTS: &[Fault] = &[
    Fault {
        name: "dashboard-takes-text-for-markup",
        breaks: "HTML in a payload becomes part of the page",
        file: "crates/server/dashboard/dom.js",
        find: "document.createTextNode(String(child))",
        replace: "document.createRange().createContextualFragment(String(child))",
        caught_by: ACTING_EVENT,
    },
    Fault {
        name: "dashboard-viewer-has-buttons",
        breaks: "a viewer is shown what only operators may do",
        file: "crates/server/dashboard/app.js",
        find: "operator: me.role === \"operator\",",
        replace: "operator: me.role !== \"\",",
        caught_by: LOOKING_VIEWER,
    },
    Fault {
        name: "dashboard-stream-is-not-shown",
        breaks: "what the live stream tells is heard and not shown",
        file: "crates/server/dashboard/live.js",
        find: "this.samples.push(JSON.parse(fields.data));",
        replace: "JSON.parse(fields.data);",
        caught_by: LOOKING_LIVE,
    },
    Fault {
        name: "dashboard-keeps-the-token",
        breaks: "who has logged out leaves the token in the browser",
        file: "crates/server/dashboard/api.js",
        find: "    sessionStorage.removeItem(KEY);\n",
        replace: "",
        caught_by: LOOKING_TOKEN,
    },
    Fault {
        name: "dashboard-page-behind-a-question",
        breaks: "while a question is asked the page behind it has the keyboard",
        file: "crates/server/dashboard/dialog.js",
        find: "dialog.showModal();",
        replace: "dialog.show();",
        caught_by: LOOKING_KEYBOARD,
    },
    Fault {
        name: "dashboard-drops-by-any-name",
        breaks: "a subscription is dropped although another name was typed",
        file: "crates/server/dashboard/pages/drop.js",
        find: "if (name.value.trim() !== own.name)",
        replace: "if (name.value.trim() === \"\")",
        caught_by: ACTING_DROP,
    },
    Fault {
        name: "dashboard-problem-not-at-its-field",
        breaks: "what is wrong with a field is said somewhere else",
        file: "crates/server/dashboard/form.js",
        find: "    box.append(told);\n",
        replace: "    form.append(told);\n",
        caught_by: ACTING_PUBLISH,
    },
    Fault {
        name: "dashboard-events-wait-for-names",
        breaks: "the events of a long log are shown only after the status of all subscriptions",
        file: "crates/server/dashboard/pages/events.js",
        find: "const learning = names(page);",
        replace: "const learning = names(page);\n  await learning;",
        caught_by: ASKING_EVENTS,
    },
];
