//! Within a key, first deliveries are in log order, and a key that fails stops only itself.

use std::time::Duration;

use posthaste_core::{Change, Delivery, Fault, OnDead, OperatorAct, Origin, Position, RetryPolicy};

use crate::bench::{Bench, buried, parked, positions, refuse, well};

// pitfalls O2, O7, O11, O17
#[test]
fn followers_of_a_failed_head_are_parked_in_the_same_settlement() {
    let mut bench = Bench::new(1);
    let [head, other, follower] = ["a", "b", "a"].map(|key| bench.publish(key));
    bench.take_lanes();

    let batch = bench.send();
    bench.answer_send(batch, refuse(head, Fault::transient("not now")));
    bench.drain();

    let act = &bench.appends[0][0];
    assert_eq!(parked(act), [head, follower]);
    assert_eq!((act.delivered, bench.received.as_slice()), (1, [other].as_slice()));
}

// pitfalls O4, O7
#[test]
fn nothing_of_a_key_is_sent_before_the_settlement_that_parks_its_head() {
    let mut bench = Bench::new(1);
    let head = bench.publish("a");
    bench.take_lanes();
    let batch = bench.send();
    bench.answer_send(batch, refuse(head, Fault::transient("not now")));

    let newer = bench.publish("a");
    bench.machine.ring();
    bench.read_on();
    assert!(bench.sends.is_empty(), "the settlement is on its way");
    bench.append();
    bench.read_on();

    assert!(bench.sends.is_empty(), "the head waits for its retry");
    assert_eq!(parked(&bench.appends[0][0]), [newer]);
}

// pitfalls O7, D13, S15
#[test]
fn however_often_a_head_fails_its_followers_come_after_it() {
    let mut bench = Bench::new(1);
    let [head, second, third] = ["a", "a", "a"].map(|key| bench.publish(key));
    let mut failures = 0;

    bench.run_for(Duration::from_secs(10), |entry| {
        let fails = entry.position == head && failures < 4;
        failures += u32::from(fails);
        if fails { Delivery::Failed(Fault::transient("not now")) } else { Delivery::Delivered }
    });

    assert_eq!(failures, 4);
    assert_eq!(bench.received, [head, second, third]);
    assert!(bench.parked().is_empty());
}

// pitfalls S1, S4, S20, S29
#[test]
fn entries_of_other_keys_go_on_while_one_key_waits() {
    let mut bench = Bench::new(1);
    let poison = bench.publish("a");
    bench.run_for(Duration::from_millis(100), refuse(poison, Fault::transient("not now")));

    let others: Vec<Position> = (0..50).map(|number| bench.publish(&format!("b{number}"))).collect();
    bench.machine.ring();
    bench.run(refuse(poison, Fault::transient("not now")));

    assert_eq!(bench.received, others);
}

// pitfalls L6, O2
#[test]
fn a_dead_head_is_written_before_its_follower_is_sent() {
    let mut bench = Bench::new(1);
    let [head, follower] = ["a", "a"].map(|key| bench.publish(key));
    bench.take_lanes();

    let batch = bench.send();
    bench.answer_send(batch, refuse(head, Fault::permanent("never")));
    bench.read_on();
    assert!(bench.sends.is_empty(), "the dead letter is not written yet");
    assert_eq!(buried(&bench.append()[0]), [head]);
    let batch = bench.send();

    assert_eq!(bench.dead(), [head]);
    assert_eq!((positions(&batch.entries), batch.entries[0].origin), (vec![follower], Origin::Parked));
}

// pitfall S1
#[test]
fn under_hold_a_key_waits_for_a_person_and_then_goes_on() {
    let mut bench = Bench::with(1, |subscription, _| subscription.on_dead = OnDead::Hold);
    let [head, follower, other] = ["a", "a", "b"].map(|key| bench.publish(key));

    bench.run_for(Duration::from_secs(120), refuse(head, Fault::permanent("never")));
    let newer = bench.publish("a");
    bench.run_for(Duration::from_secs(120), well);
    assert_eq!((bench.received.as_slice(), bench.dead()), ([other].as_slice(), vec![head]));
    let all = bench.dead_ids();
    bench.store.act(bench.db_now(), &OperatorAct::Discard(all), "ada").unwrap();
    bench.run_for(Duration::from_secs(5), well);

    assert_eq!(bench.received, [other, follower, newer]);
}

#[test]
fn under_hold_the_dead_head_is_written_before_anything_of_its_key_is_read_again() {
    let mut bench = Bench::with(1, |subscription, _| subscription.on_dead = OnDead::Hold);
    let [head, follower] = ["a", "a"].map(|key| bench.publish(key));
    bench.take_lanes();

    let batch = bench.send();
    bench.answer_send(batch, refuse(head, Fault::permanent("never")));
    bench.drain();

    let act = &bench.appends[0][0];
    assert_eq!((buried(act), parked(act)), (vec![head], vec![follower]));
    assert!(act.changes.iter().any(|change| matches!(change, Change::Bury(buried) if buried.holds)));
    bench.append();
    bench.read_on();
    assert!(bench.sends.is_empty());
}

// pitfalls L11, L12, S16, S20, S34
#[test]
fn an_event_that_uses_up_its_attempts_is_a_dead_letter_and_its_key_goes_on() {
    let policy = RetryPolicy { max_attempts: 3, ..RetryPolicy::default() };
    let mut bench = Bench::with(1, |subscription, _| subscription.retry = policy);
    let [head, follower] = ["a", "a"].map(|key| bench.publish(key));
    let mut tries = 0;

    bench.run_for(Duration::from_secs(10), |entry| {
        let fails = entry.position == head;
        tries += u32::from(fails);
        if fails { Delivery::Failed(Fault::transient("not now")) } else { Delivery::Delivered }
    });

    assert_eq!((tries, bench.dead(), bench.parked()), (3, vec![head], vec![]));
    assert_eq!(bench.received, [follower]);
}

// pitfalls S1, S17: what waits behind it is parked already, and nothing else would make the log be read
#[test]
fn when_a_head_dies_at_a_retry_its_followers_go_at_once() {
    let mut bench = Bench::with(1, |subscription, settings| {
        subscription.retry.max_attempts = 2;
        settings.poll_max = Duration::from_secs(10);
    });
    let [head, follower] = ["a", "a"].map(|key| bench.publish(key));
    bench.run_for(Duration::from_millis(50), refuse(head, Fault::transient("not now")));
    let batch = bench.send_or_wait();
    bench.idle_on();

    bench.answer_send(batch, refuse(head, Fault::transient("not now")));
    bench.settle();
    let next = bench.send();

    assert_eq!((bench.dead(), positions(&next.entries)), (vec![head], vec![follower]));
}

// pitfall O15
#[test]
fn replayed_dead_letters_of_a_key_go_in_their_order() {
    let mut bench = Bench::new(1);
    let dead = ["a", "a", "a"].map(|key| bench.publish(key));
    bench.run_for(Duration::from_secs(10), |_| Delivery::Failed(Fault::permanent("never")));
    assert_eq!(bench.dead(), dead);

    let all = bench.dead_ids();
    bench.store.act(bench.db_now(), &OperatorAct::Replay(all), "ada").unwrap();
    bench.run_for(Duration::from_secs(5), well);

    assert_eq!(bench.received, dead);
}

// pitfall S29
#[test]
fn a_row_that_cannot_be_understood_is_a_dead_letter_and_is_never_sent() {
    let mut bench = Bench::new(1);
    let [garbled, follower, other] = ["a", "a", "b"].map(|key| bench.publish(key));
    bench.store.garble(garbled, "not JSON");

    bench.run_for(Duration::from_secs(5), well);

    assert_eq!(bench.dead(), [garbled]);
    assert_eq!(bench.received, [other, follower]);
}

// pitfall L9
#[test]
fn a_sink_that_answers_for_too_few_entries_gets_the_others_again() {
    let mut bench = Bench::new(1);
    let all = ["a", "b", "c"].map(|key| bench.publish(key));
    bench.take_lanes();

    let batch = bench.send();
    bench.answer_first(batch);
    bench.run(well);

    assert_eq!(bench.received, all);
}
