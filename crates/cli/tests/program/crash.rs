//! Several relays on one file, and one that is killed in the middle.

use std::io::{BufRead, BufReader, Read};

use crate::fixture::{Fixture, assert_ordered, distinct, live_relays, parse_lines, wait_until};

/// Far more than a pipe holds, so that the relay stands in the middle as long as nobody reads.
const EVENTS: u32 = 20_000;

#[test]
#[cfg(unix)]
fn what_a_killed_relay_left_the_next_one_delivers() {
    let fixture = Fixture::migrated();
    fixture.publish(EVENTS, 300);
    let mut first = fixture.start_relay(&["--sink", "stdout", "--lease", "1s"]);
    let mut out = BufReader::new(first.0.stdout.take().unwrap());
    let mut text = String::new();
    for _ in 0..2_000 {
        out.read_line(&mut text).unwrap();
    }
    first.signal("KILL");
    assert_eq!(first.wait(), None, "killed");
    out.read_to_string(&mut text).unwrap();
    let settled = usize::try_from(fixture.number("select sum(delivered) from outbox_lines")).unwrap();
    let second =
        ["relay", "--database", "sqlite://shop.db", "--sink", "file:rest.jsonl", "--once", "--lease", "1s"];
    fixture.run(&second).succeeded();

    let (mut events, rest) = (parse_lines(&text), fixture.lines("rest.jsonl"));
    let early = events.len();
    assert!((2_000..EVENTS as usize).contains(&early), "it was killed in the middle: {early}");
    events.extend(rest);
    assert_eq!(distinct(&events), EVENTS as usize);
    assert_ordered(&events);
    let repeats = events.len() - EVENTS as usize;
    assert!(repeats <= early - settled, "{repeats} repeats, {early} delivered and {settled} of them settled");
    assert_eq!(fixture.number("select count(*) from outbox_parked"), 0);
}

#[test]
fn two_relays_share_the_work() {
    let fixture = Fixture::migrated();
    let relays = ["a", "b"]
        .map(|name| fixture.start_relay(&["--sink", &format!("file:{name}.jsonl"), "--lease", "1s"]));
    let holders = "select count(distinct relay)
                   from (select relay, kind, max(n) from outbox_lines group by lane)
                   where kind in ('taken', 'settled')";
    wait_until("both hold lanes, and all are held", || {
        let status = fixture.status();
        status["subscriptions"][0]["lanes_held"] == 64
            && live_relays(&status) == 2
            && fixture.number(holders) == 2
    });
    fixture.publish(2_000, 500);
    wait_until("everything has arrived", || {
        fixture.lines("a.jsonl").len() + fixture.lines("b.jsonl").len() >= 2_000
    });
    drop(relays);

    let (a, b) = (fixture.lines("a.jsonl"), fixture.lines("b.jsonl"));
    assert!(a.len() > 500 && b.len() > 500, "{} and {}", a.len(), b.len());
    assert_ordered(&a);
    assert_ordered(&b);
    assert_eq!(distinct(&[a, b].concat()), 2_000);
}

#[test]
fn two_relays_do_not_write_one_file() {
    let fixture = Fixture::migrated();
    let _first = fixture.start_relay(&["--sink", "file:events.jsonl"]);
    wait_until("the first one has its file", || live_relays(&fixture.status()) == 1);
    let second = ["relay", "--database", "sqlite://shop.db", "--sink", "file:events.jsonl", "--once"];

    fixture
        .run(&second)
        .failed(1, &["events.jsonl is being written by another sink", "give each its own file"]);
}
