//! Files of other outboxes: each key is told what it is called here, and the documentation says the same.

use posthaste_config::{Config, FORMER};

use crate::fixture::{Made, around, check};

/// A file of another outbox, with everything that it can say.
const ELSEWHERE: &str = r#"outbox:
  database:
    table_name: "storage_outbox"
    dlq_table_name: "storage_outbox_dlq"
    wal_table_name: "storage_outbox_wal"
  publisher:
    batch_size: 100
    poll_interval_ms: 1000
    max_concurrent_publishers: 5
    enable_wal_integration: true
  retry_policy:
    default_max_attempts: 5
    default_base_delay_ms: 1000
    default_max_delay_ms: 60000
    default_backoff_multiplier: 2.0
    enable_jitter: true
    jitter_range: [0.75, 1.25]
  dlq:
    auto_dlq_after_max_retries: true
    dlq_notification_enabled: true
    dlq_retention_days: 30
    enable_manual_replay: true
  validation:
    enable_schema_validation: true
    enable_business_rule_validation: true
    schema_registry_url: "https://schemas.example"
  monitoring:
    enable_metrics: true
    metrics_prefix: "shop.outbox"
    enable_health_checks: true
    alert_on_dlq_events: true
"#;

#[test]
fn every_key_of_a_file_from_elsewhere_is_told_where_it_goes() {
    let said = Config::parse(&format!("{ELSEWHERE}{}", around("")), &Made::default()).unwrap_err();
    let said: Vec<String> = said.iter().map(ToString::to_string).collect();
    let written = ELSEWHERE.lines().filter(|line| line.starts_with("    ")).count();
    assert_eq!(said.len(), written, "{said:#?}");
    for problem in &said {
        let hints = problem.contains("; did you mean ") || problem.contains("; nothing has to be set: ");
        assert!(hints, "{problem}");
    }
    assert_eq!(
        said[3],
        "line 7: outbox.publisher.batch_size is not known; did you mean relay.batch? one read brings in up to relay.page"
    );
}

#[test]
fn single_keys_are_told_as_well_also_in_sections_that_are_here() {
    check(
        "relay:\n  dispatcherWorkers: 4\n  poller_interval_ms: 5000\nvalidation: { schema_registry_url: x }",
        &[
            "line 2: relay.dispatcherWorkers is not known; did you mean relay.concurrency? lanes of a subscription at the same time",
            "line 3: relay.poller_interval_ms is not known; did you mean relay.poll_max? a time with its unit",
            "line 4: validation.schema_registry_url is not known; did you mean validation.schemas? files beside the relay, so that it needs no registry to deliver",
        ],
    );
    check(
        "publisher: { colour: red, batch_size: 5 }",
        &[
            "line 1: publisher.colour is not known; docs/configuration.md lists every key",
            "line 1: publisher.batch_size is not known; did you mean relay.batch? one read brings in up to relay.page",
        ],
    );
    check(
        "dlq: {}",
        &[
            "line 1: dlq is not known; did you mean retention.dead? and server.alerts; dead letters need no other settings",
        ],
    );
}

#[test]
fn the_documentation_has_the_same_table() {
    let text = include_str!("../../../../docs/configuration.md");
    let (_, table) = text.split_once("| elsewhere | here | what is different |\n|---|---|---|\n").unwrap();
    let documented: Vec<&str> = table.lines().take_while(|line| line.starts_with('|')).collect();
    let row = |former: &posthaste_config::Former| {
        let here = former.here.map_or("nothing to set".to_owned(), |here| format!("`{here}`"));
        format!("| {} | {here} | {} |", former.key, former.advice)
    };
    let expected: Vec<String> = FORMER.iter().map(row).collect();
    assert_eq!(documented, expected);
}
