//! Which parked entries may go, and when the next one falls due.

use std::time::Duration;

use posthaste_core::{LaneSet, Limit, Origin, Read, Subscription};

use super::{
    Subject,
    bench::{Bench, SOON, Sent, TICK, keyed, places, positions, unkeyed},
    changes::{delayed, delivered, failed, follower, held_dead},
};

pub async fn a_parked_event_comes_back_at_the_instant_it_is_due<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish_one(keyed("a").header("trace", "abc")).await;
    bench.settle(&sent, vec![failed(&sent, 3, SOON)]).await;

    bench.advance(SOON - TICK);
    assert!(bench.page().await.parked.is_empty());
    bench.advance(TICK);

    let parked = bench.page().await.parked;
    assert_eq!(positions(&parked), places(&[&sent]));
    assert_eq!((parked[0].origin, parked[0].attempts, parked[0].lane), (Origin::Parked, 3, sent.lane));
    assert_eq!(parked[0].event, sent.event);
}

pub async fn parked_events_come_in_position_order<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish(["a", "b", "c", "d"].map(keyed)).await;
    for (sent, wait) in sent.iter().zip([4, 2, 3, 1]) {
        bench.settle(sent, vec![failed(sent, 1, Duration::from_secs(wait))]).await;
    }

    bench.advance(SOON);

    assert_eq!(positions(&bench.page().await.parked), places(&[&sent[0], &sent[1], &sent[2], &sent[3]]));
}

pub async fn only_parked_events_of_asked_lanes_come<S: Subject>(subject: &S) {
    let (bench, sent) = parked_in_two_lanes(subject).await;
    bench.advance(SOON);

    let read =
        Read { parked: LaneSet::from_iter([sent[1].lane]), lanes: LaneSet::EMPTY, ..bench.everything() };
    let page = bench.read(&read).await;

    assert_eq!(positions(&page.parked), places(&[&sent[1]]));
    assert!(bench.read(&Read { parked: LaneSet::EMPTY, ..bench.everything() }).await.parked.is_empty());
}

pub async fn a_head_that_is_due_brings_its_followers_in_order<S: Subject>(subject: &S) {
    let (bench, sent) = head_and_followers(subject).await;

    bench.advance(SOON);

    let parked = bench.page().await.parked;
    assert_eq!(positions(&parked), places(&[&sent[0], &sent[1], &sent[2]]));
    assert_eq!(parked.iter().map(|entry| entry.attempts).collect::<Vec<_>>(), [1, 0, 0]);
}

pub async fn followers_wait_while_their_head_is_not_due<S: Subject>(subject: &S) {
    let (bench, sent) = head_and_followers(subject).await;
    let other = bench.publish_one(keyed("b")).await;
    bench.settle(&other, vec![failed(&other, 1, Duration::ZERO)]).await;

    assert_eq!(positions(&bench.page().await.parked), places(&[&other]), "a key stops only itself");
    bench.advance(SOON - TICK);
    assert_eq!(positions(&bench.page().await.parked), places(&[&other]));

    bench.settle(&sent[0], vec![delivered(&sent[0])]).await;
    assert_eq!(positions(&bench.page().await.parked), places(&[&sent[1], &sent[2], &other]));
}

pub async fn a_follower_that_failed_stops_those_behind_it<S: Subject>(subject: &S) {
    let (bench, sent) = head_and_followers(subject).await;
    bench.advance(SOON);

    bench.settle(&sent[2], vec![delivered(&sent[0]), failed(&sent[1], 1, SOON), follower(&sent[2])]).await;

    assert!(bench.page().await.parked.is_empty());
    bench.advance(SOON);
    assert_eq!(positions(&bench.page().await.parked), places(&[&sent[1], &sent[2]]));
}

pub async fn a_delayed_event_stops_nobody_before_its_time<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let due_at = bench.now() + SOON;
    let sent = bench.publish([keyed("a").deliver_after(due_at), keyed("a")]).await;
    bench.settle(&sent[1], vec![delayed(&sent[0], due_at), failed(&sent[1], 1, SOON / 2)]).await;

    bench.advance(SOON / 2);
    assert_eq!(positions(&bench.page().await.parked), places(&[&sent[1]]));
    bench.advance(SOON / 2);

    let parked = bench.page().await.parked;
    assert_eq!(positions(&parked), places(&[&sent[0], &sent[1]]), "when due it takes its place");
    assert_eq!(parked[0].attempts, 0);
    assert!(!parked[0].delayed);
}

pub async fn events_without_a_key_wait_for_nobody<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish((0..40).map(|_| unkeyed())).await;
    let head = &sent[0];
    let other = sent.iter().skip(1).find(|other| other.lane == head.lane).expect("two of forty share a lane");

    bench.settle(other, vec![failed(head, 1, SOON), failed(other, 1, Duration::ZERO)]).await;

    assert_eq!(positions(&bench.page().await.parked), places(&[other]));
}

pub async fn a_dead_letter_that_holds_stops_what_is_parked_behind_it<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish([keyed("a"), keyed("a"), keyed("a"), keyed("b")]).await;
    let parked = vec![failed(&sent[0], 1, Duration::ZERO), held_dead(&sent[1]), follower(&sent[2])];
    bench.settle(&sent[2], parked).await;
    bench.settle(&sent[3], vec![failed(&sent[3], 1, Duration::ZERO)]).await;

    assert_eq!(positions(&bench.page_that_holds().await.parked), places(&[&sent[0], &sent[3]]));
    assert_eq!(positions(&bench.page().await.parked), places(&[&sent[0], &sent[2], &sent[3]]));
}

pub async fn a_limit_below_what_is_due_gives_the_first_ones<S: Subject>(subject: &S) {
    let (bench, sent) = head_and_followers(subject).await;
    let other = bench.publish_one(keyed("b")).await;
    bench.settle(&other, vec![failed(&other, 1, Duration::ZERO)]).await;
    bench.advance(SOON);

    for entries in 1..=3 {
        let limit = Limit { entries, bytes: 1_000_000 };
        let parked = bench.read(&Read { limit, ..bench.everything() }).await.parked;
        assert_eq!(positions(&parked), places(&[&sent[0], &sent[1], &sent[2]])[..entries]);
    }
}

pub async fn a_limit_counts_log_and_parked_each_by_itself<S: Subject>(subject: &S) {
    let (bench, sent) = head_and_followers(subject).await;
    bench.advance(SOON);

    let limit = Limit { entries: 3, bytes: 1 };
    let page = bench.read(&Read { limit, ..bench.everything() }).await;

    assert_eq!(positions(&page.entries), places(&[&sent[0]]), "the first fits whatever its size");
    assert_eq!(positions(&page.parked), places(&[&sent[0]]));
}

pub async fn says_when_the_next_one_falls_due<S: Subject>(subject: &S) {
    let (bench, sent) = parked_in_two_lanes(subject).await;

    assert_eq!(bench.page().await.next_due, Some(SOON / 2));
    bench.advance(SOON / 2);
    assert_eq!(bench.page().await.next_due, Some(SOON / 2), "what is due is not waited for");
    bench.advance(SOON / 2);
    assert_eq!(bench.page().await.next_due, None);

    bench.settle(&sent[0], vec![failed(&sent[0], 2, TICK)]).await;
    assert_eq!(bench.page().await.next_due, Some(TICK));
}

pub async fn says_it_for_asked_lanes_only<S: Subject>(subject: &S) {
    let (bench, sent) = parked_in_two_lanes(subject).await;
    let only = |sent: &Sent| Read { parked: LaneSet::from_iter([sent.lane]), ..bench.everything() };

    assert_eq!(bench.read(&only(&sent[0])).await.next_due, Some(SOON));
    assert_eq!(bench.read(&only(&sent[1])).await.next_due, Some(SOON / 2));
    assert_eq!(bench.read(&Read { parked: LaneSet::EMPTY, ..bench.everything() }).await.next_due, None);
}

pub async fn tells_of_all_troubled_lanes<S: Subject>(subject: &S) {
    let (bench, sent) = parked_in_two_lanes(subject).await;
    let third = bench.keys_of_distinct_lanes(3).await.remove(2);
    let buried = bench.publish_one(keyed(&third)).await;
    bench.settle(&buried, vec![held_dead(&buried)]).await;

    let read = Read { lanes: LaneSet::EMPTY, parked: LaneSet::EMPTY, ..bench.everything() };
    let page = bench.read(&read).await;

    assert_eq!(page.troubled, LaneSet::from_iter([sent[0].lane, sent[1].lane, buried.lane]));
}

pub async fn what_another_subscription_has_parked_stays_there<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    bench.subscribe(&Subscription::new("audit")).await;
    let sent = bench.publish_one(keyed("a")).await;

    bench.settle_in("audit", &sent, vec![failed(&sent, 1, Duration::ZERO)]).await;

    assert!(bench.page().await.parked.is_empty());
    let audit = Read { subscription: "audit".to_owned(), ..bench.everything() };
    assert_eq!(positions(&bench.read(&audit).await.parked), places(&[&sent]));
}

/// A failed event of key `a` that is due soon, with two followers that are due.
async fn head_and_followers<S: Subject>(subject: &S) -> (Bench<'_, S>, Vec<Sent>) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish([keyed("a"), keyed("a"), keyed("a")]).await;
    bench.settle(&sent[2], vec![failed(&sent[0], 1, SOON), follower(&sent[1]), follower(&sent[2])]).await;
    (bench, sent)
}

/// Two failed events in different lanes, due soon and in half that time.
async fn parked_in_two_lanes<S: Subject>(subject: &S) -> (Bench<'_, S>, Vec<Sent>) {
    let bench = Bench::subscribed(subject).await;
    let keys = bench.keys_of_distinct_lanes(2).await;
    let sent = bench.publish(keys.iter().map(|key| keyed(key))).await;
    bench.settle(&sent[0], vec![failed(&sent[0], 1, SOON)]).await;
    bench.settle(&sent[1], vec![failed(&sent[1], 1, SOON / 2)]).await;
    (bench, sent)
}
