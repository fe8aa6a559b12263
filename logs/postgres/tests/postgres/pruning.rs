//! Pruning where positions say nothing: what commits late may lie before everything that is done.

use std::time::Duration;

use posthaste_core::{Log, Position, Pruned, Retention, Start, Subscription, Upkeep};

use crate::{
    fixture::{Fixture, SUB, keyed},
    walk::Walk,
};

/// Everything that may go goes.
async fn prune(fixture: &Fixture) -> Pruned {
    let now = Duration::ZERO;
    let retention = Retention { events: now, lines: now, journal: now, dead: now, step: 1_000 };
    // Events are dated by the database, which is far ahead of the tests' clock, and lines and snapshots by one of both.
    let old = "update outbox set created_at = '2000-01-01'; update outbox_lines set at = '2000-01-01';
        update outbox_snapshots set at = '2000-01-01'";
    fixture.run(old).await.unwrap();
    fixture.log.prune(&retention).await.unwrap()
}

#[tokio::test]
async fn what_commits_late_is_kept_until_it_is_delivered() {
    let fixture = Fixture::subscribed().await;
    let mut walk = Walk::take(&fixture.log, "a").await;
    let (late, _) = fixture.publish_and_wait("k").await;
    fixture.publish((0..5).map(|_| keyed("k"))).await;
    assert_eq!(walk.drain().await, [2, 3, 4, 5, 6]);
    late.commit().await.unwrap();

    assert_eq!(prune(&fixture).await.events, 5, "all but the one that nobody has seen");
    assert_eq!(walk.drain().await, [1]);
    assert_eq!(prune(&fixture).await.events, 1);
}

#[tokio::test]
async fn of_a_window_that_is_half_done_the_rest_is_kept() {
    let fixture = Fixture::subscribed().await;
    let mut walk = Walk::take(&fixture.log, "a").await;
    fixture.publish((0..6).map(|_| keyed("k"))).await;
    let page = walk.read(4).await;
    walk.settle(&page.end).await;

    assert_eq!(prune(&fixture).await.events, 4);
    let mut heir = Walk::take(&fixture.open_again().await, "b").await;
    assert_eq!(heir.drain().await, [5, 6], "the window is still known");
    assert_eq!(prune(&fixture).await.events, 2);
}

#[tokio::test]
async fn snapshots_go_when_no_line_stands_on_them() {
    let fixture = Fixture::subscribed().await;
    fixture.log.subscribe(&Subscription { start: Start::Now, ..Subscription::new("late") }).await.unwrap();
    let mut walk = Walk::take(&fixture.log, "a").await;
    for position in 1..=5 {
        fixture.publish([keyed("k")]).await;
        assert_eq!(walk.drain().await, [position]);
    }
    let kept = "select count(*) from outbox_snapshots";
    assert_eq!(fixture.number(kept).await, 7, "what sees nothing, the start of one, five windows");

    prune(&fixture).await;

    assert_eq!(fixture.number(kept).await, 3, "those on which a last line or a start stands");
    let lines = "select count(*) from outbox_lines where subscription = 'billing'";
    assert_eq!(fixture.number(lines).await, 8, "the last of each lane");
    drop(walk);
    fixture.publish([keyed("k")]).await;
    assert_eq!(Walk::take(&fixture.open_again().await, "b").await.drain().await, [6]);
}

#[tokio::test]
async fn a_relay_that_has_read_ahead_settles_after_pruning() {
    let fixture = Fixture::subscribed().await;
    let mut walk = Walk::take(&fixture.log, "a").await;
    fixture.publish((0..4).map(|_| keyed("k"))).await;
    let first = walk.read(2).await;
    walk.settle(&first.end).await;
    let second = walk.read(1_000).await;

    prune(&fixture).await;
    fixture.publish([keyed("k")]).await;

    walk.settle(&second.end).await;
    assert_eq!(walk.drain().await, [5]);
    assert_eq!(prune(&fixture).await.events, 5 - 2);
}

#[tokio::test]
async fn positions_go_on_after_everything_was_pruned() {
    let fixture = Fixture::subscribed().await;
    let mut walk = Walk::take(&fixture.log, "a").await;
    fixture.publish((0..3).map(|_| keyed("k"))).await;
    walk.drain().await;
    assert_eq!(prune(&fixture).await.events, 3);

    assert_eq!(fixture.publish([keyed("k")]).await[0].spot.unwrap().position, Position(4));
    let again = fixture.open_again().await;
    assert_eq!(Walk::take(&again, "b").await.drain().await, [4]);
    again.subscribe(&Subscription { start: Start::Now, ..Subscription::new("late") }).await.unwrap();
    assert_eq!(again.subscribe(&Subscription::new(SUB)).await.unwrap().generation, 1);
}
