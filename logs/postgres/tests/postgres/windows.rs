//! Reading between two snapshots: nothing is missed, whatever order transactions commit in and however long one stays open.

use posthaste_core::{Admin, Appended, Inspect, OperatorAct, ResetTo, StatusWord};
use posthaste_core::{Cursor, EventFilter, LaneSet, Log, Position, Read, Snapshot, Start, Subscription};
use sqlx::PgConnection;

use crate::{
    fixture::{Fixture, LANES, SUB, everything, keyed, number, run},
    walk::{Walk, behind_last, positions},
};

#[tokio::test]
async fn what_commits_late_is_delivered_and_nobody_waits_for_it() {
    let fixture = Fixture::subscribed().await;
    let mut walk = Walk::take(&fixture.log, "a").await;
    let (late, first) = fixture.publish_and_wait("k").await;

    for _ in 0..3 {
        let other = fixture.publish([keyed("k")]).await[0].spot.unwrap().position;
        assert_eq!(walk.drain().await, [other.0], "{first} is under way, and stops nobody");
    }
    late.commit().await.unwrap();

    assert_eq!(walk.drain().await, [first.0]);
    assert_eq!(walk.drain().await, [0; 0]);
}

#[tokio::test]
async fn what_is_late_takes_its_place_among_what_is_new() {
    let fixture = Fixture::subscribed().await;
    let mut walk = Walk::take(&fixture.log, "a").await;
    let (mut first, first_position) = fixture.publish_and_wait("k").await;
    let second = fixture.publish([keyed("k")]).await[0].spot.unwrap().position;
    let (third, third_position) = fixture.publish_and_wait("k").await;
    assert_eq!(walk.drain().await, [second.0]);

    let fourth = fixture.publish([keyed("k")]).await[0].spot.unwrap().position;
    let fifth = fixture.publish_in(&mut first, [keyed("k")]).await[0].spot.unwrap().position;
    third.commit().await.unwrap();
    let sixth = fixture.publish([keyed("k")]).await[0].spot.unwrap().position;
    first.commit().await.unwrap();

    let expected = [first_position.0, third_position.0, fourth.0, fifth.0, sixth.0];
    assert_eq!(walk.drain().await, expected, "by position, whoever committed first and whoever is late");
}

#[tokio::test]
async fn pages_of_a_window_with_late_events_have_no_gap_and_no_repeat() {
    let fixture = Fixture::subscribed().await;
    let mut walk = Walk::take(&fixture.log, "a").await;
    let mut late = Vec::new();
    for number in 0..5 {
        let mut tx = fixture.begin().await;
        fixture.publish_in(&mut tx, (0..3).map(|_| keyed(&format!("late-{number}")))).await;
        if number % 2 == 0 { late.push(tx) } else { tx.commit().await.unwrap() }
    }
    assert_eq!(walk.drain().await, [4, 5, 6, 10, 11, 12]);
    fixture.publish((0..5).map(|_| keyed("new"))).await;
    for tx in late {
        tx.commit().await.unwrap();
    }

    let mut seen = Vec::new();
    loop {
        let page = walk.read(4).await;
        seen.extend(positions(&page.entries));
        walk.settle(&page.end).await;
        if !page.more {
            break;
        }
    }

    assert_eq!(seen, [1, 2, 3, 7, 8, 9, 13, 14, 15, 16, 17, 18, 19, 20]);
    assert_eq!(walk.drain().await, [0; 0]);
}

#[tokio::test]
async fn a_snapshot_that_somebody_holds_changes_nothing() {
    let fixture = Fixture::subscribed().await;
    let mut walk = Walk::take(&fixture.log, "a").await;
    let mut report = fixture.connect().await;
    run(&mut report, "begin isolation level repeatable read; select count(*) from outbox").await.unwrap();

    for _ in 0..5 {
        let sent = fixture.publish([keyed("k"), keyed("l")]).await;
        assert_eq!(walk.drain().await, [sent[0].spot.unwrap().position.0, sent[1].spot.unwrap().position.0]);
    }
    assert_eq!(number(&mut report, "select count(*) from outbox").await, 0, "it is held");
}

#[tokio::test]
async fn prepared_transactions_are_late_until_somebody_decides() {
    let fixture = Fixture::subscribed().await;
    let mut walk = Walk::take(&fixture.log, "a").await;
    let name = |number: u8| format!("'{}.{number}'", fixture.schema.name);
    let mut other = fixture.connect().await;
    for number in 1..=2 {
        let prepared = format!(
            "begin; insert into outbox (topic, event_type, key, payload) values ('t', 'e', 'k', '1');
             prepare transaction {}",
            name(number)
        );
        run(&mut other, &prepared).await.unwrap();
    }
    fixture.publish([keyed("k")]).await;
    assert_eq!(walk.drain().await, [3]);

    run(&mut other, &format!("commit prepared {}", name(2))).await.unwrap();
    assert_eq!(walk.drain().await, [2]);
    run(&mut other, &format!("rollback prepared {}", name(1))).await.unwrap();
    fixture.publish([keyed("k")]).await;
    assert_eq!(walk.drain().await, [4], "what was rolled back never was");
}

#[tokio::test]
async fn what_a_savepoint_took_back_never_was() {
    let fixture = Fixture::subscribed().await;
    let mut walk = Walk::take(&fixture.log, "a").await;
    let insert = "insert into outbox (topic, event_type, key, payload) values ('t', 'e', 'k', '1')";
    let mut other = fixture.connect().await;
    let steps = [
        "begin; savepoint one",
        insert,
        "savepoint two",
        insert,
        "rollback to two",
        insert,
        "release one; savepoint three",
        insert,
    ];
    for step in steps {
        run(&mut other, step).await.unwrap();
        assert_eq!(walk.drain().await, [0; 0]);
    }
    fixture.publish([keyed("k")]).await;
    assert_eq!(walk.drain().await, [5]);

    run(&mut other, "rollback to three; commit").await.unwrap();

    assert_eq!(walk.drain().await, [1, 3]);
}

#[tokio::test]
async fn writers_of_every_isolation_level_are_read() {
    let fixture = Fixture::subscribed().await;
    let mut walk = Walk::take(&fixture.log, "a").await;
    let mut writers: Vec<PgConnection> = Vec::new();
    for level in ["read committed", "repeatable read", "serializable"] {
        let mut writer = fixture.connect().await;
        // Its snapshot is older than what others commit meanwhile.
        run(&mut writer, &format!("begin isolation level {level}; select count(*) from outbox_meta"))
            .await
            .unwrap();
        writers.push(writer);
    }
    fixture.publish([keyed("k")]).await;
    assert_eq!(walk.drain().await, [1]);

    for (writer, position) in writers.iter_mut().zip(2..) {
        let insert = "insert into outbox (topic, event_type, key, payload) values ('t', 'e', 'k', '1')";
        run(writer, insert).await.unwrap();
        assert_eq!(walk.drain().await, [0; 0]);
        run(writer, "commit").await.unwrap();
        assert_eq!(walk.drain().await, [position]);
    }
}

/// Ten events in a window, of which four are settled; meanwhile others commit, also one that inserted first.
async fn half_done() -> (Fixture, Walk) {
    let fixture = Fixture::subscribed().await;
    let mut walk = Walk::take(&fixture.log, "a").await;
    let (late, _) = fixture.publish_and_wait("k").await;
    fixture.publish((0..10).map(|_| keyed("k"))).await;
    let page = walk.read(4).await;
    assert_eq!(positions(&page.entries), [2, 3, 4, 5]);
    walk.settle(&page.end).await;
    late.commit().await.unwrap();
    fixture.publish([keyed("k")]).await;
    (fixture, walk)
}

#[tokio::test]
async fn a_window_that_is_half_done_is_resumed_from_its_line() {
    let (fixture, walk) = half_done().await;
    drop(walk);

    let again = fixture.open_again().await;
    let mut walk = Walk::take(&again, "b").await;

    let page = walk.read(1_000).await;
    assert_eq!(
        positions(&page.entries),
        [6, 7, 8, 9, 10, 11],
        "what is left of it, and nothing that is newer"
    );
    walk.settle(&page.end).await;
    assert_eq!(walk.drain().await, [1, 12]);
}

#[tokio::test]
async fn a_window_is_taken_over_half_done_and_the_first_relay_changes_nothing() {
    let (fixture, mut first) = half_done().await;
    let page = first.read(3).await;
    assert_eq!(positions(&page.entries), [6, 7, 8]);

    let other = fixture.open_again().await;
    let mut second = Walk::take(&other, "b").await;

    assert_eq!(first.settle(&page.end).await, [Appended::Fenced; LANES as usize]);
    assert_eq!(second.drain().await, [6, 7, 8, 9, 10, 11, 1, 12]);
}

#[tokio::test]
async fn a_lane_that_is_behind_joins_the_others() {
    let fixture = Fixture::subscribed().await;
    let mut walk = Walk::take(&fixture.log, "a").await;
    let (late, _) = fixture.publish_and_wait("k0").await;
    fixture.publish((0..20).map(|number| keyed(&format!("k{number}")))).await;
    let behind = LaneSet::first(2);
    let ahead: LaneSet = LaneSet::first(LANES).iter().filter(|lane| !behind.contains(*lane)).collect();
    let mut seen = Vec::new();

    // The others go through a window and into the middle of the next one.
    let first = fixture.log.read(&Read { lanes: ahead, ..walk.next_read(1_000) }).await.unwrap();
    seen.extend(positions(&first.entries));
    walk.settle_lanes(ahead, &first.end).await;
    late.commit().await.unwrap();
    fixture.publish((0..20).map(|number| keyed(&format!("k{number}")))).await;
    let read = Read { lanes: ahead, after: first.end, ..walk.next_read(5) };
    let second = fixture.log.read(&Read { until: None, ..read }).await.unwrap();
    seen.extend(positions(&second.entries));
    walk.settle_lanes(ahead, &second.end).await;

    for _ in 0..4 {
        let read = walk.next_read(1_000);
        if read.until.is_none() {
            break;
        }
        let page = walk.read(1_000).await;
        seen.extend(positions(&page.entries));
        walk.settle(&page.end).await;
    }
    assert_eq!(walk.cursor(), second.end, "all stand at one place again");
    seen.extend(walk.drain().await);
    seen.sort_unstable();
    assert_eq!(seen, (1..=41).collect::<Vec<i64>>(), "and each event came once");
}

#[tokio::test]
async fn windows_only_go_forward_whatever_their_numbers_say() {
    let fixture = Fixture::subscribed().await;
    let mut connection = fixture.connect().await;
    let (late, _) = fixture.publish_and_wait("k").await;
    let old = now(&mut connection).await;
    late.commit().await.unwrap();
    fixture.publish([keyed("k")]).await;
    // Two relays may draw their numbers in another order than their snapshots.
    let new = Snapshot::kept(7, now(&mut connection).await);
    let old = Snapshot::kept(9, old);
    let done = Cursor { from: new.clone(), to: new, after: Position(2) };
    let until = Cursor { from: old.clone(), to: old, after: Position(2) };

    let mut seen = Vec::new();
    let mut read = Read { after: done, until: Some(until), ..everything() };
    for _ in 0..3 {
        let page = fixture.log.read(&read).await.unwrap();
        seen.extend(positions(&page.entries));
        read = Read { after: page.end, until: None, ..read };
    }

    assert_eq!(seen, [0; 0], "all of it was done");
    fixture.publish([keyed("k")]).await;
    assert_eq!(positions(&fixture.log.read(&read).await.unwrap().entries), [3]);
}

async fn now(connection: &mut PgConnection) -> String {
    sqlx::query_scalar("select pg_current_snapshot()::text").fetch_one(connection).await.unwrap()
}

#[tokio::test]
async fn where_nothing_happens_nothing_is_written() {
    let fixture = Fixture::subscribed().await;
    let mut walk = Walk::take(&fixture.log, "a").await;
    fixture.publish([keyed("k")]).await;
    assert_eq!(walk.drain().await, [1]);
    let written = "select (select count(*) from outbox_lines) + (select count(*) from outbox_snapshots)
        + (select last_value from outbox_snapshot_numbers)";
    let before = fixture.number(written).await;

    for _ in 0..3 {
        // Others write in the same database all the time, so that each look sees another snapshot.
        fixture.run("select pg_current_xact_id()").await.unwrap();
        assert_eq!(walk.drain().await, [0; 0]);
    }

    assert_eq!(fixture.number(written).await, before);
    fixture.publish([keyed("k")]).await;
    assert_eq!(walk.drain().await, [2]);
}

#[tokio::test]
async fn a_subscription_that_begins_now_gets_what_commits_later() {
    let fixture = Fixture::new().await;
    fixture.publish([keyed("k")]).await;
    let (late, second) = fixture.publish_and_wait("k").await;
    fixture.publish([keyed("k")]).await;

    fixture.log.subscribe(&Subscription { start: Start::Now, ..Subscription::new(SUB) }).await.unwrap();
    let mut walk = Walk::take(&fixture.log, "a").await;

    assert_eq!(walk.drain().await, [0; 0]);
    assert_eq!(word(&fixture, StatusWord::Skipped).await, [3, 1]);
    late.commit().await.unwrap();
    assert_eq!(word(&fixture, StatusWord::Pending).await, [second.0]);
    assert_eq!(walk.drain().await, [second.0]);
    assert_eq!(word(&fixture, StatusWord::Delivered).await, [second.0]);
}

#[tokio::test]
async fn a_reset_does_not_pass_what_is_under_way() {
    for (to, again) in [(ResetTo::Now, &[][..]), (ResetTo::Position(Position(3)), &[3, 4][..])] {
        let fixture = Fixture::subscribed().await;
        let (late, _) = fixture.publish_and_wait("k").await;
        fixture.publish((0..3).map(|_| keyed("k"))).await;
        fixture.log.act(&OperatorAct::Pause(SUB.to_owned()), "ada").await.unwrap();
        fixture.log.act(&OperatorAct::Reset { subscription: SUB.to_owned(), to }, "ada").await.unwrap();
        fixture.log.act(&OperatorAct::Resume(SUB.to_owned()), "ada").await.unwrap();

        let mut walk = Walk::take(&fixture.log, "a").await;
        assert_eq!(walk.drain().await, again, "{to:?}");
        late.commit().await.unwrap();
        assert_eq!(walk.drain().await, [1], "{to:?}");
    }
}

#[tokio::test]
async fn an_event_that_commits_late_is_pending_until_it_is_delivered() {
    let fixture = Fixture::subscribed().await;
    let mut walk = Walk::take(&fixture.log, "a").await;
    let (late, first) = fixture.publish_and_wait("k").await;
    fixture.publish([keyed("k"), keyed("l")]).await;
    let page = walk.read(1).await;
    walk.settle(&behind_last(&page)).await;
    let pending = async || fixture.log.status().await.unwrap().subscriptions[0].pending;
    assert_eq!((pending().await, word(&fixture, StatusWord::Pending).await), (1, vec![3]), "half a window");

    walk.drain().await;
    assert_eq!((pending().await, word(&fixture, StatusWord::Pending).await), (0, vec![]));
    late.commit().await.unwrap();
    assert_eq!((pending().await, word(&fixture, StatusWord::Pending).await), (1, vec![first.0]));

    walk.drain().await;
    assert_eq!((pending().await, word(&fixture, StatusWord::Delivered).await), (0, vec![3, 2, 1]));
}

/// The events with this status, newest first.
async fn word(fixture: &Fixture, word: StatusWord) -> Vec<i64> {
    let filter =
        EventFilter { subscription: Some(SUB.to_owned()), status: Some(word), ..EventFilter::default() };
    fixture.log.list(&filter).await.unwrap().items.iter().map(|item| item.position.0).collect()
}
