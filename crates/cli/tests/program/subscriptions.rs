//! `posthaste subscriptions`: pausing, resuming, resetting and dropping, with and without a relay that holds the lanes.

use crate::fixture::{Fixture, Ran, Running, wait_until};

fn act(fixture: &Fixture, arguments: &[&str]) -> Ran {
    fixture.on_shop(&[&["subscriptions"], arguments].concat())
}

/// A relay whose lease is short, so that it soon hears of a pause.
fn relay(fixture: &Fixture) -> Running {
    relay_with_lease(fixture, "1s")
}

fn relay_with_lease(fixture: &Fixture, lease: &str) -> Running {
    let mut relay =
        fixture.start_relay(&["--sink", "file:mail.jsonl", "--subscription", "mail", "--lease", lease]);
    drop(relay.read_aside());
    wait_until("it holds all lanes", || {
        fixture.status()["subscriptions"][0]["lanes_held"].as_u64() == Some(64)
    });
    relay
}

fn delivered(fixture: &Fixture) -> usize {
    fixture.lines("mail.jsonl").len()
}

#[test]
fn a_pause_waits_until_lanes_are_given_back_and_resume_lets_it_go_on() {
    let fixture = Fixture::migrated();
    let _relay = relay(&fixture);

    act(&fixture, &["pause", "mail", "--by", "ada"])
        .succeeded()
        .says(&["mail is paused; nobody holds its lanes"]);
    assert_eq!(fixture.status()["subscriptions"][0]["lanes_held"], 0);
    act(&fixture, &["pause", "mail", "--detach"]).succeeded().says(&["mail was paused already"]);
    fixture.publish(5, 2);
    let listed = act(&fixture, &["list", "--json"]).json();
    assert_eq!((&listed["paused"], &listed["pending"]), (&true.into(), &5.into()));
    act(&fixture, &["list"]).succeeded().says(&["mail", "paused"]);

    let resumed = act(&fixture, &["resume", "mail", "--json"]).json();
    assert_eq!((&resumed["paused"], &resumed["changed"]), (&false.into(), &true.into()));
    wait_until("all is delivered", || delivered(&fixture) == 5);
    act(&fixture, &["resume", "mail"]).succeeded().says(&["mail was not paused"]);
}

#[test]
fn a_reset_lets_events_come_again_while_a_relay_runs() {
    let fixture = Fixture::migrated();
    let _relay = relay(&fixture);
    fixture.publish(6, 2);
    wait_until("all is settled", || fixture.status()["subscriptions"][0]["delivered"] == 6);

    let dry = act(&fixture, &["reset", "mail", "--to", "beginning", "--dry-run", "--json"]).json();
    assert_eq!((&dry["again"], &dry["skipped"], &dry["dry_run"]), (&6.into(), &0.into(), &true.into()));
    act(&fixture, &["reset", "mail", "--to", "beginning"]).failed(2, &["6 events come again", "Write --yes"]);
    let reset = act(&fixture, &["reset", "mail", "--to", "1h", "--yes", "--by", "ada"]).succeeded();
    reset.says(&["mail is reset: 6 events come again"]);
    wait_until("they have come again", || delivered(&fixture) == 12);
    assert_eq!(fixture.status()["subscriptions"][0]["paused"], false, "it goes on");
    let what: Vec<String> = fixture
        .on_shop(&["audit", "--of", "ada", "--json"])
        .json_lines()
        .iter()
        .map(|entry| entry["what"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(what, ["resumed", "reset", "paused"]);
}

#[test]
fn a_reset_to_now_passes_over_what_is_pending_and_a_paused_one_stays_paused() {
    let fixture = Fixture::migrated();
    fixture.deliver_once("mail");
    act(&fixture, &["pause", "mail"]).succeeded();
    fixture.publish(4, 2);
    let dry = act(&fixture, &["reset", "mail", "--to", "now", "--dry-run"]).succeeded();
    dry.says(&["4 pending events are passed over and never delivered"]);
    act(&fixture, &["reset", "mail", "--to", "now", "--yes"]).succeeded();
    let subscription = &fixture.status()["subscriptions"][0];
    assert_eq!((&subscription["pending"], &subscription["paused"]), (&0.into(), &true.into()));
    act(&fixture, &["reset", "mail", "--to", "position:3", "--yes"])
        .succeeded()
        .says(&["2 events come again"]);
}

#[test]
fn a_dropped_one_is_gone() {
    let fixture = Fixture::migrated();
    fixture.bury(1);
    fixture.publish(2, 1);
    act(&fixture, &["drop", "mail", "--dry-run"])
        .succeeded()
        .says(&["mail would be dropped", "2 pending events"]);
    act(&fixture, &["drop", "mail"]).failed(2, &["mail is dropped, and with it", "Write --yes"]);
    act(&fixture, &["drop", "mail", "--yes"]).succeeded().says(&["mail is dropped; its dead letters stay"]);
    assert_eq!(fixture.status()["subscriptions"], serde_json::json!([]));
    assert_eq!(fixture.on_shop(&["dlq", "list", "--json"]).json_lines().len(), 1);
    fixture
        .on_shop(&["dlq", "replay", "1"])
        .failed(3, &["subscription \"mail\" was dropped; create it again"]);
    act(&fixture, &["drop", "mail", "--yes"])
        .failed(1, &["no subscription is called \"mail\"", "there are none yet"]);
}

#[test]
fn a_holder_that_never_gives_back_is_told_and_the_subscription_goes_on() {
    let fixture = Fixture::migrated();
    let relay = relay_with_lease(&fixture, "1m");
    // Stopped, it neither hears of the pause nor loses its lease.
    relay.signal("STOP");
    let ran = act(&fixture, &["reset", "mail", "--to", "beginning", "--yes", "--timeout", "100ms"]);
    relay.signal("CONT");
    ran.failed(3, &["64 lanes of mail are still held", "posthaste lanes mail", "--timeout"]);
    assert_eq!(fixture.status()["subscriptions"][0]["paused"], false);
}

#[test]
#[cfg(unix)]
fn who_stops_waiting_leaves_it_as_it_was() {
    let fixture = Fixture::migrated();
    let relay = relay_with_lease(&fixture, "1m");
    relay.signal("STOP");
    let arguments = ["subscriptions", "drop", "mail", "--yes", "--database", "sqlite://shop.db"];
    let mut waiting = Running(fixture.command(&arguments).spawn().unwrap());
    wait_until("it is paused", || fixture.number("select max(paused) from outbox_subscriptions") == 1);
    waiting.signal("INT");
    let code = waiting.wait();
    relay.signal("CONT");
    let paused = fixture.number("select coalesce(max(paused), 0) from outbox_subscriptions");
    assert!(code == Some(1) && paused == 0, "{code:?} {paused}");
}

#[test]
fn what_is_not_there_or_not_understood_is_refused() {
    let fixture = Fixture::migrated();
    fixture.deliver_once("mail");
    for what in
        [&["pause", "mial"][..], &["resume", "mial"], &["drop", "mial"], &["reset", "mial", "--to", "now"]]
    {
        act(&fixture, what).failed(1, &["no subscription is called \"mial\"; did you mean mail?"]);
    }
    act(&fixture, &["reset", "mail", "--to", "sometime"])
        .failed(2, &["--to <WHERE>", "allowed are beginning, now"]);
    act(&fixture, &["reset", "mail"]).failed(2, &["--to <WHERE>"]);
    act(&fixture, &["pause"]).failed(2, &["<NAME>"]);
    act(&fixture, &["pause", "mail", "--timeout", "long"]).failed(2, &["--timeout <TIME>"]);
}
