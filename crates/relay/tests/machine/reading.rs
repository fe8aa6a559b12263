//! What is read, when it is void, and how lanes that stand apart come together.

use std::time::Duration;

use posthaste_core::{Cursor, Delivery, Fault, Filter, Lane, Limit, Origin, Pattern, Position};
use posthaste_relay::machine::Note;

use crate::bench::{Bench, draft, key_in, parked, positions, refuse, well};

/// One lane, pages of four entries, batches of two.
fn small_pages() -> Bench {
    Bench::with(1, |_, settings| {
        settings.page = Limit { entries: 4, bytes: 100_000 };
        settings.buffer = Limit { entries: 8, bytes: 400_000 };
        settings.batch = 2;
    })
}

// pitfalls O4, O7
#[test]
fn what_was_read_ahead_is_void_after_a_settlement_that_parks() {
    let mut bench = small_pages();
    let [head, other, follower, last] = ["a", "b", "a", "b"].map(|key| bench.publish(key));
    bench.take_lanes();
    let batch = bench.send();
    assert_eq!((positions(&batch.entries), bench.machine.buffered()), (vec![head, other], 4));

    bench.answer_send(batch, refuse(head, Fault::transient("not now")));
    bench.settle();
    let again = bench.reads.pop_front().unwrap();
    assert!(bench.sends.is_empty(), "what was read before is not sent");
    bench.answer_read(&again);
    bench.drain();

    assert_eq!(again.after, Cursor::at(other));
    let batch = bench.send();
    assert_eq!(positions(&batch.entries), [last]);
    bench.answer_send(batch, well);
    bench.drain();
    assert_eq!(parked(&bench.appends[0][0]), [follower], "it has to wait behind the head");
}

// pitfalls O4, O7, D6
#[test]
fn a_page_that_was_asked_for_before_a_settlement_that_parks_is_ignored() {
    let mut bench = small_pages();
    let head = bench.publish("a");
    bench.take_lanes();
    let batch = bench.send();
    bench.publish("a");
    bench.machine.ring();
    bench.drain();
    let read = bench.reads.pop_front().unwrap();
    let page = bench.store.read(bench.db_now(), &read);

    bench.answer_send(batch, refuse(head, Fault::transient("not now")));
    bench.settle();
    bench.machine.page(bench.now, Some(page));
    bench.drain();

    assert_eq!((bench.sends.len(), bench.machine.buffered()), (0, 0), "it does not know of the parked head");
}

// pitfalls D6, D14, D16
#[test]
fn parked_entries_are_not_read_a_second_time_while_they_are_on_their_way() {
    let mut bench = Bench::new(1);
    let head = bench.publish("a");
    bench.run_for(Duration::from_millis(50), refuse(head, Fault::transient("not now")));
    bench.pass(Duration::from_secs(1));
    let batch = bench.send();
    assert_eq!(batch.entries[0].origin, Origin::Parked);

    assert!(bench.asks_for_parked().is_empty(), "it is on the wire");
    bench.answer_send(batch, well);
    assert!(bench.asks_for_parked().is_empty(), "its settlement is on its way");
    bench.append();
    bench.run(well);

    assert_eq!(bench.received, [head]);
}

// pitfalls O9, D14
#[test]
fn a_delayed_event_is_parked_without_blocking_its_key() {
    let mut bench = Bench::new(1);
    let delay = Duration::from_secs(10);
    let delayed = bench.publish_event(draft().key("a").deliver_in(delay)).position;
    let today = bench.publish("a");

    bench.run_for(delay - Duration::from_millis(1), well);
    assert_eq!((bench.received.as_slice(), bench.parked()), ([today].as_slice(), vec![delayed]));
    let tomorrow = bench.publish("a");
    bench.pass(Duration::from_millis(1));
    bench.run(well);
    bench.run_for(Duration::from_millis(10), well);

    assert_eq!(bench.received, [today, delayed, tomorrow], "when it is due it takes its place");
    assert_eq!(bench.failures_of(delayed), 0, "no attempt was counted");
}

// pitfalls S15, S17
#[test]
fn a_retry_comes_when_it_is_due_and_not_at_the_next_poll() {
    let mut bench = idle_bench();
    bench.publish("a");
    bench.machine.ring();
    let batch = bench.send();
    bench.idle_on();

    bench.answer_send(batch, |_| Delivery::Failed(Fault::transient("not now")));
    let failed_at = bench.now;
    bench.settle();
    bench.send_or_wait();

    let wait = bench.now.since(failed_at);
    assert!((150..=250).contains(&wait.as_millis()), "{wait:?}");
}

// pitfalls S15, D14
#[test]
fn a_delayed_event_comes_when_it_is_due_and_not_at_the_next_poll() {
    let mut bench = idle_bench();
    let due = bench.now + Duration::from_secs(62);
    bench.publish_event(draft().key("a").deliver_in(Duration::from_secs(62)));
    bench.machine.ring();
    bench.read_on();
    bench.idle_on();

    // The settlement that parks it is answered late.
    bench.append();
    bench.send_or_wait();

    assert_eq!(bench.now, due);
}

/// A lane at rest: the next poll is ten seconds away.
fn idle_bench() -> Bench {
    let mut bench = Bench::with(1, |_, settings| settings.poll_max = Duration::from_secs(10));
    bench.run_for(Duration::from_secs(60), well);
    bench
}

// pitfall B14
#[test]
fn lanes_at_the_same_place_are_read_together() {
    let mut bench = Bench::new(16);
    bench.renew();
    bench.run(well);

    assert_eq!(bench.statements.0, 1);
}

// pitfall B14
#[test]
fn a_lane_that_is_behind_is_read_up_to_where_the_others_stand_and_joins_them() {
    let mut bench = Bench::new(4);
    bench.hold_as("other");
    let ours = bench.take_lanes();
    for number in 0..200 {
        bench.publish(&format!("k{number}"));
    }
    bench.run_for(Duration::from_secs(10), well);
    bench.pass(Duration::from_secs(6));
    bench.renew();
    bench.read_on();
    assert_eq!((ours.len(), bench.take_lanes().len()), (2, 4), "the other one's lease has ended");
    bench.publish("new");

    bench.machine.ring();
    bench.drain();
    let behind = bench.reads.pop_front().unwrap();
    bench.answer_read(&behind);
    bench.drain();
    let together = bench.reads.pop_front().unwrap();

    assert_eq!((behind.lanes.len(), behind.until), (2, Some(Cursor::at(Position(200)))));
    assert_eq!((together.lanes.len(), together.after.clone()), (4, Cursor::at(Position(200))));
    bench.answer_read(&together);
    bench.run(well);
    assert_eq!(bench.received.len(), 201);
}

#[test]
fn what_the_filter_excludes_is_passed_and_counted_but_not_sent() {
    let mut bench = Bench::with(1, |subscription, _| {
        subscription.filter = Filter { types: vec![Pattern::new("wanted")], ..Filter::default() };
    });
    let unwanted = bench.publish("a");
    let wanted =
        bench.publish_event(posthaste_core::Event::of("wanted").bytes("x", "text/plain").key("a")).position;

    bench.run_for(Duration::from_secs(1), well);

    assert_eq!(bench.received, [wanted]);
    assert!(bench.notes.contains(&Note::Skipped(1)));
    assert!(bench.last_line(Lane(0)).cursor.has_passed(unwanted));
}

// pitfalls S22, B10
#[test]
fn a_read_that_fails_is_tried_again_although_somebody_rang_meanwhile() {
    let mut bench = Bench::new(1);
    bench.take_lanes();
    let event = bench.publish("a");
    bench.drain();
    bench.reads.pop_front().unwrap();

    bench.machine.page(bench.now, None);
    bench.machine.ring();
    bench.drain();
    assert!(bench.reads.is_empty(), "a ring does not hurry a log that has just failed");
    let wake = bench.machine.wake_at().unwrap();
    assert!(wake.since(bench.now) <= bench.settings.poll_max, "woken after {:?}", wake.since(bench.now));
    bench.now = wake;
    bench.run(well);

    assert_eq!(bench.received, [event]);
}

// pitfall S8
#[test]
fn more_parked_entries_than_a_batch_holds_are_all_delivered() {
    let mut bench = Bench::with(1, |_, settings| settings.batch = 10);
    let head = bench.publish("a");
    bench.run_for(Duration::from_millis(50), refuse(head, Fault::transient("not now")));
    let followers: Vec<Position> = (0..95).map(|_| bench.publish("a")).collect();

    bench.run_for(Duration::from_secs(1), well);

    let expected: Vec<Position> = std::iter::once(head).chain(followers).collect();
    assert_eq!(bench.received, expected);
}

#[test]
fn lanes_of_others_are_not_read() {
    let mut bench = Bench::new(2);
    bench.hold_as("other");
    bench.take_lanes();
    let mine = bench.machine.held();
    let foreign = (0..2).map(Lane).find(|lane| !mine.contains(*lane)).unwrap();
    bench.publish(&key_in(foreign, 2));
    bench.machine.ring();

    bench.drain();

    assert!(bench.reads.iter().all(|read| !read.lanes.contains(foreign) && !read.parked.contains(foreign)));
}
