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
    /// What is asked for, one after the other.
    pub(super) paths: Vec<String>,
}

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
    ("list", "all", "?"),
    ("list", "subscription", "?subscription=billing"),
    ("list", "reason and type", "?reason=poison_message&event_type=order.step-07"),
    ("list", "type that none has", "?event_type=none"),
    ("list", "key that none has", "?subscription=billing&key=none"),
    ("list", "error", "?error={error}"),
    ("list", "error that none has", "?error_prefix=none"),
    ("list", "time", "?moved_after={bad}"),
    ("list", "resolved too", "?resolved=true&event_type=none"),
    ("groups", "all", "/groups?"),
    ("groups", "subscription", "/groups?subscription=billing"),
    ("groups", "reason", "/groups?reason=poison_message"),
    ("groups", "error", "/groups?subscription=billing&error={error}"),
    ("groups", "time and type", "/groups?moved_after={bad}&event_type=order.step-07"),
];

/// All pages. Ids, errors and times are asked for.
pub(super) async fn questions(caller: &Caller) -> anyhow::Result<Vec<Question>> {
    let api = |rest: &str| format!("/api/v1/{rest}");
    let now = SystemClock.now();
    let (half, later) = (now.before(HALF), now.before(HALF / 2));
    let (half, later, bad) = (stamp(half), stamp(later), stamp(now.before(BAD)));
    let letter = first(caller, &api("dead-letters?limit=1&error_prefix=the")).await?;
    let event = first(caller, &api(&format!("events?limit=1&created_before={half}"))).await?;
    let line = letter["error"].as_str().and_then(|error| error.lines().next()).unwrap_or_default();
    let fill = |text: &str| {
        let filled = text.replace("{half}", &half).replace("{later}", &later).replace("{bad}", &bad);
        filled.replace("{error}", &line.replace(' ', "%20"))
    };
    let one = |page, what, rest: String| Question { page, what, paths: vec![api(&rest)] };
    let whole = |page, what, rest: &[&str]| Question {
        page,
        what,
        paths: rest.iter().map(|rest| api(&fill(rest))).collect(),
    };
    let mut all = vec![
        whole("overview", "the whole page", &["checks", "status", "history?seconds=300", "notices"]),
        whole("events", "the whole page", &["subscriptions", "events"]),
        whole("dead letters", "the whole page", &["dead-letters/groups", "dead-letters", "jobs"]),
        whole("subscriptions", "the whole page", &["subscriptions", "checks"]),
        whole("relays", "the whole page", &["status", "subscriptions/search/lanes"]),
        whole("relays", "lanes, nothing ahead", &["subscriptions/billing/lanes"]),
        whole("overview", "status", &["status"]),
    ];
    all.extend(EVENTS.map(|(what, query)| one("events", what, format!("events?{}", fill(query)))));
    let dead = |(page, what, rest): (&str, _, &str)| {
        let page = if page == "list" { "dead letters" } else { "groups" };
        one(page, what, format!("dead-letters{}", fill(rest)))
    };
    all.extend(DEAD.map(dead));
    all.extend([
        one("event", "delivered", format!("events/{}", text(&event["id"])?)),
        one("event", "dead", format!("events/{}", text(&letter["id"])?)),
        one("dead letter", "one", format!("dead-letters/{}", letter["dead_id"])),
        one("key", "of many", "keys/customer-00042".to_owned()),
        one("key", "rare", "keys/rare".to_owned()),
        one("jobs", "all", "jobs".to_owned()),
        one("audit", "all", "audit".to_owned()),
        one("audit", "by nobody", "audit?by=nobody".to_owned()),
        Question { page: "metrics", what: "all", paths: vec!["/metrics".to_owned()] },
        Question { page: "health", what: "live", paths: vec!["/health/live".to_owned()] },
    ]);
    Ok(all)
}

/// The first item of a listing.
async fn first(caller: &Caller, path: &str) -> anyhow::Result<Value> {
    let page = caller.json(path).await?;
    let item = page["items"].get(0).cloned();
    item.with_context(|| format!("nothing is listed by {path}"))
}

fn text(value: &Value) -> anyhow::Result<&str> {
    value.as_str().context("the id is no text")
}
