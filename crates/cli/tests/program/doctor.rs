//! `posthaste doctor`: fine, warning or failing, with what to do, on SQLite, PostgreSQL and behind PgBouncer.

use serde_json::Value;

use crate::{
    fixture::{Fixture, Ran},
    server::Server,
};

/// The verdicts of a check.
fn verdicts(findings: &[Value], check: &str) -> Vec<String> {
    let of_check = findings.iter().filter(|finding| finding["check"] == check);
    of_check.map(|finding| finding["verdict"].as_str().unwrap().to_owned()).collect()
}

fn findings(ran: &Ran) -> Vec<Value> {
    crate::fixture::parse_lines(&ran.out)
}

fn file(sink: &str) -> String {
    format!("database: {{ url: sqlite://shop.db }}\nsubscriptions: [{{ name: mail, sink: {sink} }}]\n")
}

#[test]
fn a_good_file_on_sqlite_is_fine() {
    let fixture = Fixture::migrated();
    fixture.configure("relay.yaml", &file("{ file: { path: mail.jsonl } }"));
    let ran = fixture.run(&["doctor", "--config", "relay.yaml", "--json"]).succeeded();
    let findings = findings(&ran);
    for check in ["config", "database", "version", "journal", "size", "indexes", "rights", "tables", "sink"] {
        assert_eq!(verdicts(&findings, check), ["fine"], "{check}: {}", ran.out);
    }
    assert_eq!(verdicts(&findings, "relays"), ["warning"]);
    assert!(!fixture.path("mail.jsonl").exists(), "nothing is made");
    fixture
        .run(&["doctor", "--config", "relay.yaml"])
        .succeeded()
        .says(&["→ start one: posthaste relay", "0 failing."]);
}

#[test]
fn what_is_failing_is_told_with_what_to_do() {
    let fixture = Fixture::migrated();
    fixture.bury(2);
    fixture.sql("drop index outbox_dead_order").unwrap();
    fixture.configure("relay.yaml", &file("{ file: { path: none/mail.jsonl } }"));
    let ran = fixture.run(&["doctor", "--config", "relay.yaml"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    ran.says(&[
        "missing are outbox_dead_order",
        "there is no folder none",
        "→ create the folder",
        "2 of mail wait",
        "2 failing.",
    ]);

    fixture.configure("bad.yaml", "database: { url: sqlite://shop.db }\nsubscription: []\n");
    let ran = fixture.run(&["doctor", "--config", "bad.yaml"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    ran.says(&["failing  config", "did you mean subscriptions?", "docs/configuration.md"]);

    let ran = fixture.run(&["doctor", "--database", "sqlite://none.db"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    ran.says(&[
        "there is no database file none.db",
        "→ check the path, or let `posthaste migrate` create it",
    ]);
    fixture.run(&["doctor"]).failed(2, &["--database <URL>"]);
}

#[test]
fn postgres_is_looked_at_from_all_sides() {
    let server = Server::migrated();
    let ran = server.run(&["doctor", "--database", server.url(), "--json"]);
    let before = findings(&ran);
    for check in [
        "version",
        "isolation",
        "autovacuum",
        "connections",
        "positions",
        "clock",
        "pooler",
        "rights",
        "indexes",
        "size",
    ] {
        assert_eq!(verdicts(&before, check), ["fine"], "{check}: {}", ran.out);
    }

    server.sql(
        "drop index outbox_dead_order;
         update pg_index set indisvalid = false where indexrelid = 'outbox_journal_at'::regclass;
         alter table outbox_lines set (autovacuum_enabled = off);
         alter sequence outbox_position_seq cache 10;
         do $$ begin execute format('alter database %I set synchronous_commit = off', current_database()); end $$;
         do $$ begin execute format('alter database %I set default_transaction_isolation = serializable', current_database()); end $$;",
    );
    let ran = server.run(&["doctor", "--database", server.url(), "--json"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let after = findings(&ran);
    for (check, verdict) in [("indexes", "failing"), ("positions", "failing"), ("isolation", "warning")] {
        assert_eq!(verdicts(&after, check), [verdict], "{check}: {}", ran.out);
    }
    assert!(verdicts(&after, "autovacuum").contains(&"warning".to_owned()), "{}", ran.out);
    // The server of the tests may have fsync off, which is worse.
    assert_ne!(verdicts(&after, "durability"), ["fine"], "{}", ran.out);
    ran.says(&[
        "outbox_dead_order is missing",
        "outbox_journal_at is not valid",
        "it is off for outbox_lines",
    ]);
}

#[test]
fn a_role_without_rights_is_failing_and_a_pooler_is_noticed() {
    let server = Server::migrated();
    let role = format!("posthaste_doctor_{:08x}", fastrand::u32(..));
    server.sql(&format!(
        "create role {role} login password 'x'; grant select on all tables in schema public to {role};"
    ));
    let url = server.url_with(|url| {
        url.set_username(&role).unwrap();
        url.set_password(Some("x")).unwrap();
    });
    let ran = server.run(&["doctor", "--database", &url]);
    server.sql(&format!("drop owned by {role}; drop role {role};"));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    ran.says(&[
        "failing  rights",
        "delete on outbox",
        "usage on outbox_snapshot_numbers",
        "docs/postgres.md",
    ]);

    let pooler: url::Url = posthaste_services::pgbouncer_url().parse().unwrap();
    let url = server.url_with(|url| {
        url.set_host(pooler.host_str()).unwrap();
        url.set_port(pooler.port()).unwrap();
    });
    let ran = server.run(&["doctor", "--database", &url, "--json"]);
    assert_eq!(
        (verdicts(&findings(&ran), "pooler"), ran.code),
        (vec!["failing".to_owned()], Some(1)),
        "{ran:?}"
    );
    let ran = server.run(&["doctor", "--database", &url, "--pooler", "--json"]);
    assert_eq!(verdicts(&findings(&ran), "pooler"), ["fine"], "{ran:?}");
    assert!(ran.out.contains("in transaction mode, as configured"), "{}", ran.out);
}

#[test]
fn a_kafka_that_answers_is_fine_and_a_missing_topic_or_broker_is_not() {
    let fixture = Fixture::migrated();
    let broker = posthaste_services::kafka();
    let check = |sink: String| {
        fixture.configure("relay.yaml", &file(&sink));
        fixture.run(&["doctor", "--config", "relay.yaml", "--json"])
    };
    let ran = check(format!("{{ kafka: {{ brokers: '{broker}' }} }}"));
    assert_eq!(verdicts(&findings(&ran), "sink"), ["fine"], "{ran:?}");
    assert!(ran.out.contains("acks=all"), "{}", ran.out);
    let ran = check(format!("{{ kafka: {{ brokers: '{broker}', topic: never-there }} }}"));
    assert_eq!(
        (verdicts(&findings(&ran), "sink"), ran.code),
        (vec!["failing".to_owned()], Some(1)),
        "{ran:?}"
    );
    assert!(ran.out.contains("never-there"), "{}", ran.out);
    let ran = check("{ kafka: { brokers: 'localhost:1' } }".to_owned());
    assert_eq!(verdicts(&findings(&ran), "sink"), ["failing"], "{ran:?}");
}
