//! Which lanes a relay takes, keeps and gives back.

use std::time::Duration;

use posthaste_core::{ActKind, Filter, Lane, OperatorAct, Pattern, Subscription};
use posthaste_relay::machine::Note;

use crate::bench::{Bench, NAME, key_in, well};

// pitfalls D22, D23
#[test]
fn a_relay_alone_takes_every_lane_in_one_statement_and_in_order() {
    let mut bench = Bench::new(8);

    bench.renew();
    bench.drain();

    let lanes: Vec<Lane> = bench.appends[0].iter().map(|act| act.lane).collect();
    assert_eq!(lanes, (0..8).map(Lane).collect::<Vec<_>>());
    assert_eq!(bench.appends.len(), 1);
    bench.append();
    assert_eq!(bench.machine.held().len(), 8);
}

// A census that arrives after a take has taken effect, but before its answer, shows the lane as its own.
// pitfalls D1, D5
#[test]
fn a_lane_whose_take_is_on_its_way_is_not_taken_a_second_time() {
    let mut bench = Bench::new(1);
    bench.renew();
    bench.drain();
    let acts = bench.appends.pop_front().unwrap();
    let answers = bench.apply(&acts);

    let census = bench.hold_as("me");
    bench.tell(&census);
    bench.drain();
    assert!(bench.appends.is_empty());
    bench.machine.appended(bench.now, Some(answers));
    bench.drain();

    assert!(bench.appends.is_empty(), "the lane is ours already");
    assert_eq!((bench.machine.held().len(), bench.last_line(Lane(0)).n), (1, 2));
}

#[test]
fn lanes_whose_take_is_on_its_way_count_for_the_share() {
    let mut bench = Bench::new(4);
    bench.hold_as("other");
    bench.renew();
    bench.drain();

    bench.renew();
    bench.settle();

    assert_eq!(bench.machine.held().len(), 2);
}

// pitfalls S5, S17, D8
#[test]
fn lanes_of_a_relay_that_is_gone_are_taken_when_its_lease_has_ended() {
    let mut bench = Bench::new(2);
    bench.take_lanes();
    let mut other = bench.another_machine(8);
    bench.hold_as("other");

    bench.pass(bench.settings.lease - Duration::from_millis(1));
    let census = bench.hold_as("other");
    assert!(census.lanes.iter().all(|lane| lane.holder.is_some()), "its lease is good");
    bench.pass(Duration::from_millis(2));
    let census = bench.hold_as("other");
    let deadline = bench.now + bench.settings.sending_time();
    other.census(bench.now, &posthaste_core::RelayId("other".to_owned()), &census, deadline);

    let Some(posthaste_relay::machine::Command::Append(acts)) = other.poll(bench.now) else {
        panic!("it takes them")
    };
    assert_eq!(acts.len(), 2);
}

#[test]
fn a_census_that_comes_after_its_deadline_takes_nothing() {
    let mut bench = Bench::new(1);
    let census = bench.hold_as("me");
    let deadline = bench.now + bench.settings.sending_time();

    bench.now = deadline;
    bench.machine.census(bench.now, &bench.me.clone(), &census, deadline);
    bench.drain();

    assert!(bench.appends.is_empty());
}

#[test]
fn a_share_is_the_number_of_lanes_by_the_number_of_relays_rounded_up() {
    for (lanes, relays, share) in [(8, 1, 8), (8, 2, 4), (8, 3, 3), (64, 5, 13), (2, 5, 1)] {
        let mut bench = Bench::new(lanes);
        for relay in 1..relays {
            bench.hold_as(&format!("other {relay}"));
        }

        let held = bench.take_lanes();

        assert_eq!(held.len(), share, "{lanes} lanes, {relays} relays");
    }
}

// pitfalls D2, O4
#[test]
fn surplus_lanes_are_given_back_only_after_what_is_on_the_wire_is_settled() {
    let mut bench = Bench::new(2);
    for lane in [Lane(0), Lane(1)] {
        bench.publish(&key_in(lane, 2));
    }
    bench.take_lanes();
    let (kept, surplus) = (bench.send_of(Lane(0)), bench.send_of(Lane(1)));

    bench.hold_as("other");
    bench.renew();
    bench.settle();
    assert_eq!(bench.machine.held().len(), 2, "something of it is on the wire");
    bench.answer_send(surplus, well);
    bench.settle();

    let line = bench.last_line(Lane(1));
    assert_eq!((line.kind, line.delivered), (ActKind::GivenBack, 1), "settled and given back in one line");
    assert_eq!(bench.machine.held().iter().collect::<Vec<_>>(), [kept.lane]);
}

#[test]
fn a_lane_that_is_to_be_given_back_is_neither_read_nor_sent_any_more() {
    let mut bench = Bench::new(2);
    bench.take_lanes();
    bench.publish(&key_in(Lane(1), 2));
    bench.machine.ring();
    let first = bench.send_of(Lane(1));

    bench.publish(&key_in(Lane(1), 2));
    bench.hold_as("other");
    bench.renew();
    bench.machine.ring();
    bench.drain();
    assert!(bench.reads.iter().all(|read| !read.lanes.contains(Lane(1))));
    bench.answer_send(first, well);
    bench.settle();
    bench.read_on();

    assert!(bench.sends.is_empty());
    assert_eq!(bench.last_line(Lane(1)).kind, ActKind::GivenBack);
}

#[test]
fn a_paused_subscription_gives_everything_back_and_goes_on_when_it_is_resumed() {
    let mut bench = Bench::new(4);
    bench.take_lanes();

    bench.store.act(bench.db_now(), &OperatorAct::Pause(NAME.to_owned()), "ada").unwrap();
    let event = bench.publish("a");
    bench.run_for(Duration::from_secs(20), well);
    assert!(bench.machine.held().is_empty() && bench.received.is_empty());
    assert!((0..4).all(|lane| bench.last_line(Lane(lane)).kind == ActKind::GivenBack));
    bench.store.act(bench.db_now(), &OperatorAct::Resume(NAME.to_owned()), "ada").unwrap();
    bench.run_for(Duration::from_secs(1), well);

    assert_eq!((bench.machine.held().len(), bench.received.as_slice()), (4, [event].as_slice()));
}

#[test]
fn a_read_that_finds_the_subscription_paused_asks_for_a_census_at_once() {
    let mut bench = Bench::new(1);
    bench.take_lanes();
    bench.store.act(bench.db_now(), &OperatorAct::Pause(NAME.to_owned()), "ada").unwrap();

    bench.machine.ring();
    bench.read_on();

    assert_eq!(bench.renewals, 1);
}

// pitfall L24
#[test]
fn a_relay_of_an_older_generation_holds_nothing_and_says_so() {
    let mut bench = Bench::new(2);
    bench.take_lanes();
    bench.publish("a");

    let filter = Filter { types: vec![Pattern::new("other.*")], ..Filter::default() };
    bench.store.subscribe(bench.db_now(), &Subscription { filter, ..Subscription::new(NAME) });
    bench.run_for(Duration::from_secs(20), well);

    assert!(bench.machine.held().is_empty());
    assert!(bench.notes.contains(&Note::Outdated { ours: 1, stored: 2 }));
    assert!(bench.received.is_empty(), "what it would skip is not for it to judge");
}

// pitfall L24
#[test]
fn what_is_read_of_a_subscription_that_was_configured_anew_is_neither_sent_nor_passed() {
    let mut bench = Bench::new(1);
    bench.take_lanes();
    let (event, cursor) = (bench.publish("a"), bench.last_line(Lane(0)).cursor);

    let filter = Filter { types: vec![Pattern::new("*")], ..Filter::default() };
    bench.store.subscribe(bench.db_now(), &Subscription { filter, ..Subscription::new(NAME) });
    bench.machine.ring();
    bench.read_on();
    assert!(bench.sends.is_empty());
    bench.run_for(Duration::from_secs(1), well);

    let line = bench.last_line(Lane(0));
    assert_eq!(
        (line.kind, line.cursor),
        (ActKind::GivenBack, cursor),
        "{event} is left to a relay that knows"
    );
}

// pitfall D2
#[test]
fn relays_that_start_together_seldom_want_the_same_lanes() {
    let mut first_choices = std::collections::BTreeSet::new();
    for seed in 0..20 {
        let mut bench = Bench::new(16).seeded(seed);
        bench.hold_as("other");
        bench.renew();
        bench.drain();
        let lanes: Vec<u8> = bench.appends[0].iter().map(|act| act.lane.0).collect();
        first_choices.insert(lanes);
    }

    assert!(first_choices.len() > 5, "{first_choices:?}");
}
