//! Pruning: only what is old and settled by everybody goes.

use std::time::Duration;

use posthaste_core::{ActKind, Appended, DeadFilter, OperatorAct, Position, Pruned, Retention, Subscription};

use super::{
    Subject,
    bench::{Bench, SOON, act, keyed, places, positions},
    changes::{dead, delivered, failed},
};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

pub async fn removes_what_is_old_and_settled_by_everybody<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    bench.subscribe(&Subscription::new("audit")).await;
    let sent = bench.publish_one(keyed("a")).await;
    bench.settle(&sent, Vec::new()).await;
    bench.settle_in("audit", &sent, Vec::new()).await;

    bench.advance(DAY * 2);

    assert_eq!(prune(&bench, DAY).await.events, 1);
    assert!(bench.page().await.entries.is_empty());
    assert_eq!(prune(&bench, DAY).await.events, 0);
}

pub async fn keeps_what_is_young<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let old = bench.publish_one(keyed("a")).await;
    bench.advance(DAY * 2);
    let young = bench.publish_one(keyed("a")).await;
    bench.settle(&young, Vec::new()).await;

    assert_eq!(prune(&bench, DAY).await.events, 1);

    assert_eq!(positions(&bench.page().await.entries), places(&[&young]));
    assert!(old.position < young.position);
}

pub async fn keeps_what_a_subscription_lags_on<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    bench.subscribe(&Subscription::new("audit")).await;
    let keys = bench.keys_of_distinct_lanes(2).await;
    let sent = bench.publish([keyed(&keys[0]), keyed(&keys[1]), keyed(&keys[0])]).await;
    bench.settle(&sent[2], Vec::new()).await;
    bench.settle(&sent[1], Vec::new()).await;
    bench.settle_in("audit", &sent[0], Vec::new()).await;
    bench.advance(DAY * 2);

    assert_eq!(prune(&bench, DAY).await.events, 1);

    assert_eq!(
        positions(&bench.page().await.entries),
        places(&[&sent[1], &sent[2]]),
        "a lane may be settled beyond a position at which another is not"
    );
}

pub async fn keeps_what_is_parked<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish_one(keyed("a")).await;
    bench.settle(&sent, vec![failed(&sent, 1, SOON)]).await;
    bench.advance(DAY * 2);

    assert_eq!(prune(&bench, DAY).await.events, 0);
    bench.settle(&sent, vec![delivered(&sent)]).await;
    assert_eq!(prune(&bench, DAY).await.events, 1);
}

pub async fn removes_nothing_without_a_subscription<S: Subject>(subject: &S) {
    let bench = Bench::new(subject);
    bench.publish_one(keyed("a")).await;
    bench.advance(DAY * 2);

    assert_eq!(prune(&bench, DAY).await.events, 0);
}

pub async fn keeps_the_last_line_of_every_lane<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish([keyed("a"), keyed("a")]).await;
    bench.settle(&sent[0], Vec::new()).await;
    bench.settle(&sent[1], Vec::new()).await;
    let before = bench.line(sent[0].lane).await;
    bench.advance(DAY * 2);

    let pruned = bench.subject.log().prune(&Retention { lines: DAY, ..forever() }).await.expect("prune");

    assert_eq!(pruned, Pruned { lines: 2, ..Pruned::default() });
    assert_eq!(bench.line(sent[0].lane).await, before);
    let lanes = bench.all_lanes().len();
    assert_eq!(bench.census(super::bench::SUB).await.map(|census| census.lanes.len()), Some(lanes as usize));
}

pub async fn a_chain_goes_on_after_its_lines_are_pruned<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish([keyed("a"), keyed("a"), keyed("a")]).await;
    for sent in &sent {
        bench.settle(sent, Vec::new()).await;
    }
    bench.advance(DAY * 2);
    bench.subject.log().prune(&Retention { lines: DAY, ..forever() }).await.expect("prune");

    let lane = sent[0].lane;
    for (n, expected) in [(2, Appended::Fenced), (3, Appended::Fenced), (5, Appended::Done)] {
        let answer = bench.append_one("zombie", act(lane, n, ActKind::Taken, Position(0))).await;
        assert_eq!(answer, expected, "line {n} after line 4, when older ones are gone");
    }
}

pub async fn removes_old_rows_of_the_journal<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish_one(keyed("a")).await;
    bench.settle(&sent, vec![failed(&sent, 1, SOON)]).await;
    bench.advance(DAY * 2);
    bench.settle(&sent, vec![failed(&sent, 2, SOON)]).await;

    let pruned = bench.subject.log().prune(&Retention { journal: DAY, ..forever() }).await.expect("prune");

    assert_eq!(pruned, Pruned { journal: 1, ..Pruned::default() });
    let timeline = subject.admin().show(sent.id).await.expect("show");
    let attempts: Vec<_> = timeline.items.iter().filter_map(|item| item.attempt).collect();
    assert_eq!(attempts, [2]);
}

pub async fn removes_dead_letters_that_are_resolved_and_whose_event_is_gone<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish([keyed("a"), keyed("b"), keyed("c")]).await;
    bench.settle(&sent[0], vec![dead(&sent[0])]).await;
    bench.settle(&sent[1], vec![dead(&sent[1])]).await;
    let letters = subject.admin().dead(&DeadFilter::default()).await.expect("dead").items;
    bench.act(OperatorAct::Discard(vec![letters[0].dead_id])).await.expect("discard");
    bench.advance(DAY * 2);
    let retention = Retention { dead: DAY, ..forever() };

    let early = subject.log().prune(&retention).await.expect("prune");
    bench.settle(&sent[2], Vec::new()).await;
    prune(&bench, DAY).await;
    let pruned = subject.log().prune(&retention).await.expect("prune");

    assert_eq!((early.dead, pruned.dead), (0, 1), "not while the log tells of the event");
    let all = DeadFilter { resolved: true, ..DeadFilter::default() };
    let left = subject.admin().dead(&all).await.expect("dead").items;
    assert_eq!(left.iter().map(|letter| letter.position).collect::<Vec<_>>(), [sent[1].position]);
}

pub async fn goes_a_step_at_a_time<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish((0..5).map(|_| keyed("a"))).await;
    bench.settle(&sent[4], Vec::new()).await;
    bench.advance(DAY * 2);
    let retention = Retention { events: DAY, step: 2, ..forever() };

    let mut steps = Vec::new();
    for _ in 0..4 {
        steps.push(bench.subject.log().prune(&retention).await.expect("prune").events);
    }

    assert_eq!(steps, [2, 2, 1, 0]);
}

pub async fn positions_are_never_used_again<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish([keyed("a"), keyed("a")]).await;
    bench.settle(&sent[1], Vec::new()).await;
    bench.advance(DAY * 2);
    assert_eq!(prune(&bench, DAY).await.events, 2);

    let next = bench.publish_one(keyed("a")).await;

    assert!(next.position > sent[1].position, "{} after {}", next.position, sent[1].position);
}

/// Prunes events only.
async fn prune<S: Subject>(bench: &Bench<'_, S>, events: Duration) -> Pruned {
    bench.subject.log().prune(&Retention { events, ..forever() }).await.expect("prune")
}

fn forever() -> Retention {
    const LONG: Duration = Duration::from_secs(10_000 * 24 * 60 * 60);
    Retention { events: LONG, lines: LONG, journal: LONG, dead: LONG, step: 1_000 }
}
