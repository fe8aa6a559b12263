//! Keys that other outboxes have, and what they are called here: whoever brings his file with him is told where each goes.

use crate::{
    field::Path,
    problem::Place,
    tree::{Entry, Value},
};

/// A key as it is called elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Former {
    /// As it is written elsewhere, below whatever section.
    pub key: &'static str,
    /// The key here; none if there is nothing to set.
    pub here: Option<&'static str>,
    /// What is different.
    pub advice: &'static str,
}

const fn former(key: &'static str, here: &'static str, advice: &'static str) -> Former {
    Former { key, here: Some(here), advice }
}

const fn gone(key: &'static str, advice: &'static str) -> Former {
    Former { key, here: None, advice }
}

/// Every key of another outbox that is known, with the key here. The documentation has the same table.
pub const FORMER: &[Former] = &[
    former("table_name", "database.prefix", "all tables begin with it"),
    former("dlq_table_name", "database.prefix", "the table of dead letters is called prefix_dead"),
    former("wal_table_name", "database.prefix", "the tables are called prefix_lines and prefix_journal"),
    former("batch_size", "relay.batch", "one read brings in up to relay.page"),
    former(
        "poll_interval_ms",
        "relay.poll_max",
        "a time with its unit; reads follow at once while events come",
    ),
    former("max_concurrent_publishers", "relay.concurrency", "lanes of a subscription at the same time"),
    gone("enable_wal_integration", "lines and journal are always written; leave it out"),
    former("default_max_attempts", "retry.max_attempts", "each subscription and each event may have its own"),
    former("default_base_delay_ms", "retry.base", "a time with its unit"),
    former("default_max_delay_ms", "retry.max", "a time with its unit"),
    former("default_backoff_multiplier", "retry.multiplier", "the same number"),
    former("enable_jitter", "retry.jitter", "[1.0, 1.0] is none"),
    former("jitter_range", "retry.jitter", "the same two numbers"),
    former(
        "auto_dlq_after_max_retries",
        "retry.max_attempts",
        "an event that has failed so often is always a dead letter",
    ),
    former("dlq_notification_enabled", "server.alerts", "alerts: {} is enough"),
    former(
        "dlq_retention_days",
        "retention.dead",
        "a time with its unit, such as 30d; only what somebody resolved is removed",
    ),
    former("enable_manual_replay", "server.tokens", "always possible, for who has the role operator"),
    former("enable_schema_validation", "validation.schemas", "a JSON Schema for each type"),
    former(
        "enable_business_rule_validation",
        "validation.schemas",
        "rules are written into the schema of a type",
    ),
    former(
        "schema_registry_url",
        "validation.schemas",
        "files beside the relay, so that it needs no registry to deliver",
    ),
    former("enable_metrics", "server", "a relay with a server has metrics"),
    former("metrics_prefix", "metrics.prefix", "letters, digits and _, as Prometheus wants it"),
    former("enable_health_checks", "server", "a relay with a server answers /health"),
    former("alert_on_dlq_events", "server.alerts", "alerts: {} is enough"),
    former("lock_time", "relay.lease", "the lease is the relay's, and renewed while it lives"),
    former("lock_timeout", "relay.lease", "the lease is the relay's, and renewed while it lives"),
    former("locked_until", "relay.lease", "the lease is the relay's, and renewed while it lives"),
    former("max_idle_backoff", "relay.poll_max", "waits grow up to it while nothing comes"),
    former("poll_interval", "relay.poll_max", "reads follow at once while events come"),
    former("max_retries", "retry.max_attempts", "a destination that is down counts for nothing"),
    former("dispatcherWorkers", "relay.concurrency", "lanes of a subscription at the same time"),
    former("worker_count", "relay.concurrency", "lanes of a subscription at the same time"),
    gone("hotQueueCapacity", "it is for publishing in the relay's own process; in Rust, Settings::hot_queue"),
    former("coldQueueCapacity", "relay.buffer.entries", "and relay.buffer.bytes"),
    former("queue_capacity", "relay.buffer.entries", "and relay.buffer.bytes"),
    gone("pollerEnabled", "a relay always reads the log; leave it out"),
    former("pollerIntervalMs", "relay.poll_max", "a time with its unit"),
    former("pollerBatchSize", "relay.page.entries", "and relay.batch for what is under way in one lane"),
    gone(
        "pollerSkipRecentMs",
        "what is delivered from memory is never delivered again by the log; leave it out",
    ),
    former("retryBaseDelayMs", "retry.base", "a time with its unit"),
    former("retryMaxDelayMs", "retry.max", "a time with its unit"),
    former("retryMaxAttempts", "retry.max_attempts", "the same number"),
    former("retention_days", "retention.events", "a time with its unit, such as 7d"),
    former("cleanup_interval", "relay.prune_interval", "a time with its unit"),
    former("publisher", "relay", "how the engine works"),
    former("retry_policy", "retry", "for all subscriptions; each may have its own"),
    former("dlq", "retention.dead", "and server.alerts; dead letters need no other settings"),
    former("monitoring", "server", "and metrics.prefix"),
    former("outbox", "database", "the sections stand at the beginning of a line, without outbox above them"),
];

/// What to write instead of the keys at and below an entry, if at least one of them is known from elsewhere: the path, where it is,
/// and a hint for each. What is not known from elsewhere either is among them then, so that nothing is left unsaid.
pub(crate) fn leaves(path: &Path, entry: &Entry) -> Vec<(Path, Place, String)> {
    let mut found = Vec::new();
    collect(path, entry, &mut found);
    let is_known = |(_, _, former): &(Path, Place, Option<&Former>)| former.is_some();
    if !found.iter().any(is_known) {
        return Vec::new();
    }
    found.into_iter().map(|(path, place, former)| (path, place, hint(former))).collect()
}

fn collect<'t>(path: &Path, entry: &'t Entry, found: &mut Vec<(Path, Place, Option<&'t Former>)>) {
    match &entry.node.value {
        Value::Map(entries) if !entries.is_empty() => {
            for below in entries {
                collect(&path.key(&crate::kind::plain(&below.key)), below, found);
            }
        }
        _ => found.push((path.clone(), entry.place.clone(), find(&entry.key))),
    }
}

fn hint(former: Option<&Former>) -> String {
    match former {
        Some(Former { here: Some(here), advice, .. }) => format!("did you mean {here}? {advice}"),
        Some(Former { here: None, advice, .. }) => format!("nothing has to be set: {advice}"),
        None => "docs/configuration.md lists every key".to_owned(),
    }
}

/// `pollerBatchSize` and `poller_batch_size` are the same key.
fn find(key: &str) -> Option<&'static Former> {
    let plain = |key: &str| key.replace(['_', '-'], "").to_lowercase();
    FORMER.iter().find(|former| plain(former.key) == plain(key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys;

    #[test]
    fn what_is_named_here_exists() {
        let keys = keys();
        for former in FORMER {
            let Some(here) = former.here else { continue };
            let exists = |path: &str| {
                path == here || path.strip_prefix(here).is_some_and(|rest| rest.starts_with(['.', '[']))
            };
            assert!(keys.iter().any(|key| exists(&key.path)), "{} → {here}", former.key);
        }
    }

    #[test]
    fn a_key_is_found_however_it_is_written() {
        assert_eq!(find("poller_batch_size").unwrap().here, Some("relay.page.entries"));
        assert_eq!(find("batch-size").unwrap().here, Some("relay.batch"));
        assert_eq!(find("colour"), None);
    }
}
