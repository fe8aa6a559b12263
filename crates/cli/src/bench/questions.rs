//! Which pages are opened, and what the dashboard asks the API for each.

use std::time::Duration;

use anyhow::Context;
use posthaste::{Clock, SystemClock};
use serde_json::Value;

use super::pages::Caller;
use crate::screen::stamp;

/// A page, or one part of it.
pub(super) struct Question {
    pub(super) page: &'static str,
    pub(super) what: &'static str,
    /// As the dashboard asks: steps one after the other, and the paths of one step together.
    pub(super) steps: Vec<Vec<String>>,
}

/// Pages as they are opened. Only that of relays has two steps: unless the address names a subscription, the status says whose lanes are shown.
const WHOLE: [(&str, &[&[&str]]); 5] = [
    ("overview", &[&["checks", "status", "history?seconds=300", "notices"]]),
    ("events", &[&["subscriptions", "events"]]),
    ("dead letters", &[&["dead-letters/groups", "dead-letters", "jobs"]]),
    ("subscriptions", &[&["subscriptions", "checks"]]),
    ("relays", &[&["status"], &["subscriptions/search/lanes"]]),
];

/// The middle of the log, and a moment in the two bad hours.
const HALF: Duration = Duration::from_secs(60 * 60 * 60);
const BAD: Duration = Duration::from_secs(60 * 60);

/// Filters of events: those that most events fit, and those that few or none do, which is where a search is longest.
const EVENTS: [(&str, &str); 22] = [
    ("newest", ""),
    ("oldest", "sort=oldest"),
    ("type", "event_type=order.step-07"),
    ("type that none has", "event_type=none"),
    ("topic", "topic=mails"),
    ("key", "key=customer-00042"),
    ("key of the first event", "key=rare"),
    ("aggregate", "aggregate_type=order&aggregate_id=order-77"),
    ("tenant", "tenant_id=tenant-7"),
    ("tenant, type and topic that none has", "tenant_id=tenant-7&event_type=order.step-07&topic=none"),
    ("time", "created_after={half}&created_before={later}"),
    ("time and type that none has", "created_after={half}&event_type=none"),
    ("delivered", "subscription=billing&status=delivered"),
    ("delivered, type that none has", "subscription=billing&status=delivered&event_type=none"),
    ("pending, everything", "subscription=search&status=pending"),
    ("pending, nothing", "subscription=billing&status=pending"),
    ("pending, type that none has", "subscription=search&status=pending&event_type=none"),
    ("failed", "subscription=billing&status=failed"),
    ("delayed, tenant that none has", "subscription=billing&status=delayed&tenant_id=none"),
    ("dead", "subscription=billing&status=dead"),
    ("dead, type that none has", "subscription=billing&status=dead&event_type=none"),
    ("skipped, where none is", "subscription=billing&status=skipped"),
];

/// Filters of dead letters.
const DEAD: [(&str, &str, &str); 14] = [
    ("dead letters", "all", "?"),
    ("dead letters", "subscription", "?subscription=billing"),
    ("dead letters", "reason and type", "?reason=poison_message&event_type=order.step-07"),
    ("dead letters", "type that none has", "?event_type=none"),
    ("dead letters", "key that none has", "?subscription=billing&key=none"),
    ("dead letters", "error", "?error={error}"),
    ("dead letters", "error that none has", "?error_prefix=none"),
    ("dead letters", "time", "?moved_after={bad}"),
    ("dead letters", "resolved too", "?resolved=true&event_type=none"),
    ("groups", "all", "/groups?"),
    ("groups", "subscription", "/groups?subscription=billing"),
    ("groups", "reason", "/groups?reason=poison_message"),
    ("groups", "error", "/groups?subscription=billing&error={error}"),
    ("groups", "time and type", "/groups?moved_after={bad}&event_type=order.step-07"),
];

/// All pages. Ids, errors and times are asked for.
pub(super) async fn questions(caller: &Caller) -> anyhow::Result<Vec<Question>> {
    let now = SystemClock.now();
    let half = stamp(now.before(HALF));
    let letter = first(caller, "dead-letters?limit=1&error_prefix=the").await?;
    let event = first(caller, &format!("events?limit=1&created_before={half}")).await?;
    let error = letter["error"].as_str().and_then(|error| error.lines().next()).unwrap_or_default();
    let values = [
        ("{half}", half),
        ("{later}", stamp(now.before(HALF / 2))),
        ("{bad}", stamp(now.before(BAD))),
        ("{error}", error.replace(' ', "%20")),
    ];
    let fill =
        |text: &str| values.iter().fold(text.to_owned(), |text, (name, value)| text.replace(name, value));
    let mut all: Vec<Question> = WHOLE.map(Question::whole).into();
    all.push(Question::one("relays", "lanes, nothing ahead", "subscriptions/billing/lanes"));
    all.push(Question::one("overview", "status", "status"));
    all.extend(EVENTS.map(|(what, query)| Question::one("events", what, &format!("events?{}", fill(query)))));
    let dead = |(page, what, rest)| Question::one(page, what, &format!("dead-letters{}", fill(rest)));
    all.extend(DEAD.map(dead));
    all.extend([
        Question::one("event", "delivered", &format!("events/{}", text(&event["id"])?)),
        Question::one("event", "dead", &format!("events/{}", text(&letter["id"])?)),
        Question::one("dead letter", "one", &format!("dead-letters/{}", letter["dead_id"])),
        Question::one("key", "of many", "keys/customer-00042"),
        Question::one("key", "rare", "keys/rare"),
        Question::one("jobs", "all", "jobs"),
        Question::one("audit", "all", "audit"),
        Question::one("audit", "by nobody", "audit?by=nobody"),
        Question { page: "metrics", what: "all", steps: vec![vec!["/metrics".to_owned()]] },
        Question { page: "health", what: "live", steps: vec![vec!["/health/live".to_owned()]] },
    ]);
    Ok(all)
}

impl Question {
    /// All that a page asks the API for when it is opened.
    fn whole((page, steps): (&'static str, &[&[&str]])) -> Self {
        let steps = steps.iter().map(|step| step.iter().map(|rest| api(rest)).collect());
        Self { page, what: "the whole page", steps: steps.collect() }
    }

    /// One thing that it asks for.
    fn one(page: &'static str, what: &'static str, rest: &str) -> Self {
        Self { page, what, steps: vec![vec![api(rest)]] }
    }
}

fn api(rest: &str) -> String {
    format!("/api/v1/{rest}")
}

/// The first item of a listing.
async fn first(caller: &Caller, rest: &str) -> anyhow::Result<Value> {
    let page = caller.json(&api(rest)).await?;
    let item = page["items"].get(0).cloned();
    item.with_context(|| format!("nothing is listed by {rest}"))
}

fn text(value: &Value) -> anyhow::Result<&str> {
    value.as_str().context("the id is no text")
}
