//! One file, several processes: each with a handle of its own.

use std::{sync::Arc, time::Duration};

use futures_util::{FutureExt, StreamExt, future::join_all};
use posthaste_core::{
    Act, ActKind, Admin, Appended, Change, Due, Entry, Log, OperatorAct, Parked, Position, RelayId,
    Retention, Start, Subscription, Timestamp, Upkeep,
};
use posthaste_sqlite::{SqliteLog, SqliteOptions};
use tokio::time::timeout;

use crate::fixture::{Fixture, SUB, act, everything, keyed, lease};

/// A wait that no test outlasts by accident.
const SOON: Duration = Duration::from_secs(10);

#[tokio::test]
async fn a_zombie_is_fenced_by_what_another_process_wrote() {
    let fixture = Fixture::subscribed().await;
    let other = fixture.open_again().await;
    fixture.hold("zombie").await;
    assert_eq!(fixture.append("zombie", &[act(3, 2, ActKind::Taken, 0)]).await, [Appended::Done]);

    let heir = RelayId("heir".to_owned());
    assert_eq!(other.append(SUB, &heir, &[act(3, 3, ActKind::Taken, 0)]).await.unwrap(), [Appended::Done]);

    let late = [act(3, 3, ActKind::Settled, 9), act(4, 2, ActKind::Taken, 0)];
    assert_eq!(fixture.append("zombie", &late).await, [Appended::Fenced, Appended::Done]);
    other.hold(&lease("heir")).await.unwrap();
    let census = fixture.hold("zombie").await;
    let line = &census.subscriptions[0].lanes[3];
    assert_eq!((line.n, line.holder.clone()), (3, Some(heir)));
}

#[tokio::test]
async fn a_number_is_never_given_out_again() {
    let fixture = Fixture::subscribed().await;
    let line = |n| act(0, n, ActKind::Settled, n);
    for n in 2..=5 {
        assert_eq!(fixture.append("a", &[line(n)]).await, [Appended::Done]);
    }
    // The clock was set back once: line 3 is younger than those behind it.
    fixture.sql("update outbox_lines set at = at + 3600000000 where lane = 0 and n = 3").await.unwrap();
    fixture.clock.advance(Duration::from_secs(60));
    let retention = Retention { lines: Duration::from_secs(1), ..Default::default() };

    assert_eq!(fixture.log.prune(&retention).await.unwrap().lines, 2);
    for n in 1..=5 {
        assert_eq!(fixture.append("zombie", &[line(n)]).await, [Appended::Fenced], "{n}");
    }
    assert_eq!(fixture.append("a", &[line(6)]).await, [Appended::Done]);
}

#[tokio::test]
async fn two_acts_on_one_lane_follow_each_other() {
    let fixture = Fixture::subscribed().await;
    let acts =
        [act(0, 2, ActKind::Taken, 0), act(0, 3, ActKind::Settled, 5), act(0, 4, ActKind::GivenBack, 5)];

    assert_eq!(fixture.append("a", &acts).await, [Appended::Done; 3]);

    let lost = [act(0, 4, ActKind::Taken, 5), act(0, 5, ActKind::Settled, 7)];
    assert_eq!(
        fixture.append("b", &lost).await,
        [Appended::Fenced; 2],
        "who lost the first does nothing more"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writers_of_all_kinds_wait_for_each_other() {
    let fixture = Arc::new(Fixture::subscribed().await);
    let other = fixture.open_again().await;
    let publishing = (0..4).map(|_| {
        let fixture = Arc::clone(&fixture);
        async move {
            for _ in 0..25 {
                fixture.publish([keyed("a"), keyed("b")]).await;
            }
        }
    });
    let settling = async {
        for n in 2..50 {
            let acts: Vec<_> = (0..8).map(|lane| act(lane, n, ActKind::Settled, n)).collect();
            assert_eq!(fixture.append("a", &acts).await, [Appended::Done; 8]);
        }
    };
    let renewing = async {
        for _ in 0..50 {
            other.hold(&lease("b")).await.unwrap();
        }
    };

    tokio::join!(join_all(publishing), settling, renewing);

    assert_eq!(fixture.page().await.entries.len(), 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_settlement_waits_for_another_writer_with_and_without_changes() {
    let fixture = Fixture::subscribed().await;
    let sent = fixture.publish([keyed("a")]).await[0];
    let entry = fixture.page().await.entries.remove(0);
    let plain = act(sent.spot.unwrap().lane.0, 2, ActKind::Taken, 0);
    let parking = Act {
        changes: vec![parked(&entry)],
        ..act(sent.spot.unwrap().lane.0, 3, ActKind::Settled, sent.spot.unwrap().position.0)
    };
    let relay = RelayId("a".to_owned());

    for act in [plain, parking] {
        let acts = [act];
        let writer = posthaste_sqlite::begin(fixture.log.pool()).await.unwrap();
        let mut appending = fixture.log.append(SUB, &relay, &acts);
        assert!(timeout(Duration::from_millis(50), &mut appending).await.is_err(), "one writer at a time");
        writer.rollback().await.unwrap();
        assert_eq!(timeout(SOON, appending).await.unwrap().unwrap(), [Appended::Done]);
    }
    assert_eq!(fixture.number("select count(*) from outbox_parked").await, 1);
}

#[tokio::test]
async fn work_that_nobody_waits_for_any_more_leaves_nothing_behind() {
    let fixture = Fixture::subscribed().await;
    let sent = fixture.publish([keyed("a")]).await;
    let entry = fixture.page().await.entries.remove(0);
    let settled = Act {
        changes: vec![parked(&entry)],
        ..act(sent[0].spot.unwrap().lane.0, 2, ActKind::Settled, sent[0].spot.unwrap().position.0)
    };
    let relay = RelayId("a".to_owned());

    // Stopped at every point at which it waits, until it is done.
    for polls in 0.. {
        let mut appending = fixture.log.append(SUB, &relay, std::slice::from_ref(&settled));
        let mut answer = None;
        for _ in 0..=polls {
            answer = answer.or((&mut appending).now_or_never());
            if answer.is_some() {
                break;
            }
            tokio::task::yield_now().await;
        }
        drop(appending);
        assert!(fixture.log.read(&everything()).await.is_ok(), "the connections still work");
        if answer.is_some() {
            break;
        }
    }

    assert_eq!(fixture.append("a", &[settled]).await, [Appended::Done]);
    assert_eq!(fixture.number("select count(*) from outbox_parked").await, 1);
    assert_eq!(fixture.number("select count(*) from outbox_journal").await, 1);
}

fn parked(entry: &Entry) -> Change {
    Change::Park(Box::new(Parked {
        position: entry.position,
        event: entry.event.clone(),
        attempts: 1,
        due: Due::In(Duration::ZERO),
        error: Some("refused".to_owned()),
        took: Duration::ZERO,
    }))
}

#[tokio::test]
async fn the_doorbell_rings_for_news_of_others_and_not_for_lines() {
    let fixture = Fixture::subscribed().await;
    let options = SqliteOptions { doorbell_interval: Duration::from_millis(1), ..fixture.options() };
    let listening = SqliteLog::open(&fixture.url(), options).await.unwrap();
    let mut bell = listening.doorbell();
    assert_eq!(timeout(SOON, bell.next()).await, Ok(Some(())), "the first look rings");

    fixture.append("a", &[act(0, 2, ActKind::Taken, 0)]).await;
    assert!(timeout(Duration::from_millis(100), bell.next()).await.is_err(), "a line is no news");

    fixture.publish([keyed("a")]).await;
    assert_eq!(timeout(SOON, bell.next()).await, Ok(Some(())));
    fixture.log.act(&OperatorAct::Pause(SUB.to_owned()), "ada").await.unwrap();
    assert_eq!(timeout(SOON, bell.next()).await, Ok(Some(())), "operators are heard too");
}

#[tokio::test]
async fn positions_go_on_after_everything_was_pruned_and_the_file_was_opened_again() {
    let fixture = Fixture::subscribed().await;
    fixture.publish((0..2_500).map(|number| keyed(&format!("key-{number}")))).await;
    fixture.sql("update outbox set created_at = position * 1000000").await.unwrap();
    let acts: Vec<_> = (0..8).map(|lane| act(lane, 2, ActKind::Settled, 2_500)).collect();
    fixture.append("a", &acts).await;
    // Young are those from position 2,001 on.
    fixture.clock.set(Timestamp(2_001_000_000 + 60_000_000));
    let retention = Retention { events: Duration::from_secs(60), step: 1_500, ..Default::default() };

    let mut pruned = Vec::new();
    for _ in 0..3 {
        pruned.push(fixture.log.prune(&retention).await.unwrap().events);
    }
    assert_eq!(pruned, [1_500, 500, 0]);
    fixture.clock.advance(Duration::from_secs(3_600));
    assert_eq!(fixture.log.prune(&retention).await.unwrap().events, 500);

    let again = fixture.open_again().await;
    let page = again.read(&everything()).await.unwrap();
    assert_eq!(
        (page.entries.len(), page.end.after),
        (0, Position(2_500)),
        "an empty log still knows how far it was"
    );
    again.subscribe(&Subscription { start: Start::Now, ..Subscription::new("late") }).await.unwrap();
    assert_eq!(
        fixture.number("select min(cursor) from outbox_lines where subscription = 'late'").await,
        2_500
    );
    assert_eq!(fixture.publish([keyed("a")]).await[0].spot.unwrap().position, Position(2_501));
}
