//! How the log stands: tables, subscriptions, relays.

use posthaste::{Finding, Status};
use posthaste_config::Served;

use crate::{
    database::Database,
    screen::{counted, grouped},
};

/// Judges the state of the log; `served` is what the file has, if there is one.
pub(super) fn examine(status: &Status, database: &Database, served: Option<&[Served]>) -> Vec<Finding> {
    let mut findings = vec![tables(status), relays(status, database)];
    let missing = served.unwrap_or_default().iter().map(|served| served.subscription.name.as_str());
    for name in missing.filter(|name| status.subscriptions.iter().all(|found| found.name != *name)) {
        findings.push(Finding::warning(
            "subscriptions",
            format!("{name} of the file is not in the log yet"),
            format!("start the relay: {}", database.relay_command()),
        ));
    }
    findings.extend(subscriptions(status, database));
    findings
}

fn tables(status: &Status) -> Finding {
    if status.orphaned > 0 {
        return Finding::failing(
            "tables",
            format!(
                "{} will never be delivered: lanes have lost their lines",
                counted(status.orphaned, "event")
            ),
            "restore the tables from a backup, or subscribe under another name",
        );
    }
    Finding::fine(
        "tables",
        format!("schema version {}, {}", status.schema_version, counted(status.lanes.into(), "lane")),
    )
}

fn relays(status: &Status, database: &Database) -> Finding {
    match status.relays.len() {
        0 => Finding::warning(
            "relays",
            "none is running, so nothing is delivered",
            format!("start one: {}", database.relay_command()),
        ),
        count => {
            let held: u64 = status.relays.iter().map(|relay| relay.lanes).sum();
            Finding::fine("relays", format!("{count} running, {} held", counted(held, "lane")))
        }
    }
}

fn subscriptions(status: &Status, database: &Database) -> Vec<Finding> {
    let mut findings = Vec::new();
    for found in &status.subscriptions {
        let name = &found.name;
        let is_served = status.relays.iter().any(|relay| relay.subscriptions.contains(name));
        if found.paused {
            let advice = database.command(&format!("subscriptions resume {name}"));
            findings.push(Finding::warning("subscriptions", format!("{name} is paused"), advice));
        } else if !is_served && !status.relays.is_empty() {
            findings.push(Finding::warning(
                "subscriptions",
                format!("no relay serves {name}: {} wait, and no event is pruned", grouped(found.pending)),
                format!(
                    "serve it, or drop it: {}",
                    database.command(&format!("subscriptions drop {name} --dry-run"))
                ),
            ));
        }
        if found.dead > 0 {
            findings.push(Finding::warning(
                "dead letters",
                format!("{} of {name} wait for a person", grouped(found.dead)),
                database.command(&format!("dlq groups --subscription {name}")),
            ));
        }
    }
    if findings.is_empty() {
        let count = counted(status.subscriptions.len() as u64, "subscription");
        findings.push(Finding::fine("subscriptions", format!("{count}, none paused, no dead letters")));
    }
    findings
}

#[cfg(test)]
mod tests {
    use posthaste::{SubscriptionStatus, Verdict};

    use super::*;
    use crate::database::made_up;

    #[test]
    fn what_needs_a_person_is_told_with_a_command() {
        let mail =
            SubscriptionStatus { name: "mail".to_owned(), paused: true, dead: 3, ..Default::default() };
        let status = Status { subscriptions: vec![mail], orphaned: 1, ..Status::default() };
        let findings = examine(&status, &made_up("sqlite://shop.db", "outbox"), None);

        let told = |check: &str| findings.iter().find(|finding| finding.check == check).unwrap();
        assert_eq!(told("tables").verdict, Verdict::Failing);
        assert_eq!(told("relays").verdict, Verdict::Warning);
        assert!(
            told("subscriptions").advice.as_ref().unwrap().contains("posthaste subscriptions resume mail")
        );
        assert!(
            told("dead letters")
                .advice
                .as_ref()
                .unwrap()
                .contains("posthaste dlq groups --subscription mail")
        );
    }
}
