//! The status as a table for people, with what to do about it.

use std::fmt::Write;

use posthaste::{Status, SubscriptionStatus};

use crate::{
    database::Database,
    screen::{Cell, Column, Look, Table, age, bytes, counted, grouped},
};

/// The whole text.
pub(super) fn render(status: &Status, database: &Database, look: Look, columns: usize) -> String {
    let mut text = heading(status, database, look);
    text.push('\n');
    if status.subscriptions.is_empty() {
        text.push_str("No subscriptions yet. A relay makes its own when it starts:\n");
        _ = writeln!(text, "  {}", database.relay_command());
    } else {
        text.push_str(&subscriptions(status, look, columns));
    }
    let jobs = jobs(status);
    if !jobs.is_empty() {
        _ = write!(text, "\n{jobs}");
    }
    for hint in hints(status, database) {
        _ = write!(text, "\n{hint}\n");
    }
    text
}

fn heading(status: &Status, database: &Database, look: Look) -> String {
    let facts = [
        format!("{}{}", about(status.events_estimated), counted(status.events, "event")),
        bytes(status.bytes),
        counted(status.relays.len() as u64, "relay"),
        counted(status.lanes.into(), "lane"),
        format!("schema version {}", status.schema_version),
    ];
    format!("{}\n{}\n", look.strong(database.shown()), facts.join(" · "))
}

/// The subscriptions, one a row.
pub(crate) fn subscriptions(status: &Status, look: Look, columns: usize) -> String {
    let any_paused = status.subscriptions.iter().any(|found| found.paused);
    let mut titles = vec![Column::flexible("subscription", 12)];
    titles
        .extend(["pending", "failed", "delayed", "dead", "delivered", "lanes", "oldest"].map(Column::number));
    titles.extend(any_paused.then_some(Column::text("")));
    let mut table = Table::new(&titles);
    for found in &status.subscriptions {
        table.row(row(found, status.lanes));
    }
    table.render(look, columns)
}

fn row(found: &SubscriptionStatus, lanes: u8) -> Vec<Cell> {
    let number = |number: u64| Cell::new(grouped(number));
    let failed = number(found.failed);
    let dead = number(found.dead);
    vec![
        Cell::new(&found.name),
        Cell::new(format!("{}{}", about(found.pending_estimated), grouped(found.pending))),
        if found.failed == 0 { failed.faint() } else { failed.warning() },
        number(found.delayed),
        if found.dead == 0 { dead.faint() } else { dead.bad() },
        number(found.delivered),
        Cell::new(format!("{}/{lanes}", found.lanes_held)),
        Cell::maybe(found.oldest_age_seconds.map(age)),
        Cell::new(if found.paused { "paused" } else { "" }).warning(),
    ]
}

/// What stands before a number that was not counted to the end.
fn about(estimated: bool) -> &'static str {
    if estimated { "~" } else { "" }
}

/// What relays do for operators at present, a line a job.
fn jobs(status: &Status) -> String {
    let mut text = String::new();
    for job in status.jobs.iter().filter(|job| !job.state.is_over()) {
        let (kind, state) = (job.kind.as_str(), job.state.as_str());
        let (done, all) = (grouped(job.done), counted(job.concerned, "dead letter"));
        _ = writeln!(text, "job {}: {kind}, {state}, {done} of {all}", job.job_id);
    }
    text
}

/// What a person might do next, one hint a problem.
fn hints(status: &Status, database: &Database) -> Vec<String> {
    let mut hints = Vec::new();
    if status.events == 0 {
        let table = database.table("");
        hints.push(format!(
            "No events yet. Any program publishes one in its own transaction:\n  \
             insert into {table} (topic, event_type, key, payload)\n  \
             values ('users', 'user.created', '42', '{{\"name\":\"Ada\"}}')\n\
             Or from here:\n  {}",
            database.command("publish --type user.created --key 42 --payload '{}'")
        ));
    }
    let waiting = status.subscriptions.iter().any(|found| !found.paused && found.pending + found.failed > 0);
    if status.relays.is_empty() && waiting {
        hints.push(format!(
            "No relay is running, so nothing is delivered. Start one for a subscription:\n  {}",
            database.relay_command_for("NAME")
        ));
    }
    if status.orphaned > 0 {
        hints.push(format!(
            "{} will never be delivered: a lane has lost its lines, or a subscription was removed by hand.\n  \
             Restore the tables from a backup, or subscribe under another name.",
            counted(status.orphaned, "event")
        ));
    }
    let dead: u64 = status.subscriptions.iter().map(|found| found.dead).sum();
    if dead > 0 {
        let waits = if dead == 1 { "waits" } else { "wait" };
        hints.push(format!(
            "{} {waits} for a person. What they died of, and what can be done:\n  {}",
            counted(dead, "dead letter"),
            database.command("dlq groups")
        ));
    }
    hints
}

#[cfg(test)]
mod tests {
    use posthaste::{DeadFilter, Job, JobKind, JobState, RelayId, RelayStatus, Timestamp};

    use super::*;
    use crate::database::made_up;

    fn database() -> Database {
        made_up("sqlite://shop.db", "outbox")
    }

    fn subscription(name: &str) -> SubscriptionStatus {
        SubscriptionStatus { name: name.to_owned(), ..SubscriptionStatus::default() }
    }

    fn status(subscriptions: Vec<SubscriptionStatus>) -> Status {
        let relay = RelayStatus {
            relay: RelayId("a".to_owned()),
            host: "here".to_owned(),
            version: "1.0.0".to_owned(),
            subscriptions: Vec::new(),
            started_at: Timestamp(0),
            held_until: Timestamp(1),
            lanes: 64,
        };
        Status {
            schema_version: 3,
            lanes: 64,
            events: 1_204,
            bytes: 1_234_567,
            relays: vec![relay],
            subscriptions,
            ..Status::default()
        }
    }

    #[test]
    fn a_table_stays_within_80_columns_also_with_long_names_and_large_numbers() {
        let name = "a-subscription-with-a-very-long-name".to_owned();
        let (pending, failed, delayed, dead) = (9_999_999, 99_999, 99_999, 99_999);
        let busy = SubscriptionStatus {
            name,
            pending,
            failed,
            delayed,
            dead,
            delivered: 99_999_999,
            lanes_held: 64,
            oldest_age_seconds: Some(2_000_000.0),
            ..SubscriptionStatus::default()
        };
        let text = render(&status(vec![subscription("mail"), busy]), &database(), Look::Plain, 80);

        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
        assert!(text.contains("1,204 events · 1.2 MB · 1 relay · 64 lanes"), "{text}");
        assert!(text.contains("a-subscription-w…"), "{text}");
    }

    #[test]
    fn an_empty_log_says_what_to_do() {
        let empty = Status { schema_version: 3, lanes: 64, ..Status::default() };
        let text = render(&empty, &database(), Look::Plain, 80);

        assert!(text.contains("No subscriptions yet"), "{text}");
        assert!(text.contains("posthaste relay --database sqlite://shop.db --sink stdout"), "{text}");
        assert!(text.contains("insert into outbox (topic, event_type, key, payload)"), "{text}");
    }

    #[test]
    fn problems_come_with_a_hint() {
        let mail = SubscriptionStatus { pending: 3, dead: 1, ..subscription("mail") };
        let text = render(&Status { relays: Vec::new(), ..status(vec![mail]) }, &database(), Look::Plain, 80);

        assert!(text.contains("No relay is running"), "{text}");
        assert!(text.contains("1 dead letter waits for a person"), "{text}");
        assert!(
            !render(&status(vec![subscription("mail")]), &database(), Look::Plain, 80).contains("No relay")
        );
    }

    #[test]
    fn what_is_estimated_orphaned_or_under_way_is_said() {
        let mail = SubscriptionStatus { pending: 50_000, pending_estimated: true, ..subscription("mail") };
        let job = Job {
            job_id: 7,
            kind: JobKind::Replay,
            matching: DeadFilter::default(),
            per_second: None,
            requested_by: "ada".to_owned(),
            requested_at: Timestamp(0),
            state: JobState::Running,
            concerned: 1_000,
            done: 500,
            error: None,
            started_at: None,
            finished_at: None,
        };
        let over = Job { job_id: 6, state: JobState::Done, ..job.clone() };
        let told =
            Status { events_estimated: true, orphaned: 2, jobs: vec![job, over], ..status(vec![mail]) };
        let text = render(&told, &database(), Look::Plain, 80);

        for expected in ["~1,204 events", "~50,000", "2 events will never be delivered"] {
            assert!(text.contains(expected), "{expected} in\n{text}");
        }
        assert!(text.contains("job 7: replay, running, 500 of 1,000 dead letters\n"), "{text}");
        assert!(!text.contains("job 6"), "{text}");
        assert!(!render(&status(vec![]), &database(), Look::Plain, 80).contains('~'));
    }
}
