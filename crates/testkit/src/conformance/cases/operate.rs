//! What operators do to subscriptions: pause, resume, reset, drop.

use std::time::Duration;

use posthaste_core::{
    Act, ActKind, Appended, AuditFilter, Cursor, DeadFilter, ErrorKind, EventFilter, Lane, OperatorAct,
    Position, Read, ResetTo, Retention, Start, StatusWord, Subscription,
};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

use super::{
    Subject,
    bench::{Bench, LEASE, SUB, Sent, TICK, act, keyed, places, positions},
    changes::{dead, failed, held_dead},
};

pub async fn pauses_and_resumes<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let steps = [(pause(), 1, true), (pause(), 0, true), (resume(), 1, false), (resume(), 0, false)];

    for (step, expected, paused) in steps {
        assert_eq!(bench.act(step.clone()).await.expect("pause"), expected, "{step:?} answers what changed");
        assert_eq!(bench.census(SUB).await.map(|census| census.paused), Some(paused));
        let status = subject.admin().status().await.expect("status");
        assert_eq!(status.subscriptions[0].paused, paused);
    }
}

pub async fn setting_a_relay_otherwise_is_written_down<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let tune = OperatorAct::Tune("batch 1000 → 5".to_owned());
    assert_eq!(subject.admin().foresee(&tune).await.expect("foresee").concerned, 1);
    assert_eq!(bench.act(tune).await.expect("tune"), 1);

    let audit = subject.admin().audit(&AuditFilter::default()).await.expect("audit").items;
    let told: Vec<_> = audit
        .iter()
        .map(|entry| (entry.what.as_str(), entry.subscription.as_deref(), entry.detail.as_deref()))
        .collect();
    assert_eq!(told, [("tuned", None, Some("batch 1000 → 5"))]);
}

pub async fn an_unknown_name_is_told_with_those_there_are<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    bench.subscribe(&Subscription::new("audit")).await;
    let name = || "billin".to_owned();
    let acts = [
        OperatorAct::Pause(name()),
        OperatorAct::Resume(name()),
        OperatorAct::Reset { subscription: name(), to: ResetTo::Now },
        OperatorAct::Drop(name()),
    ];

    for act in acts {
        let message = bench.refusal(act, ErrorKind::NotFound).await;
        assert!(message.contains(SUB) && message.contains("audit"), "{message}");
    }
}

pub async fn a_reset_needs_a_pause<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;

    let message = bench.refusal(reset(ResetTo::Beginning), ErrorKind::Refused).await;

    assert!(message.contains("pause"), "{message}");
    assert_eq!(bench.line(Lane(0)).await.n, 1);
}

pub async fn a_reset_waits_for_live_holders<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    bench.enrol("holder-7").await;
    let n = bench.take("holder-7", Lane(0)).await;
    bench.act(pause()).await.expect("pause");

    bench.advance(LEASE);
    for refused in [reset(ResetTo::Beginning), OperatorAct::Drop(SUB.to_owned())] {
        let message = bench.refusal(refused, ErrorKind::Refused).await;
        assert!(message.contains("holder-7"), "it says who holds: {message}");
    }
    let given_back = act(Lane(0), n + 1, ActKind::GivenBack, Position(0));
    assert_eq!(bench.append_one("holder-7", given_back).await, Appended::Done);

    bench.act(reset(ResetTo::Beginning)).await.expect("nobody holds a lane now");
}

pub async fn a_holder_whose_lease_has_ended_stops_no_reset<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    bench.enrol("gone").await;
    let n = bench.take("gone", Lane(0)).await;
    bench.act(pause()).await.expect("pause");

    bench.advance(LEASE + TICK);
    bench.act(reset(ResetTo::Beginning)).await.expect("its row is there, but its lease is over");

    let late = act(Lane(0), n + 1, ActKind::Settled, Position(9));
    assert_eq!(bench.append_one("gone", late).await, Appended::Fenced, "a reset is a line like any other");
}

pub async fn a_reset_moves_every_lane<S: Subject>(subject: &S) {
    let (bench, sent) = three_settled(subject).await;
    let lanes = u64::from(bench.all_lanes().len());
    let cases = [
        (ResetTo::Beginning, Position(0)),
        (ResetTo::Now, sent[2].position),
        (ResetTo::Position(sent[1].position), Position(sent[1].position.0 - 1)),
    ];

    for (to, after) in cases {
        let before = bench.census(SUB).await.expect("it is there").lanes;
        assert_eq!(bench.act(reset(to)).await.expect("reset"), lanes);
        let lines = bench.census(SUB).await.expect("it is there").lanes;
        for (line, before) in lines.iter().zip(before) {
            assert_eq!((line.n, line.cursor.after), (before.n + 1, after), "{to:?}");
            assert_eq!(line.holder, None);
        }
    }
    let next = bench.read(&Read { after: bench.line(Lane(0)).await.cursor, ..bench.everything() }).await;
    assert_eq!(positions(&next.entries), places(&[&sent[1], &sent[2]]), "that event is the next one");
}

pub async fn a_reset_removes_what_the_log_will_yield_again<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish(["a", "b", "c", "d"].map(keyed)).await;
    bench.settle(&sent[0], vec![failed(&sent[0], 1, Duration::ZERO)]).await;
    bench.settle(&sent[1], vec![dead(&sent[1])]).await;
    bench.settle(&sent[2], vec![failed(&sent[2], 1, Duration::ZERO)]).await;
    bench.settle(&sent[3], vec![held_dead(&sent[3])]).await;
    bench.act(pause()).await.expect("pause");

    bench.act(reset(ResetTo::Position(sent[2].position))).await.expect("reset");

    let page = bench.page_that_holds().await;
    assert_eq!(positions(&page.parked), places(&[&sent[0]]), "what the cursor has passed stays parked");
    let all = DeadFilter { resolved: true, ..DeadFilter::default() };
    let letters = subject.admin().dead(&all).await.expect("dead").items;
    let resolutions: Vec<_> =
        letters.iter().map(|letter| (letter.position, letter.resolution.as_deref())).collect();
    assert_eq!(resolutions, [(sent[1].position, None), (sent[3].position, Some("reset"))]);
    assert_eq!(page.troubled.iter().collect::<Vec<_>>(), [sent[0].lane]);
}

pub async fn a_reset_keeps_what_is_parked_at_its_cursor<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish_one(keyed("a")).await;
    bench.settle(&sent, vec![failed(&sent, 1, Duration::ZERO)]).await;
    bench.act(pause()).await.expect("pause");

    bench.act(reset(ResetTo::Now)).await.expect("reset");

    assert_eq!(positions(&bench.page().await.parked), places(&[&sent]), "the log will not yield it again");
}

pub async fn a_reset_keeps_what_the_log_has_no_more<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish(["a", "b"].map(keyed)).await;
    bench.settle(&sent[0], vec![dead(&sent[0])]).await;
    bench.settle(&sent[1], vec![dead(&sent[1])]).await;
    subject.clock().advance(2 * DAY);
    let retention = Retention { events: DAY, ..Retention::default() };
    subject.log().prune(&retention).await.expect("prune");
    let letters = subject.admin().dead(&DeadFilter::default()).await.expect("dead").items;
    bench.act(OperatorAct::Replay(vec![letters[0].dead_id])).await.expect("replay");
    bench.act(pause()).await.expect("pause");

    bench.act(reset(ResetTo::Beginning)).await.expect("reset");

    assert_eq!(positions(&bench.page().await.parked), places(&[&sent[0]]), "a copy is all there is of it");
    let open = subject.admin().dead(&DeadFilter::default()).await.expect("dead").items;
    assert_eq!(open.iter().map(|letter| letter.position).collect::<Vec<_>>(), [sent[1].position]);
}

pub async fn a_drop_needs_a_pause<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;

    let message = bench.refusal(OperatorAct::Drop(SUB.to_owned()), ErrorKind::Refused).await;

    assert!(message.contains("pause"), "{message}");
    assert!(bench.census(SUB).await.is_some());
}

pub async fn a_drop_removes_all_but_the_dead_letters<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    bench.subscribe(&Subscription::new("audit")).await;
    let sent = bench.publish([keyed("a"), keyed("b")]).await;
    bench.settle(&sent[0], vec![failed(&sent[0], 1, Duration::ZERO)]).await;
    bench.settle(&sent[1], vec![dead(&sent[1])]).await;
    bench.act(pause()).await.expect("pause");

    bench.act(OperatorAct::Drop(SUB.to_owned())).await.expect("drop");

    assert!(bench.census(SUB).await.is_none() && bench.census("audit").await.is_some());
    let page = bench.page().await;
    assert!(page.stale && page.parked.is_empty());
    let letters = subject.admin().dead(&DeadFilter::default()).await.expect("dead").items;
    assert_eq!(letters.iter().map(|letter| letter.position).collect::<Vec<_>>(), [sent[1].position]);
    let settled = act(sent[0].lane, 3, ActKind::Settled, sent[0].position);
    assert_eq!(bench.append_one("late", settled).await, Appended::Fenced);
}

pub async fn a_dropped_subscription_can_be_created_again<S: Subject>(subject: &S) {
    let (bench, _) = three_settled(subject).await;
    bench.act(OperatorAct::Drop(SUB.to_owned())).await.expect("drop");

    bench.subscribe(&Subscription::new(SUB)).await;

    let census = bench.census(SUB).await.expect("it is there");
    assert!(!census.paused && census.lanes.iter().all(|line| line.cursor == Cursor::default()));
    assert!(bench.page().await.parked.is_empty());
}

pub async fn what_was_known_before_a_drop_is_of_no_use_after_it<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish_one(keyed("a")).await;
    let n = bench.take("old", sent.lane).await;
    let before = bench.page().await;
    bench.act(pause()).await.expect("pause");
    bench.act(OperatorAct::Drop(SUB.to_owned())).await.expect("drop");
    let again = Subscription { start: Start::Now, ..Subscription::new(SUB) };
    let generation = bench.subscribe(&again).await;

    assert!(generation > 1 && bench.page().await.stale, "it is not the generation that it was");
    for n in 1..=n + 1 {
        let late = Act { cursor: before.end.clone(), ..act(sent.lane, n, ActKind::Settled, Position(0)) };
        let late = Act { changes: vec![dead(&sent)], ..late };
        assert_eq!(
            bench.append_one("old", late).await,
            Appended::Fenced,
            "line {n} is not the next one any more"
        );
    }
    let filter = EventFilter {
        subscription: Some(SUB.to_owned()),
        status: Some(StatusWord::Skipped),
        ..EventFilter::default()
    };
    let skipped = subject.admin().list(&filter).await.expect("list").items;
    assert_eq!(skipped.iter().map(|item| item.position).collect::<Vec<_>>(), places(&[&sent]));

    let other = bench.publish_one(keyed("a")).await;
    bench.settle(&other, Vec::new()).await;
    assert_eq!(
        bench.line(other.lane).await.cursor.after,
        other.position,
        "who knows how it stands now goes on"
    );
    assert!(!bench.read(&Read { generation, ..bench.everything() }).await.stale);
}

/// Three settled events of a paused subscription, the last lane with the last position.
async fn three_settled<S: Subject>(subject: &S) -> (Bench<'_, S>, Vec<Sent>) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish([keyed("a"), keyed("b"), keyed("c")]).await;
    for sent in &sent {
        bench.settle(sent, Vec::new()).await;
    }
    bench.act(pause()).await.expect("pause");
    (bench, sent)
}

fn pause() -> OperatorAct {
    OperatorAct::Pause(SUB.to_owned())
}

fn resume() -> OperatorAct {
    OperatorAct::Resume(SUB.to_owned())
}

fn reset(to: ResetTo) -> OperatorAct {
    OperatorAct::Reset { subscription: SUB.to_owned(), to }
}
