//! What has happened, in one line: for people, or for programs.

use posthaste::{StatusWord, Timestamp};
use serde_json::json;

use super::follow::Happened;
use crate::{
    desk::Desk,
    screen::{ago, counted, cut, json_line, stamp, tame},
};

/// How wide the type and the key are, so that an id fits behind them.
fn widths(columns: usize) -> (usize, usize) {
    if columns >= 97 { (20, 12) } else { (10, 5) }
}

/// For people.
pub(super) fn text(desk: &Desk, happened: &Happened<'_>) -> String {
    let Happened { event, at, status } = happened;
    let look = desk.look;
    let (what, detail) = match status {
        None => ("published", event.id.to_string()),
        Some(status) => (status.status.as_str(), format!("→ {}", detail(status, *at))),
    };
    let (type_width, key_width) = widths(desk.columns);
    let event_type = cut(&tame(&event.event_type), type_width);
    let key = cut(&tame(event.key.as_deref().unwrap_or("-")), key_width);
    let rest = format!("{event_type:<type_width$}  {key:<key_width$}  {}", tame(&detail));
    let width = desk.columns.saturating_sub(12 + 2 + 9 + 2).max(40);
    let what = format!("{what:<9}");
    let what = match status.map(|status| status.status) {
        None => look.strong(what).to_string(),
        Some(StatusWord::Delivered) => look.good(what).to_string(),
        Some(StatusWord::Failed) => look.warning(what).to_string(),
        Some(StatusWord::Dead) => look.bad(what).to_string(),
        Some(_) => look.faint(what).to_string(),
    };
    format!("{}  {what}  {}\n", look.faint(&stamp(*at)[11..23]), cut(&rest, width))
}

fn detail(status: &posthaste::EventStatus, now: Timestamp) -> String {
    let mut parts = vec![status.subscription.clone()];
    if status.status == StatusWord::Failed && status.attempts > 0 {
        parts.push(counted(status.attempts.into(), "attempt"));
    }
    let due = if status.status == StatusWord::Delayed { "due" } else { "again" };
    parts.extend(status.due_at.filter(|at| *at > now).map(|at| format!("{due} {}", ago(at, now))));
    parts.extend(status.blocked_by.map(|position| format!("waits for position {}", position.0)));
    let text = parts.join(", ");
    match &status.last_error {
        Some(error) if status.status != StatusWord::Delivered => format!("{text}: {error}"),
        _ => text,
    }
}

/// For programs.
pub(super) fn json(happened: &Happened<'_>) -> anyhow::Result<String> {
    let Happened { event, at, status } = happened;
    let Some(status) = status else {
        let mut value = json!(event);
        value["what"] = "published".into();
        value["at"] = at.0.into();
        if let Some(fields) = value.as_object_mut() {
            fields.remove("statuses");
        }
        return json_line(&value);
    };
    json_line(&json!({
        "what": status.status,
        "at": at.0,
        "id": event.id,
        "position": event.position.0,
        "event_type": event.event_type,
        "key": event.key,
        "subscription": status.subscription,
        "attempts": status.attempts,
        "error": status.last_error,
        "due_at": status.due_at,
        "blocked_by": status.blocked_by,
    }))
}
