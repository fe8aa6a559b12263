//! One database, several processes: each with a handle of its own.

use std::{sync::Arc, time::Duration};

use futures_util::{FutureExt, StreamExt, future::join_all};
use posthaste_core::{
    Act, ActKind, Admin, Appended, Buried, Change, Cursor, DeadFilter, DeadReason, Due, Entry, ErrorKind,
    Hold, Inspect, Log, OperatorAct, Parked, RelayId, ResetTo, Start, Subscription, Upkeep,
};
use posthaste_postgres::PostgresLog;
use posthaste_services::postgres_url;
use tokio::time::timeout;

use crate::{
    fixture::{Fixture, LANES, SUB, act, everything, hold, keyed, lease, run},
    walk::Walk,
};

/// A wait that no test outlasts by accident.
const SOON: Duration = Duration::from_secs(30);

fn taken(lane: u8, n: i64) -> Act {
    act(lane, n, ActKind::Taken, Cursor::default())
}

#[tokio::test]
async fn a_zombie_is_fenced_by_what_another_process_wrote() {
    let fixture = Fixture::subscribed().await;
    let other = fixture.open_again().await;
    fixture.hold("zombie").await;
    assert_eq!(fixture.append("zombie", &[taken(3, 2)]).await, [Appended::Done]);

    let heir = RelayId("heir".to_owned());
    assert_eq!(other.append(SUB, &heir, &[taken(3, 3)]).await.unwrap(), [Appended::Done]);

    let late = [act(3, 3, ActKind::Settled, Cursor::default()), taken(4, 2)];
    assert_eq!(fixture.append("zombie", &late).await, [Appended::Fenced, Appended::Done]);
    hold(&other, "heir").await;
    let census = fixture.hold("zombie").await;
    let line = &census.subscriptions[0].lanes[3];
    assert_eq!((line.n, line.holder.clone()), (3, Some(heir)));
}

#[tokio::test]
async fn of_two_that_settle_at_the_same_moment_one_is_fenced() {
    let fixture = Fixture::subscribed().await;
    // As in a large table: who looks up one lane after the other goes through them as they come.
    let url = format!(
        "{}?options[enable_hashjoin]=off&options[enable_mergejoin]=off&options[enable_seqscan]=off&options[enable_bitmapscan]=off",
        postgres_url()
    );
    let one = PostgresLog::open(&url, fixture.options()).await.unwrap();
    let other = PostgresLog::open(&url, fixture.options()).await.unwrap();
    // Both are stopped in the middle, and have been given their acts in opposite orders: who goes through lanes as they come would hold
    // what the other one wants.
    let mut zombie = fixture.connect().await;
    run(&mut zombie, &settled(3)).await.unwrap();
    let up: Vec<Act> = (0..LANES).map(|lane| taken(lane, 2)).collect();
    let down: Vec<Act> = (0..LANES).rev().map(|lane| taken(lane, 2)).collect();
    let (a, b) = (RelayId("a".to_owned()), RelayId("b".to_owned()));

    let (ups, downs, ()) = tokio::join!(one.append(SUB, &a, &up), other.append(SUB, &b, &down), async {
        fixture.wait_for_who_waits_for(&mut zombie, 2).await;
        run(&mut zombie, "rollback").await.unwrap();
    });

    let (ups, mut downs) = (ups.unwrap(), downs.unwrap());
    downs.reverse();
    assert!(ups.iter().zip(&downs).all(|(one, two)| one != two), "{ups:?} {downs:?}");
}

#[tokio::test]
async fn two_acts_on_one_lane_follow_each_other() {
    let fixture = Fixture::subscribed().await;
    let at = |n, kind| act(0, n, kind, Cursor::default());
    let acts = [at(2, ActKind::Taken), at(3, ActKind::Settled), at(4, ActKind::GivenBack)];

    assert_eq!(fixture.append("a", &acts).await, [Appended::Done; 3]);

    let lost = [at(4, ActKind::Taken), at(5, ActKind::Settled)];
    assert_eq!(
        fixture.append("b", &lost).await,
        [Appended::Fenced; 2],
        "who lost the first does nothing more"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writers_of_all_kinds_do_not_stop_each_other() {
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
            let acts: Vec<_> = (0..LANES).map(|lane| taken(lane, n)).collect();
            assert_eq!(fixture.append("a", &acts).await, [Appended::Done; LANES as usize]);
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

#[tokio::test]
async fn work_that_nobody_waits_for_any_more_leaves_nothing_behind() {
    let fixture = Fixture::subscribed().await;
    let sent = fixture.publish([keyed("a")]).await;
    let page = fixture.page().await;
    let settled = Act {
        changes: vec![parked(&page.entries[0])],
        ..act(sent[0].spot.unwrap().lane.0, 2, ActKind::Settled, page.end.clone())
    };
    let relay = RelayId("a".to_owned());

    // Stopped at many points at which it waits, until it is done.
    for polls in (0..).step_by(5) {
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

fn buried(entry: &Entry) -> Change {
    Change::Bury(Box::new(Buried {
        position: entry.position,
        event: entry.event.clone(),
        attempts: 1,
        reason: DeadReason::PermanentFailure,
        error: "refused".to_owned(),
        holds: false,
        took: Duration::ZERO,
    }))
}

#[tokio::test]
async fn a_late_renewal_and_a_take_over_do_not_cross() {
    let fixture = Fixture::subscribed().await;
    let other = fixture.open_again().await;
    fixture.hold("slow").await;
    fixture.clock.advance(Duration::from_secs(16));
    // The renewal has its row, and has not committed.
    let mut renewing = fixture.connect().await;
    let renewal = "begin; update outbox_relays set held_until = 'infinity' where relay = 'slow'";
    run(&mut renewing, renewal).await.unwrap();

    let census = timeout(SOON, hold(&other, "heir")).await.expect("nobody waits for the renewal");
    assert_eq!(census.subscriptions[0].relays, 2, "who is just renewing is left alone");
    run(&mut renewing, "commit").await.unwrap();

    assert_eq!(hold(&other, "heir").await.subscriptions[0].relays, 2);
    let renewed = fixture.log.hold(&posthaste_core::Lease { first: false, ..lease("slow") }).await.unwrap();
    assert!(matches!(renewed, Hold::Alive(_)), "its lease is good again");
}

#[tokio::test]
async fn a_lease_that_was_renewed_while_somebody_looked_is_not_removed() {
    let fixture = Fixture::subscribed().await;
    fixture.hold("slow").await;
    fixture.clock.advance(Duration::from_secs(16));
    // Somebody holds the row and lets go: the lease is judged by what is there then.
    let mut renewing = fixture.connect().await;
    run(&mut renewing, "begin; update outbox_relays set held_until = 'infinity' where relay = 'slow'")
        .await
        .unwrap();
    let (census, ()) = tokio::join!(fixture.hold("heir"), async {
        run(&mut renewing, "commit").await.unwrap();
    });

    assert_eq!(census.subscriptions[0].relays, 2);
    assert_eq!(fixture.number("select count(*) from outbox_relays where relay = 'slow'").await, 1);
}

#[tokio::test]
async fn two_clicks_at_once_send_a_dead_letter_once() {
    let fixture = Fixture::subscribed().await;
    let sent = fixture.publish([keyed("a")]).await;
    let page = fixture.page().await;
    let dead = Act {
        changes: vec![buried(&page.entries[0])],
        ..act(sent[0].spot.unwrap().lane.0, 2, ActKind::Settled, page.end.clone())
    };
    fixture.append("a", &[dead]).await;
    let other = fixture.open_again().await;
    let letters = fixture.log.dead(&DeadFilter::default()).await.unwrap().items;
    let replay = OperatorAct::Replay(letters.iter().map(|letter| letter.dead_id).collect());

    // Both have clicked before either is through.
    let mut slow = fixture.connect().await;
    run(&mut slow, "begin; select from outbox_dead for update").await.unwrap();

    let (one, two, ()) = tokio::join!(fixture.log.act(&replay, "ada"), other.act(&replay, "bob"), async {
        fixture.wait_for_who_waits_for(&mut slow, 2).await;
        run(&mut slow, "rollback").await.unwrap();
    });

    assert_eq!(one.unwrap() + two.unwrap(), 1);
    assert_eq!(
        fixture
            .number("select count(*) from outbox_journal where what = 'replayed' and position is not null")
            .await,
        1
    );
}

/// Settles a lane for the second time, and does not commit.
fn settled(lane: u8) -> String {
    format!(
        "begin; insert into outbox_lines
           (subscription, lane, n, kind, relay, from_snapshot, to_snapshot, after_position, at)
         values ('billing', {lane}, 2, 'settled', 'zombie', 0, 0, 0, now())"
    )
}

/// A relay that everybody takes for dead has a transaction open in which it has settled a lane.
async fn half_settled(fixture: &Fixture) -> sqlx::PgConnection {
    let mut zombie = fixture.connect().await;
    run(&mut zombie, &settled(3)).await.unwrap();
    fixture.log.act(&OperatorAct::Pause(SUB.to_owned()), "ada").await.unwrap();
    zombie
}

#[tokio::test]
async fn a_reset_waits_for_who_is_settling_and_is_refused_if_that_comes_first() {
    let fixture = Fixture::subscribed().await;
    let mut zombie = half_settled(&fixture).await;
    let reset = OperatorAct::Reset { subscription: SUB.to_owned(), to: ResetTo::Beginning };

    let (answer, ()) = tokio::join!(fixture.log.act(&reset, "ada"), async {
        fixture.wait_for_who_waits_for(&mut zombie, 1).await;
        run(&mut zombie, "commit").await.unwrap();
    });

    let error = answer.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused, "{}", error.chain());
    assert!(error.to_string().contains("try again"), "{error}");
    assert_eq!(
        fixture.number("select count(*) from outbox_lines where n = 2").await,
        1,
        "nothing of it is there"
    );
    assert_eq!(fixture.log.act(&reset, "ada").await.unwrap(), u64::from(LANES));
}

#[tokio::test]
async fn a_drop_does_not_leave_a_line_for_the_next_of_that_name() {
    let fixture = Fixture::subscribed().await;
    let mut zombie = half_settled(&fixture).await;
    let dropped = OperatorAct::Drop(SUB.to_owned());

    let error = fixture.log.act(&dropped, "ada").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "nobody waits for long: {}", error.chain());
    run(&mut zombie, "commit").await.unwrap();
    fixture.log.act(&dropped, "ada").await.unwrap();

    assert_eq!(fixture.number("select count(*) from outbox_lines").await, 0);
    fixture.log.subscribe(&Subscription { start: Start::Now, ..Subscription::new(SUB) }).await.unwrap();
    let lines = &fixture.hold("a").await.subscriptions[0].lanes;
    assert!(lines.iter().all(|line| line.n == 3), "its numbers were never used: {lines:?}");
}

#[tokio::test]
async fn who_creates_and_who_prunes_wait_for_each_other() {
    creates_while_another_prunes(&postgres_url()).await;
}

/// Whoever waits for a lock must see what was committed meanwhile, whatever the server's transactions see by default.
#[tokio::test]
async fn the_servers_isolation_level_changes_nothing() {
    for level in ["repeatable%20read", "serializable"] {
        let url = format!("{}?options[default_transaction_isolation]={level}", postgres_url());
        creates_while_another_prunes(&url).await;
    }
}

async fn creates_while_another_prunes(url: &str) {
    let fixture = Fixture::subscribed().await;
    fixture.publish([keyed("a")]).await;
    Walk::take(&fixture.log, "a").await.drain().await;
    fixture.run("update outbox set created_at = '2000-01-01'").await.unwrap();
    let other = PostgresLog::open(url, fixture.options()).await.unwrap();
    // As a subscription that is being created from the beginning: it has not committed, and nobody sees it.
    let mut creating = fixture.connect().await;
    let lock =
        format!("select pg_advisory_xact_lock(hashtextextended('{}.outbox', 7708301))", fixture.schema.name);
    run(&mut creating, &format!("begin; {lock}")).await.unwrap();
    let create = format!(
        "insert into outbox_subscriptions
           (name, filter, event_order, start, started_from, started_to, started_after, generation, first_line)
         values ('audit', '{{}}', 'key', 'beginning', 0, 0, 0, 1, 1);
         insert into outbox_lines (subscription, lane, n, kind, from_snapshot, to_snapshot, after_position, at)
         select 'audit', lane, 1, 'reset', 0, 0, 0, now() from generate_series(0, {LANES} - 1) lanes (lane)"
    );
    run(&mut creating, &create).await.unwrap();
    let retention = posthaste_core::Retention { events: Duration::from_secs(1), ..Default::default() };

    let (pruned, ()) = tokio::join!(other.prune(&retention), async {
        fixture.wait_for_who_waits_for(&mut creating, 1).await;
        run(&mut creating, "commit").await.unwrap();
    });

    assert_eq!(pruned.unwrap().events, 0, "the new subscription has not had it");
}

#[tokio::test]
async fn the_doorbell_rings_for_commits_of_others() {
    let fixture = Fixture::subscribed().await;
    let other = fixture.open_again().await;
    let mut bell = other.doorbell();
    assert_eq!(timeout(SOON, bell.next()).await, Ok(Some(())), "the first connection rings");

    fixture.publish([keyed("a")]).await;
    fixture.log.ring();

    assert_eq!(timeout(SOON, bell.next()).await, Ok(Some(())));
}
