//! A relay that is set otherwise while it runs, by its file or over the API; and one that has no file.

use std::process::Stdio;

use serde_json::Value;

use crate::{
    fixture::{Fixture, parse_lines, wait_until},
    operated::{address, ask, send},
};

const FILE: &str = "
database: { url: sqlite://shop.db }
relay: { lease: 1s, grace: 5s, batch: 100 }
log: { format: json }
subscriptions:
  - name: archive
    sink: { file: { path: archive.jsonl } }
server: { listen: '127.0.0.1:0', open: true }
";

/// A relay with a file, and where it can be asked.
#[cfg(unix)]
fn started() -> (Fixture, crate::fixture::Running, String) {
    let fixture = Fixture::migrated();
    fixture.configure("relay.yaml", FILE);
    let relay = fixture.start_configured("relay.yaml");
    wait_until("it serves", || address(&fixture.log("relay.yaml")).is_some());
    let address = address(&fixture.log("relay.yaml")).unwrap();
    wait_until("it is ready", || ask(&address, "/health/ready", None).0 == 200);
    (fixture, relay, address)
}

fn tuning(address: &str) -> Value {
    serde_json::from_str(&ask(address, "/api/v1/tuning", None).1).unwrap()
}

#[test]
#[cfg(unix)]
fn a_file_that_is_read_again_counts_as_far_as_it_can() {
    let (fixture, mut relay, address) = started();
    fixture.configure(
        "relay.yaml",
        &FILE
            .replace("lease: 1s, grace: 5s, batch: 100", "lease: 2s, grace: 5s, batch: 7, poll_max: 50ms")
            .replace("format: json", "format: json, level: debug")
            .replace("name: archive", "name: archive\n    rate_limit: 1000\n    paused: true"),
    );
    relay.signal("HUP");
    wait_until("it counts", || tuning(&address)["batch"] == 7);
    let tuned = tuning(&address);
    assert_eq!((&tuned["poll_max_ms"], &tuned["log_level"]), (&50.0.into(), &"debug".into()));
    assert_eq!(tuned["rate_limits"]["archive"], 1000);
    wait_until("it is paused", || fixture.status()["subscriptions"][0]["paused"] == true);
    let (_, shown) = ask(&address, "/api/v1/config", None);
    assert!(shown.contains("batch: 7\\n") && shown.contains("lease: 1s\\n"), "what counts: {shown}");
    wait_until("the rest is named", || {
        let log = fixture.log("relay.yaml");
        log.contains("\"key\":\"relay.lease\"") && log.contains("it counts when the relay is started again")
    });

    fixture.configure("relay.yaml", FILE);
    relay.signal("HUP");
    wait_until("it goes on", || fixture.status()["subscriptions"][0]["paused"] == false);
    assert_eq!(tuning(&address)["batch"], 100);
    fixture.publish(20, 3);
    wait_until("all are there", || fixture.lines("archive.jsonl").len() == 20);
    relay.signal("TERM");
    assert_eq!(relay.wait(), Some(0));
    let log = fixture.log("relay.yaml");
    for line in log.lines() {
        let line: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("no JSON: {line}"));
        assert!(line["message"].is_string() && line["level"].is_string(), "{line}");
    }
}

#[test]
#[cfg(unix)]
fn a_file_with_something_wrong_changes_nothing_and_all_of_it_is_said() {
    let (fixture, relay, address) = started();
    fixture.configure(
        "relay.yaml",
        &FILE.replace("batch: 100", "batch: 7, poll_max: soon").replace("sink:", "snik:"),
    );
    relay.signal("HUP");
    wait_until("it is said", || fixture.log("relay.yaml").contains("the file is wrong; nothing changes"));
    let log = fixture.log("relay.yaml");
    for part in [
        "relay.yaml has 3 problems",
        "line 3: relay.poll_max is soon",
        "line 7: subscriptions[0].snik is not known",
    ] {
        assert!(log.contains(part), "{part} in {log}");
    }
    assert_eq!(tuning(&address)["batch"], 100);
    std::fs::remove_file(fixture.path("relay.yaml")).unwrap();
    relay.signal("HUP");
    wait_until("it is said", || fixture.log("relay.yaml").contains("cannot read relay.yaml"));
    fixture.publish(5, 1);
    wait_until("it works on", || fixture.lines("archive.jsonl").len() == 5);
}

#[test]
#[cfg(unix)]
fn an_operator_changes_it_until_the_file_is_read_again() {
    let (fixture, relay, address) = started();
    let (status, body) = send(&address, "PATCH", "/api/v1/tuning", r#"{ "batch": 3, "log_level": "warn" }"#);
    assert_eq!(status, 200, "{body}");
    assert_eq!(tuning(&address)["batch"], 3);
    let (status, body) = send(&address, "PATCH", "/api/v1/tuning", r#"{ "log_level": "loud" }"#);
    assert!(status == 400 && body.contains("log_level is not understood"), "{status} {body}");
    assert_eq!(
        fixture.text("select detail from outbox_journal where what = 'tuned'"),
        "batch 100 → 3, log_level info → warn"
    );

    relay.signal("HUP");
    wait_until("the file counts again", || tuning(&address)["batch"] == 100);
    assert_eq!(tuning(&address)["log_level"], "info");
}

#[test]
fn a_relay_needs_no_file() {
    let fixture = Fixture::migrated();
    fixture.publish(5, 1);
    let run = |extra: (&str, &str)| {
        let mut command = fixture.command(&["relay", "--once"]);
        command.env("POSTHASTE_DATABASE_URL", "sqlite://shop.db");
        command
            .env("POSTHASTE_SUBSCRIPTIONS_0_NAME", "all")
            .env("POSTHASTE_SUBSCRIPTIONS_0_SINK_STDOUT", "{}");
        command.env(extra.0, extra.1).stderr(Stdio::piped()).output().unwrap()
    };
    let output = run(("POSTHASTE_RELAY_LEES", "1s"));
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        said,
        "error: the environment has 1 problem\n  POSTHASTE_RELAY_LEES: names no key; did you mean POSTHASTE_RELAY_LEASE?\n"
    );
    let output = run(("POSTHASTE_RELAY_LEASE", "1s"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(parse_lines(&String::from_utf8(output.stdout).unwrap()).len(), 5);
}

#[test]
fn what_does_not_fit_its_schema_is_a_dead_letter_and_the_rest_is_delivered() {
    let fixture = Fixture::migrated();
    fixture.configure("order.json", r#"{ "type": "object", "required": ["n"] }"#);
    let file = "
database: { url: sqlite://shop.db }
validation: { schemas: { order.*: order.json } }
subscriptions:
  - { name: strict, sink: { file: { path: strict.jsonl } } }
  - { name: all, validation: { schemas: {} }, sink: { file: { path: all.jsonl } } }
";
    fixture.configure("relay.yaml", file);
    fixture.publish(10, 3);
    let bad = "insert into outbox (topic, event_type, key, payload) values ('orders', 'order.changed', 'order-1', '{\"secret\": 1}')";
    fixture.sql(bad).unwrap();
    fixture.run(&["relay", "--config", "relay.yaml", "--once"]).succeeded();

    assert_eq!((fixture.lines("strict.jsonl").len(), fixture.lines("all.jsonl").len()), (10, 11));
    let dead = "select reason || ': ' || error from outbox_dead where subscription = 'strict'";
    assert_eq!(fixture.text(dead), "schema_validation_failed: the payload: \"n\" is a required property");
    fixture.configure("order.json", "{");
    fixture
        .run(&["config", "check", "relay.yaml"])
        .failed(2, &["line 3: validation.schemas.order.* is order.json, which is no JSON Schema: "]);
}

#[test]
#[cfg(unix)]
fn a_schema_that_was_written_anew_counts_and_a_broken_one_does_not() {
    let fixture = Fixture::migrated();
    let needs = |name: &str| format!(r#"{{ "type": "object", "required": ["{name}"] }}"#);
    fixture.configure("order.json", &needs("n"));
    let file =
        FILE.replace("subscriptions:", "validation: { schemas: { order.*: order.json } }\nsubscriptions:");
    fixture.configure("relay.yaml", &file);
    let relay = fixture.start_configured("relay.yaml");
    let settled = |delivered: usize, dead: i64| {
        wait_until("all are settled", || {
            (fixture.lines("archive.jsonl").len(), fixture.number("select count(*) from outbox_dead"))
                == (delivered, dead)
        });
    };
    fixture.publish(1, 1);
    settled(1, 0);

    fixture.configure("order.json", &needs("m"));
    relay.signal("HUP");
    wait_until("it is told", || fixture.log("relay.yaml").contains("\"changed\":\"validation.schemas\""));
    fixture.publish(1, 1);
    settled(1, 1);
    let error = fixture.text("select error from outbox_dead");
    assert_eq!(error, "the payload: \"m\" is a required property");

    fixture.configure("order.json", "{ \"required\": ");
    relay.signal("HUP");
    wait_until("it is said", || fixture.log("relay.yaml").contains("the file is wrong; nothing changes"));
    let log = fixture.log("relay.yaml");
    assert!(log.contains("validation.schemas.order.* is order.json, which is no JSON Schema: "), "{log}");
    fixture.publish(1, 1);
    settled(1, 2);

    fixture.configure("relay.yaml", &file.replace("order.json", "other.json"));
    fixture.configure("other.json", "{}");
    relay.signal("HUP");
    wait_until("another file is as good", || {
        fixture.log("relay.yaml").matches("the file was read again").count() == 2
    });
    fixture.publish(1, 1);
    settled(2, 2);
}

#[test]
#[cfg(unix)]
fn while_it_waits_for_the_database_it_is_alive_and_not_ready() {
    let fixture = Fixture::empty();
    // Nobody listens there any more.
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let file = FILE.replace("sqlite://shop.db", &format!("postgres://relay@{closed}/shop"));
    fixture.configure("relay.yaml", &file);
    let mut relay = fixture.start_configured("relay.yaml");
    wait_until("it serves", || address(&fixture.log("relay.yaml")).is_some());
    let address = address(&fixture.log("relay.yaml")).unwrap();
    assert_eq!(ask(&address, "/health/live", None).0, 200);
    wait_until("it says why", || {
        let (status, body) = ask(&address, "/health/ready", None);
        status == 503 && body.contains("the database does not answer")
    });
    let (status, body) = ask(&address, "/api/v1/status", None);
    assert!(status == 503 && body.contains("waits for the database"), "{status} {body}");
    relay.signal("TERM");
    assert_eq!(relay.wait(), Some(0));
}
