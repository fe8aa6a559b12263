//! Leases, and how the lanes stand.

use posthaste_core::{ActKind, Appended, ErrorKind, Hold, Lane, LaneSet, Lease, OperatorAct, Subscription};

use super::{
    Damage, Subject,
    bench::{Bench, LEASE, RELAY, SOON, SUB, TICK, act, alive, keyed, only, relay},
    changes::{dead, delivered, failed, held_dead},
};

pub async fn counts_the_relays_that_serve_a_subscription<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    bench.subscribe(&Subscription::new("audit")).await;
    let serves = |relay_id: &str, names: &[&str]| Lease {
        subscriptions: names.iter().copied().map(str::to_owned).collect(),
        ..bench.lease(relay_id)
    };

    bench.hold(&serves("a", &[SUB])).await;
    bench.hold(&serves("b", &["audit"])).await;
    let census = alive(bench.hold(&serves("c", &[SUB, "audit"])).await);

    let relays = |name: &str| census.subscriptions.iter().find(|one| one.name == name).map(|one| one.relays);
    assert_eq!((relays(SUB), relays("audit")), (Some(2), Some(2)));
}

pub async fn tells_a_relay_whether_it_is_the_only_one<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    bench.subscribe(&Subscription::new("audit")).await;
    assert!(alive(bench.hold(&bench.lease("a")).await).alone);

    let audits = Lease { subscriptions: vec!["audit".to_owned()], ..bench.lease("b") };
    assert!(!alive(bench.hold(&audits).await).alone);
    assert!(!alive(bench.renew("a").await).alone, "also one that serves something else is another");

    subject.log().leave(&audits.relay).await.expect("leave");
    assert!(alive(bench.renew("a").await).alone);

    let nobody = Lease { subscriptions: vec!["nobody".to_owned()], ..bench.lease("a") };
    assert!(!alive(bench.hold(&nobody).await).alone, "nothing is known where no subscription is");
}

pub async fn tells_only_of_subscriptions_that_are_asked_for_and_known<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    bench.subscribe(&Subscription::new("audit")).await;
    let lease = Lease { subscriptions: vec![SUB.to_owned(), "nobody".to_owned()], ..bench.lease("a") };

    assert_eq!(only(alive(bench.hold(&lease).await)).name, SUB);
}

pub async fn a_renewed_lease_lasts_longer<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    bench.enrol("a").await;

    bench.advance(LEASE / 2);
    alive(bench.renew("a").await);
    bench.advance(LEASE);

    assert_eq!(bench.enrol("b").await.relays, 2, "the lease ends at this instant, and not before");
    bench.advance(TICK);
    bench.enrol("c").await;
    assert!(matches!(bench.renew("a").await, Hold::Lost));
}

pub async fn enrolling_again_is_renewing<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    bench.enrol("a").await;
    bench.advance(LEASE / 2);

    assert_eq!(bench.enrol("a").await.relays, 1, "the answer to the first try was lost");

    bench.advance(LEASE);
    assert_eq!(bench.enrol("b").await.relays, 2);
}

pub async fn a_relay_may_renew_late_if_nobody_has_removed_it<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    bench.enrol("a").await;

    bench.advance(LEASE * 3);
    let late = only(alive(bench.renew("a").await));

    assert_eq!(late.relays, 1);
    assert_eq!(bench.enrol("b").await.relays, 2, "its lease is good again");
}

pub async fn removes_relays_whose_lease_is_over<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    bench.enrol("a").await;

    bench.advance(LEASE + TICK);

    assert_eq!(bench.enrol("b").await.relays, 1);
    assert!(matches!(bench.renew("a").await, Hold::Lost));
}

pub async fn a_lost_relay_changes_nothing<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    bench.enrol("expired").await;
    bench.advance(LEASE + TICK);

    assert!(matches!(bench.renew("never-enrolled").await, Hold::Lost));

    let expired = only(alive(bench.renew("expired").await));
    assert_eq!(expired.relays, 1, "the lost relay has no row, and removed none");
}

pub async fn a_relay_that_left_has_no_row<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    bench.enrol("a").await;

    subject.log().leave(&relay("a")).await.expect("leave");
    subject.log().leave(&relay("a")).await.expect("leaving twice is harmless");

    assert!(matches!(bench.renew("a").await, Hold::Lost));
    assert_eq!(bench.enrol("b").await.relays, 1);
}

pub async fn the_holder_is_the_relay_of_the_last_line<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish_one(keyed("a")).await;
    bench.enrol("a").await;

    let n = bench.take("a", sent.lane).await;
    assert_eq!(bench.line(sent.lane).await.holder, Some(relay("a")));
    let settled = act(sent.lane, n + 1, ActKind::Settled, sent.position);
    assert_eq!(bench.append_one("a", settled).await, Appended::Done);
    assert_eq!(bench.line(sent.lane).await.holder, Some(relay("a")));

    let others = bench.census(SUB).await.expect("it is there").lanes;
    assert!(others.iter().all(|line| line.lane == sent.lane || line.holder.is_none()));
}

pub async fn a_lane_that_is_given_back_has_no_holder<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    bench.enrol("a").await;
    let n = bench.take("a", Lane(0)).await;

    let given_back = act(Lane(0), n + 1, ActKind::GivenBack, Default::default());
    assert_eq!(bench.append_one("a", given_back).await, Appended::Done);

    let line = bench.line(Lane(0)).await;
    assert_eq!((line.n, line.holder), (n + 1, None));
}

pub async fn a_holder_without_a_row_counts_as_none<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    bench.enrol("a").await;
    bench.take("a", Lane(0)).await;

    subject.log().leave(&relay("a")).await.expect("leave");

    assert_eq!(bench.line(Lane(0)).await.holder, None);
}

pub async fn a_holder_whose_lease_is_over_counts_as_none<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    bench.enrol("a").await;
    bench.take("a", Lane(0)).await;

    bench.advance(LEASE);
    assert_eq!(bench.enrol("b").await.lanes[0].holder, Some(relay("a")), "at its last instant it holds");
    bench.advance(TICK);

    assert_eq!(bench.enrol("c").await.lanes[0].holder, None);
}

pub async fn the_holder_itself_sees_that_it_holds<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    bench.enrol(RELAY).await;
    bench.take(RELAY, Lane(0)).await;

    let census = only(alive(bench.renew(RELAY).await));

    assert_eq!(census.lanes[0].holder, Some(relay(RELAY)));
}

pub async fn tells_which_lanes_are_in_trouble<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    bench.subscribe(&Subscription::new("audit")).await;
    let keys = bench.keys_of_distinct_lanes(3).await;
    let sent = bench.publish(keys.iter().map(|key| keyed(key))).await;

    bench.settle(&sent[0], vec![failed(&sent[0], 1, SOON)]).await;
    bench.settle(&sent[1], vec![held_dead(&sent[1])]).await;
    bench.settle(&sent[2], vec![dead(&sent[2])]).await;
    assert_eq!(troubled(&bench, SUB).await, LaneSet::from_iter([sent[0].lane, sent[1].lane]));
    assert_eq!(troubled(&bench, "audit").await, LaneSet::EMPTY);

    bench.settle(&sent[0], vec![delivered(&sent[0])]).await;
    bench.act(OperatorAct::Discard(bench.open_letters().await)).await.expect("discard");
    assert_eq!(troubled(&bench, SUB).await, LaneSet::EMPTY);
}

pub async fn tells_that_it_is_paused<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    assert!(!bench.enrol("a").await.paused);

    bench.act(OperatorAct::Pause(SUB.to_owned())).await.expect("pause");

    assert!(only(alive(bench.renew("a").await)).paused);
}

pub async fn a_lane_without_a_line_is_an_error_of_the_schema<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;

    subject.damage(Damage::LoseLines { subscription: SUB.to_owned(), lane: Lane(1) }).await;

    let error = subject.log().hold(&bench.lease("a")).await.expect_err("the log is damaged");
    assert_eq!(error.kind(), ErrorKind::Schema, "{error}");
}

async fn troubled<S: Subject>(bench: &Bench<'_, S>, subscription: &str) -> LaneSet {
    let census = bench.census(subscription).await.expect("it is there");
    census.lanes.iter().filter(|line| line.troubled).map(|line| line.lane).collect()
}
