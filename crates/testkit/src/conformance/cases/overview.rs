//! What operators see of the log as a whole: counts, relays, lanes, and what others did.

use std::time::Duration;

use posthaste_core::{
    ActKind, AuditEntry, AuditFilter, ErrorKind, LaneStatus, OperatorAct, RelayStatus, ResetTo, Subscription,
    SubscriptionStatus,
};

use super::{
    Damage, Subject,
    bench::{ADA, Bench, LEASE, RELAY, SOON, SUB, TICK, keyed, relay, unkeyed},
    changes::{dead, delayed, failed, follower},
};

const MINUTE: Duration = Duration::from_secs(60);

pub async fn what_is_parked_is_counted_by_why<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish(["a", "a", "a", "b"].map(keyed)).await;
    bench.advance(SOON);
    let head = vec![failed(&sent[0], 1, SOON), follower(&sent[1]), follower(&sent[2])];
    bench.settle(&sent[2], head).await;
    bench.settle(&sent[3], vec![delayed(&sent[3], bench.now() + SOON)]).await;

    let before = subscription(&bench).await;
    assert_eq!((before.failed, before.behind, before.delayed), (3, 2, 1));
    assert_eq!(before.oldest_failed_seconds, Some(SOON.as_secs_f64()));
    assert_eq!(before.oldest_age_seconds, Some(SOON.as_secs_f64()));
    bench.advance(SOON);
    let after = subscription(&bench).await;
    assert_eq!((after.failed, after.behind, after.delayed), (4, 3, 0), "it is due, and has not failed");
}

pub async fn the_last_minute_and_the_last_hour_are_counted<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let keys = bench.keys_of_distinct_lanes(2).await;
    let sent = bench.publish([&keys[0], &keys[0], &keys[0], &keys[1], &keys[1]].map(|key| keyed(key))).await;
    bench.settle(&sent[0], Vec::new()).await;
    bench.settle(&sent[3], vec![dead(&sent[3])]).await;
    bench.advance(MINUTE + TICK);
    bench.settle(&sent[1], Vec::new()).await;
    bench.settle(&sent[2], Vec::new()).await;
    bench.settle(&sent[4], Vec::new()).await;

    let now = subscription(&bench).await;
    assert_eq!((now.delivered, now.delivered_last_minute, now.dead_last_hour), (4, 3, 1));
    assert_eq!(now.moved_at, Some(bench.now()));
    bench.advance(MINUTE);
    assert_eq!(subscription(&bench).await.delivered_last_minute, 3, "at this instant, and not after it");
    bench.advance(TICK);
    assert_eq!(subscription(&bench).await.delivered_last_minute, 0);

    bench.act(OperatorAct::Discard(bench.open_letters().await)).await.expect("discard");
    let discarded = subscription(&bench).await;
    assert_eq!((discarded.dead, discarded.dead_last_hour), (0, 1), "it died all the same");
    bench.advance(MINUTE * 60);
    assert_eq!(subscription(&bench).await.dead_last_hour, 0);
}

pub async fn relays_are_told_with_what_they_hold<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let started_at = bench.now();
    bench.enrol("a").await;
    bench.take("a", posthaste_core::Lane(0)).await;
    bench.take("a", posthaste_core::Lane(2)).await;
    bench.advance(SOON);
    bench.renew("a").await;
    bench.enrol("b").await;
    let renewed_at = bench.now();

    let told = subject.admin().status().await.expect("status");

    let expected = |id: &str, started_at, lanes| RelayStatus {
        relay: relay(id),
        host: "host".to_owned(),
        version: "1.0.0".to_owned(),
        subscriptions: vec![SUB.to_owned()],
        started_at,
        held_until: renewed_at + LEASE,
        lanes,
    };
    assert_eq!(told.relays, [expected("a", started_at, 2), expected("b", renewed_at, 0)]);
    assert_eq!(told.now, bench.now());
    bench.advance(LEASE + TICK);
    assert_eq!(subject.admin().status().await.expect("status").relays, [], "their leases are over");
}

pub async fn lanes_tell_who_holds_them_and_what_is_ahead<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let keys = bench.keys_of_distinct_lanes(2).await;
    let sent = bench.publish([&keys[0], &keys[0], &keys[0], &keys[1]].map(|key| keyed(key))).await;
    bench.enrol(RELAY).await;
    bench.advance(SOON);
    bench.settle(&sent[0], Vec::new()).await;

    let lanes = subject.admin().lanes(SUB).await.expect("lanes");

    assert_eq!(
        lanes.iter().map(|lane| lane.lane).collect::<Vec<_>>(),
        bench.all_lanes().iter().collect::<Vec<_>>()
    );
    let of = |wanted| lanes.iter().find(|lane| lane.lane == wanted).expect("it is there").clone();
    let moving = LaneStatus {
        lane: sent[0].lane,
        n: 2,
        kind: Some(ActKind::Settled),
        at: Some(bench.now()),
        holder: Some(relay(RELAY)),
        settled: sent[0].position,
        pending: 2,
        pending_estimated: false,
        oldest_age_seconds: Some(SOON.as_secs_f64()),
    };
    assert_eq!(of(sent[0].lane), moving);
    let idle = of(sent[3].lane);
    assert_eq!((idle.n, idle.kind, idle.holder, idle.pending), (1, Some(ActKind::Reset), None, 1));
    let pending: u64 = lanes.iter().map(|lane| lane.pending).sum();
    assert_eq!(pending, subscription(&bench).await.pending);
    bench.advance(LEASE);
    let lanes = subject.admin().lanes(SUB).await.expect("lanes");
    assert!(lanes.iter().all(|lane| lane.holder.is_none()), "its lease is over");
}

pub async fn lanes_of_nothing_are_not_found<S: Subject>(subject: &S) {
    Bench::subscribed(subject).await;

    let error = subject.admin().lanes("billin").await.expect_err("nobody is called so");

    assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
    assert!(error.to_string().contains(SUB), "{error}");
}

pub async fn a_lane_without_lines_orphans_its_events<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let keys = bench.keys_of_distinct_lanes(2).await;
    let sent = bench.publish([&keys[0], &keys[0], &keys[1]].map(|key| keyed(key))).await;
    assert_eq!(subject.admin().status().await.expect("status").orphaned, 0);

    subject.damage(Damage::LoseLines { subscription: SUB.to_owned(), lane: sent[0].lane }).await;

    assert_eq!(subject.admin().status().await.expect("status").orphaned, 2);
    let lanes = subject.admin().lanes(SUB).await.expect("lanes");
    let lost = lanes.iter().find(|lane| lane.lane == sent[0].lane).expect("it is there");
    assert_eq!((lost.n, lost.kind, lost.at), (0, None, None));
}

pub async fn a_long_backlog_is_estimated<S: Subject>(subject: &S) {
    const EVENTS: u64 = 12_000;
    let bench = Bench::subscribed(subject).await;
    bench.subscribe(&Subscription::new("audit")).await;
    let sent = bench.publish((0..EVENTS).map(|_| unkeyed())).await;
    bench.settle(&sent[0], Vec::new()).await;

    let status = subject.admin().status().await.expect("status");
    let lanes = subject.admin().lanes(SUB).await.expect("lanes");

    let close = |number: u64| (EVENTS * 98 / 100..=EVENTS * 102 / 100).contains(&number);
    assert!(close(status.events), "{}", status.events);
    for subscription in &status.subscriptions {
        assert!(close(subscription.pending), "{subscription:?}");
    }
    assert!(close(lanes.iter().map(|lane| lane.pending).sum()), "{lanes:?}");
}

pub async fn what_operators_did_is_told_newest_first<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish(["a", "b", "c"].map(keyed)).await;
    for sent in &sent {
        bench.settle(sent, vec![dead(sent)]).await;
    }
    let ids = bench.open_letters().await;
    let lanes = u64::from(bench.all_lanes().len());
    let sub = || SUB.to_owned();
    let new_id = bench.new_id();
    let acts = [
        (OperatorAct::Replay(ids[..2].to_vec()), "replayed", 2),
        (OperatorAct::Edit { dead_id: ids[2], edit: Default::default(), new_id }, "edited", 1),
        (OperatorAct::Pause(sub()), "paused", 1),
        (OperatorAct::Reset { subscription: sub(), to: ResetTo::Now }, "reset", lanes),
        (OperatorAct::Resume(sub()), "resumed", 1),
    ];
    let mut expected = Vec::new();
    for (act, what, concerned) in acts {
        bench.advance(SOON);
        bench.act(act).await.expect("this can be done");
        expected.insert(0, (what, concerned, bench.now()));
    }
    bench.act(OperatorAct::Resume(sub())).await.expect("resume");
    bench.act(OperatorAct::Replay(ids.clone())).await.expect("replay");

    let mut told = Vec::new();
    let mut filter = AuditFilter { limit: 2, ..AuditFilter::default() };
    loop {
        let page = subject.admin().audit(&filter).await.expect("audit");
        told.extend(page.items);
        let Some(next) = page.next else { break };
        filter.cursor = Some(next);
    }

    let shown: Vec<_> = told.iter().map(|entry| (entry.what.as_str(), entry.concerned, entry.at)).collect();
    assert_eq!(shown, expected, "and nothing of what changed nothing");
    assert!(told.iter().all(|entry| entry.by == ADA && entry.subscription.as_deref() == Some(SUB)));
    let detail = format!("dead letters {}, {}", ids[0], ids[1]);
    assert_eq!(told[4].detail.as_deref(), Some(detail.as_str()));
    assert_eq!(told[1].detail.as_deref(), Some(format!("to position {}", sent[2].position.0 + 1).as_str()));
}

pub async fn what_operators_did_is_found_by_who_and_what<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    bench.subscribe(&Subscription::new("audit")).await;
    bench.act(OperatorAct::Pause(SUB.to_owned())).await.expect("pause");
    let audit = OperatorAct::Pause("audit".to_owned());
    subject.admin().act(&audit, "grace").await.expect("pause");
    bench.act(OperatorAct::Resume(SUB.to_owned())).await.expect("resume");

    let text = |text: &str| Some(text.to_owned());
    let any = AuditFilter::default;
    let cases = [
        (any(), 3),
        (AuditFilter { by: text("grace"), ..any() }, 1),
        (AuditFilter { what: text("paused"), ..any() }, 2),
        (AuditFilter { subscription: text(SUB), ..any() }, 2),
        (AuditFilter { subscription: text(SUB), what: text("paused"), by: text(ADA), ..any() }, 1),
        (AuditFilter { by: text("nobody"), ..any() }, 0),
    ];
    for (filter, expected) in cases {
        let found: Vec<AuditEntry> = subject.admin().audit(&filter).await.expect("audit").items;
        assert_eq!(found.len(), expected, "{filter:?}");
    }
    let bad = AuditFilter { limit: 1_001, ..any() };
    let error = subject.admin().audit(&bad).await.expect_err("so many are not read");
    assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
}

async fn subscription<S: Subject>(bench: &Bench<'_, S>) -> SubscriptionStatus {
    let status = bench.subject.admin().status().await.expect("status");
    status.subscriptions.into_iter().find(|subscription| subscription.name == SUB).expect("it is there")
}
