//! Which entries of the log have to wait for an earlier event of their key.

use posthaste_core::{OperatorAct, Page, Subscription};

use super::{
    Subject,
    bench::{Bench, SOON, Sent, TICK, keyed, unkeyed},
    changes::{dead, delayed, delivered, failed, follower, held_dead},
};

pub async fn an_event_behind_a_parked_one_of_its_key_is_blocked<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish([keyed("a"), keyed("a"), keyed("b"), unkeyed()]).await;

    bench.settle(&sent[0], vec![failed(&sent[0], 1, SOON)]).await;

    let page = bench.page().await;
    assert!(blocked(&page, &sent[1]));
    assert!(!blocked(&page, &sent[2]) && !blocked(&page, &sent[3]), "a key stops only itself");
    assert!(!blocked(&page, &sent[0]), "nothing is blocked by itself");
}

pub async fn a_parked_event_that_is_due_is_still_in_the_way<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish([keyed("a"), keyed("a")]).await;
    bench.settle(&sent[0], vec![failed(&sent[0], 1, SOON)]).await;

    bench.advance(SOON * 2);
    assert!(blocked(&bench.page().await, &sent[1]));

    bench.settle(&sent[0], vec![delivered(&sent[0])]).await;
    assert!(!blocked(&bench.page().await, &sent[1]));
}

pub async fn a_follower_is_in_the_way_too<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish([keyed("a"), keyed("a"), keyed("a")]).await;
    bench.settle(&sent[1], vec![failed(&sent[0], 1, SOON), follower(&sent[1])]).await;

    bench.settle(&sent[0], vec![dead(&sent[0])]).await;

    assert!(blocked(&bench.page().await, &sent[2]));
}

pub async fn an_event_before_the_parked_one_is_not_blocked<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish([keyed("a"), keyed("a")]).await;

    bench.settle(&sent[1], vec![failed(&sent[1], 1, SOON)]).await;

    assert!(!blocked(&bench.page().await, &sent[0]));
}

pub async fn other_keys_of_the_lane_go_on<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let keys = bench.keys_of_one_lane(2).await;
    let sent = bench.publish([keyed(&keys[0]), keyed(&keys[1]), keyed(&keys[0])]).await;

    bench.settle(&sent[0], vec![failed(&sent[0], 1, SOON)]).await;

    let page = bench.page().await;
    assert!(!blocked(&page, &sent[1]) && blocked(&page, &sent[2]));
}

pub async fn an_event_without_a_key_is_never_blocked<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish((0..40).map(|_| unkeyed())).await;
    let lane = sent[0].lane;
    let same_lane = sent.iter().skip(1).find(|other| other.lane == lane);

    bench.settle(&sent[0], vec![failed(&sent[0], 1, SOON)]).await;

    let same_lane = same_lane.expect("two of forty events share a lane");
    assert!(!blocked(&bench.page().await, same_lane));
}

pub async fn a_delayed_event_is_in_the_way_only_when_it_is_due<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let due_at = bench.now() + SOON;
    let sent = bench.publish([keyed("a").deliver_after(due_at), keyed("a")]).await;
    bench.settle(&sent[0], vec![delayed(&sent[0], due_at)]).await;

    assert!(!blocked(&bench.page().await, &sent[1]), "a reminder for tomorrow does not stop today's events");
    bench.advance(SOON - TICK);
    assert!(!blocked(&bench.page().await, &sent[1]));
    bench.advance(TICK);
    assert!(blocked(&bench.page().await, &sent[1]), "at its instant it takes its place");
}

pub async fn a_delayed_event_that_has_failed_is_in_the_way<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let due_at = bench.now() + SOON;
    let sent = bench.publish([keyed("a").deliver_after(due_at), keyed("a")]).await;
    bench.settle(&sent[0], vec![delayed(&sent[0], due_at)]).await;
    bench.advance(SOON);

    bench.settle(&sent[0], vec![failed(&sent[0], 1, SOON)]).await;

    assert!(
        blocked(&bench.page().await, &sent[1]),
        "it has been tried: it waits for a retry, not for its time"
    );
}

pub async fn a_dead_letter_that_holds_blocks_its_key<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish([keyed("a"), keyed("a"), keyed("b"), unkeyed()]).await;

    bench.settle(&sent[0], vec![held_dead(&sent[0])]).await;

    let page = bench.page_that_holds().await;
    assert!(blocked(&page, &sent[1]));
    assert!(!blocked(&page, &sent[0]) && !blocked(&page, &sent[2]) && !blocked(&page, &sent[3]));
    assert!(!blocked(&bench.page().await, &sent[1]), "only for a relay that asks for it");
}

pub async fn a_dead_letter_that_does_not_hold_blocks_nobody<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish([keyed("a"), keyed("a")]).await;

    bench.settle(&sent[0], vec![dead(&sent[0])]).await;

    assert!(!blocked(&bench.page_that_holds().await, &sent[1]));
}

pub async fn a_resolved_dead_letter_blocks_nobody<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish([keyed("a"), keyed("a")]).await;
    bench.settle(&sent[0], vec![held_dead(&sent[0])]).await;

    bench.act(OperatorAct::Discard(bench.open_letters().await)).await.expect("discard");

    assert!(!blocked(&bench.page_that_holds().await, &sent[1]));
}

pub async fn a_dead_letter_holds_only_what_comes_after_it<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish([keyed("a"), keyed("a")]).await;

    bench.settle(&sent[1], vec![held_dead(&sent[1])]).await;

    assert!(!blocked(&bench.page_that_holds().await, &sent[0]));
}

pub async fn another_subscription_blocks_nothing<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    bench.subscribe(&Subscription::new("audit")).await;
    let sent = bench.publish([keyed("a"), keyed("b"), keyed("a"), keyed("b")]).await;

    bench.settle_in("audit", &sent[0], vec![failed(&sent[0], 1, SOON)]).await;
    bench.settle_in("audit", &sent[1], vec![held_dead(&sent[1])]).await;

    let page = bench.page_that_holds().await;
    assert!(page.entries.iter().all(|entry| !entry.blocked));
    assert!(page.troubled.is_empty() && page.parked.is_empty());
}

fn blocked(page: &Page, sent: &Sent) -> bool {
    let entry = page.entries.iter().find(|entry| entry.position == sent.position);
    entry.expect("the event is on the page").blocked
}
