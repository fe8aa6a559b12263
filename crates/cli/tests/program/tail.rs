//! `posthaste tail`: what happens, as it happens, until somebody has seen enough.

use std::process::Stdio;

use serde_json::Value;

use crate::fixture::{Fixture, Running, parse_lines, wait_until};

/// Follows into a file, so that the test can look at what was told so far.
fn tail(fixture: &Fixture, more: &[&str]) -> Running {
    let out = std::fs::File::create(fixture.path("tail.jsonl")).unwrap();
    let arguments = [&["tail", "--json", "--database", "sqlite://shop.db"], more].concat();
    Running(fixture.command(&arguments).stdout(out).stderr(Stdio::null()).spawn().unwrap())
}

fn told(fixture: &Fixture) -> Vec<Value> {
    parse_lines(&std::fs::read_to_string(fixture.path("tail.jsonl")).unwrap())
}

fn words(told: &[Value]) -> Vec<(i64, &str)> {
    told.iter().map(|one| (one["position"].as_i64().unwrap(), one["what"].as_str().unwrap())).collect()
}

#[test]
#[cfg(unix)]
fn tells_what_is_published_and_what_becomes_of_it() {
    let fixture = Fixture::migrated();
    fixture.publish(3, 1);
    fixture.deliver_once("mail");
    let mut tail = tail(&fixture, &["-n", "1"]);
    wait_until("it has begun", || told(&fixture).len() == 2);
    assert_eq!(words(&told(&fixture)), [(3, "published"), (3, "delivered")]);

    fixture.publish(1, 1);
    wait_until("it tells what is published", || told(&fixture).len() == 3);
    fixture.bury(1);
    wait_until("it tells what becomes of it", || told(&fixture).len() == 6);
    let told = told(&fixture);
    let mut rest = words(&told)[2..].to_vec();
    rest.sort_unstable();
    assert_eq!(rest, [(4, "delivered"), (4, "published"), (5, "dead"), (5, "published")]);
    let dead = told.iter().find(|one| one["what"] == "dead").unwrap();
    assert!(dead["error"].as_str().unwrap().contains("not JSON") && dead["subscription"] == "mail", "{dead}");

    tail.signal("INT");
    assert_eq!(tail.wait(), Some(0));
}

#[test]
#[cfg(unix)]
fn only_what_is_wanted_is_told_for_people_too() {
    let fixture = Fixture::migrated();
    fixture.publish(10, 10);
    let mut tail = tail(&fixture, &["--key", "order-3", "-n", "100"]);
    wait_until("it tells of the one", || told(&fixture).len() == 1);
    fixture.publish(10, 10);
    wait_until("it tells of the next", || told(&fixture).len() == 2);
    assert!(told(&fixture).iter().all(|one| one["key"] == "order-3"));
    tail.signal("TERM");
    assert_eq!(tail.wait(), Some(0));

    let mut command = fixture.command(&["tail", "--database", "sqlite://shop.db", "-n", "2"]);
    let mut people = Running(command.stdout(Stdio::piped()).spawn().unwrap());
    let text = people.read_aside();
    fixture.publish(1, 1);
    // Everything that is there is told before the first pause.
    wait_until("it has begun", || fixture.number("select count(*) from outbox") == 21);
    people.signal("INT");
    people.wait();
    let text = text.join().unwrap();
    assert!(text.lines().all(|line| line.contains("published  order.changed")), "{text}");
}

#[test]
fn what_is_not_there_or_not_understood_is_refused() {
    let fixture = Fixture::migrated();
    fixture.deliver_once("mail");
    fixture.on_shop(&["tail", "--subscription", "mial"]).failed(1, &["did you mean mail?"]);
    fixture.on_shop(&["tail", "-n", "2000"]).failed(2, &["2000 is not in 0..=1000"]);
}
