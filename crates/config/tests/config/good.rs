//! Files that are fine: what is read, and what is shown of it.

use std::{collections::HashMap, time::Duration};

use posthaste::{OnDead, Order, Start};
use posthaste_config::{Config, EXAMPLE, keys};

use crate::fixture::{Made, around, parse};

#[test]
fn what_is_written_counts_and_the_rest_is_as_the_program_has_it() {
    let config = parse(
        "
database: { url: sqlite://shop.db, prefix: billing, lanes: 16, migrate: true }
relay: { lease: 5s, batch: 500, page: { bytes: 1MiB }, payload_limit: 2MiB }
retention: { events: 1d }
retry: { max_attempts: 3, base: 1s, jitter: [1, 1.5] }
metrics: { prefix: shop }
subscriptions:
  - name: orders
    filter: { types: ['order.*'], topics: [shop] }
    start: now
    order: none
    on_dead: hold
    retry: { max_attempts: 7 }
    sink: { file: { path: out.jsonl, sync: false } }
  - name: all
    sink:
      stdout:
",
    );

    assert_eq!(
        (config.database.prefix.as_str(), config.database.lanes, config.database.migrate),
        ("billing", Some(16), true)
    );
    assert_eq!((config.settings.lease, config.settings.batch), (Duration::from_secs(5), 500));
    assert_eq!((config.settings.page.entries, config.settings.page.bytes), (4_096, 1 << 20));
    assert_eq!(config.settings.retention.events, Duration::from_secs(86_400));
    assert_eq!((config.payload_limit, config.metrics_prefix.as_str()), (2 << 20, "shop"));
    let orders = &config.subscriptions[0].subscription;
    assert_eq!((orders.start, orders.order, orders.on_dead), (Start::Now, Order::None, OnDead::Hold));
    assert_eq!(orders.filter.types[0].to_string(), "order.*");
    assert_eq!((orders.retry.max_attempts, orders.retry.base), (7, Duration::from_secs(1)));
    let all = &config.subscriptions[1].subscription;
    assert_eq!((all.retry.max_attempts, all.retry.jitter), (3, (1.0, 1.5)));
    assert_eq!(config.subscriptions[0].destination.to_string(), "file:out.jsonl");
    assert_eq!(config.subscriptions[1].destination.to_string(), "stdout");
}

#[test]
fn variables_and_files_are_put_in_and_missing_ones_are_named() {
    let made = Made(HashMap::from([
        ("FOLDER", "/data"),
        ("LANES", "hunter2"),
        ("/run/secrets/url", "sqlite://secret.db\n"),
    ]));
    let config = Config::parse(&around("database: { url: 'sqlite://${FOLDER}/shop.db' }"), &made).unwrap();
    assert_eq!(config.database.address.expose(), "sqlite:///data/shop.db");
    let config = Config::parse(&around("database: { url: 'file:/run/secrets/url' }"), &made).unwrap();
    assert_eq!(config.database.address.expose(), "sqlite://secret.db");

    let bad = around(
        "database:\n  url: file:/run/secrets/none\n  prefix: ${NOBODY}\n  schema: ${NOBODY}_${NO_ONE}\n  lanes: ${LANES}",
    );
    let said: Vec<String> = Config::parse(&bad, &made).unwrap_err().iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        [
            "line 2: database.url is in the file /run/secrets/none, which cannot be read: entity not found",
            "line 3: database.prefix needs the environment variable NOBODY, which is not set",
            "line 4: database.schema needs the environment variable NOBODY, which is not set",
            "line 4: database.schema needs the environment variable NO_ONE, which is not set",
            "line 5: database.lanes is ${LANES}; allowed is a whole number from 1 to 64",
        ]
    );
}

#[test]
fn what_is_shown_is_a_file_that_means_the_same() {
    let config = parse(&around("relay: { lease: 90s }\nretry: { jitter: [0.5, 2] }"));
    let shown = config.show();
    assert!(shown.contains("  lease: 1m 30s\n") && shown.contains("  batch: 1000  # default\n"), "{shown}");
    assert!(shown.contains("subscriptions:\n  - name: a\n"), "{shown}");

    let again = parse(&shown).show();
    let values = |text: &str| text.replace("  # default", "");
    assert_eq!(values(&again), values(&shown));
}

#[test]
fn the_example_passes_and_mentions_only_keys_that_exist() {
    let config = parse(EXAMPLE);
    assert_eq!(config.subscriptions.len(), 2);

    let known: Vec<String> = keys()
        .iter()
        .flat_map(|key| key.path.replace("[]", "").split('.').map(str::to_owned).collect::<Vec<_>>())
        .collect();
    let commented = EXAMPLE.lines().filter_map(|line| {
        line.trim_start().strip_prefix("# ")?.trim_start_matches(['-', ' ']).split_once(": ")
    });
    for (key, _) in commented.filter(|(key, _)| key.chars().all(|c| c.is_ascii_lowercase() || c == '_')) {
        assert!(known.iter().any(|known| known == key), "{key}");
    }
}
