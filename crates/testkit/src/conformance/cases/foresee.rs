//! What an act would concern, without doing it.

use std::time::Duration;

use posthaste_core::{
    DeadFilter, ErrorKind, Filter, Foreseen, JobKind, JobRequest, OperatorAct, Pattern, ResetTo, Subscription,
};

use super::{
    Subject,
    bench::{Bench, SOON, SUB, Sent, keyed},
    changes::{dead, failed},
};

pub async fn dead_letters_are_counted_and_left_alone<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish(["a", "b", "a"].map(keyed)).await;
    for sent in &sent {
        bench.settle(sent, vec![dead(sent)]).await;
    }
    let ids = bench.open_letters().await;
    bench.act(OperatorAct::Discard(vec![ids[1]])).await.expect("discard");
    let matching = DeadFilter { key: Some("a".to_owned()), ..DeadFilter::default() };
    let request = JobRequest { kind: JobKind::Replay, matching, per_second: None };

    let cases = [
        (OperatorAct::Replay(ids.clone()), 2),
        (OperatorAct::Discard(vec![ids[0], 99_999]), 1),
        (OperatorAct::Start(request), 2),
    ];
    for (act, expected) in cases {
        assert_eq!(foresee(&bench, &act).await.concerned, expected, "{act:?}");
    }
    assert_eq!(bench.open_letters().await.len(), 2);
    assert!(bench.page().await.parked.is_empty());
    assert_eq!(subject.admin().status().await.expect("status").jobs, []);
}

pub async fn a_pause_is_foreseen<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let (pause, resume) = (OperatorAct::Pause(SUB.to_owned()), OperatorAct::Resume(SUB.to_owned()));

    assert_eq!(foresee(&bench, &pause).await.concerned, 1);
    assert_eq!(foresee(&bench, &resume).await.concerned, 0);
    assert!(!bench.census(SUB).await.expect("it is there").paused);
    assert_eq!(foresee(&bench, &OperatorAct::Drop(SUB.to_owned())).await.concerned, 1);
    assert!(bench.census(SUB).await.is_some());
}

pub async fn a_reset_tells_what_comes_again_and_what_never_does<S: Subject>(subject: &S) {
    let (bench, sent, later) = half_settled(subject).await;
    let lanes = u64::from(bench.all_lanes().len());
    let last = sent.last().expect("there are some").position;

    let cases = [
        // Delivered, failed and dead ones come again; what the filter does not want counts nowhere.
        (ResetTo::Beginning, 3, 0),
        (ResetTo::Now, 0, 2),
        (ResetTo::Position(sent[1].position), 2, 0),
        (ResetTo::Position(last), 0, 1),
        (ResetTo::Time(later), 0, 0),
        (ResetTo::Time(later + SOON), 0, 2),
    ];
    for (to, again, skipped) in cases {
        let foreseen = foresee(&bench, &reset(to)).await;
        assert_eq!(foreseen, Foreseen { concerned: lanes, again, skipped, estimated: false }, "{to:?}");
    }
    assert_eq!(bench.line(sent[0].lane).await.cursor.after, sent[0].position, "nothing moved");
}

pub async fn a_reset_needs_no_pause_to_be_foreseen<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish_one(keyed("a")).await;
    bench.settle(&sent, Vec::new()).await;

    assert_eq!(foresee(&bench, &reset(ResetTo::Beginning)).await.again, 1);
    bench.refusal(reset(ResetTo::Beginning), ErrorKind::Refused).await;
}

pub async fn what_cannot_be_done_cannot_be_foreseen<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let nobody = || "billin".to_owned();
    let request = JobRequest { kind: JobKind::Discard, matching: DeadFilter::default(), per_second: None };

    let cases = [
        (OperatorAct::Pause(nobody()), ErrorKind::NotFound),
        (OperatorAct::Reset { subscription: nobody(), to: ResetTo::Now }, ErrorKind::NotFound),
        (OperatorAct::Drop(nobody()), ErrorKind::NotFound),
        (OperatorAct::Start(request), ErrorKind::NotFound),
        (OperatorAct::Cancel(3), ErrorKind::NotFound),
        (OperatorAct::Replay(Vec::new()), ErrorKind::Invalid),
        (OperatorAct::Replay((0..501).collect()), ErrorKind::Invalid),
    ];
    for (act, kind) in cases {
        let error = subject.admin().foresee(&act).await.expect_err("this is refused");
        assert_eq!(error.kind(), kind, "{act:?}: {error}");
        bench.refusal(act, kind).await;
    }
}

/// Three events that the subscription has passed (delivered, failed, dead) and one that it does not want, then two that are pending; and when
/// the last ones were written.
async fn half_settled<S: Subject>(subject: &S) -> (Bench<'_, S>, Vec<Sent>, posthaste_core::Timestamp) {
    let bench = Bench::new(subject);
    let narrow = Filter { types: vec![Pattern::new("order.*")], topics: Vec::new() };
    bench.subscribe(&Subscription { filter: narrow, ..Subscription::new(SUB) }).await;
    let keys = bench.keys_of_distinct_lanes(4).await;
    let unwanted = posthaste_core::Event::of("other").key(&keys[3]).bytes("", "b");
    let mut sent = bench.publish([keyed(&keys[0]), keyed(&keys[1]), keyed(&keys[2]), unwanted]).await;
    bench.settle(&sent[0], Vec::new()).await;
    bench.settle(&sent[1], vec![failed(&sent[1], 1, Duration::ZERO)]).await;
    bench.settle(&sent[2], vec![dead(&sent[2])]).await;
    bench.settle(&sent[3], Vec::new()).await;
    bench.advance(SOON);
    sent.extend(bench.publish([keyed(&keys[0]), keyed(&keys[1])]).await);
    let later = bench.now();
    (bench, sent, later)
}

async fn foresee<S: Subject>(bench: &Bench<'_, S>, act: &OperatorAct) -> Foreseen {
    bench.subject.admin().foresee(act).await.expect("foresee")
}

fn reset(to: ResetTo) -> OperatorAct {
    OperatorAct::Reset { subscription: SUB.to_owned(), to }
}
