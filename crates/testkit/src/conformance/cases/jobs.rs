//! Jobs: what relays do to many dead letters for an operator.

use std::time::Duration;

use posthaste_core::{
    AuditFilter, DeadFilter, ErrorKind, Job, JobKind, JobRequest, JobState, OperatorAct, Retention,
    Subscription, Worked,
};

use super::{
    Subject,
    bench::{ADA, Bench, SOON, SUB, Sent, keyed, places, positions},
    changes::dead,
};

const SECOND: Duration = Duration::from_secs(1);

pub async fn a_job_replays_all_that_fit<S: Subject>(subject: &S) {
    let (bench, sent) = all_dead(subject, &["a", "b", "a"]).await;
    let filter =
        DeadFilter { key: Some("a".to_owned()), limit: 1, cursor: Some(1_000), ..DeadFilter::default() };

    start(&bench, JobKind::Replay, filter).await;
    assert!(bench.page().await.parked.is_empty(), "nothing happens before a relay works");
    let worked = work(&bench).await;

    assert_eq!(worked, Worked { letters: 2, next: None }, "whatever the page of the filter says");
    assert_eq!(positions(&bench.page().await.parked), places(&[&sent[0], &sent[2]]));
    let all = DeadFilter { resolved: true, ..DeadFilter::default() };
    let letters = subject.admin().dead(&all).await.expect("dead").items;
    let how: Vec<_> = letters.iter().map(|letter| letter.resolution.as_deref()).collect();
    assert_eq!(how, [Some("replayed"), None, Some("replayed")]);
    assert_eq!(letters[0].resolved_by.as_deref(), Some(ADA), "who wanted it, not who did it");
}

pub async fn a_job_discards_all_that_fit<S: Subject>(subject: &S) {
    let (bench, _) = all_dead(subject, &["a", "b", "a"]).await;
    let filter = DeadFilter { key: Some("a".to_owned()), ..DeadFilter::default() };

    start(&bench, JobKind::Discard, filter).await;
    assert_eq!(work(&bench).await, Worked { letters: 2, next: None });

    let all = DeadFilter { resolved: true, ..DeadFilter::default() };
    let letters = subject.admin().dead(&all).await.expect("dead").items;
    let how: Vec<_> = letters.iter().map(|letter| letter.resolution.as_deref()).collect();
    assert_eq!(how, [Some("discarded"), None, Some("discarded")]);
    assert!(bench.page().await.parked.is_empty());
}

pub async fn a_job_goes_a_batch_at_a_time<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish((0..501).map(|_| keyed("a"))).await;
    let letters: Vec<_> = sent.iter().map(dead).collect();
    bench.settle(&sent[500], letters).await;
    start(&bench, JobKind::Discard, DeadFilter::default()).await;

    let first = work(&bench).await;
    assert_eq!((first.letters, first.next), (500, Some(Duration::ZERO)));
    assert_eq!((job(&bench).await.state, job(&bench).await.done), (JobState::Running, 500));
    assert_eq!(work(&bench).await, Worked { letters: 1, next: None });
    assert_eq!((job(&bench).await.state, job(&bench).await.done), (JobState::Done, 501));
    assert_eq!(bench.open_letters().await, [0_i64; 0]);
}

pub async fn a_job_keeps_the_order_of_a_key_from_batch_to_batch<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish([keyed("a"), keyed("a"), keyed("a")]).await;
    // They die in another order than they were published.
    for index in [2, 0, 1] {
        bench.settle(&sent[index], vec![dead(&sent[index])]).await;
    }
    start_slowly(&bench, 1).await;

    for count in 1..=3 {
        assert_eq!(work(&bench).await.letters, 1);
        let parked = positions(&bench.page().await.parked);
        assert_eq!(parked, places(&sent[..count].iter().collect::<Vec<_>>()), "the first of the log first");
        bench.advance(SECOND);
    }
}

pub async fn what_dies_after_the_start_is_not_meant<S: Subject>(subject: &S) {
    let (bench, _) = all_dead(subject, &["a"]).await;
    let late = bench.publish_one(keyed("b")).await;
    start(&bench, JobKind::Discard, DeadFilter::default()).await;
    bench.settle(&late, vec![dead(&late)]).await;

    assert_eq!(work(&bench).await, Worked { letters: 1, next: None });

    assert_eq!(bench.open_letters().await.len(), 1);
    assert_eq!((job(&bench).await.concerned, job(&bench).await.done), (1, 1));
}

pub async fn what_somebody_else_has_resolved_is_left_alone<S: Subject>(subject: &S) {
    let (bench, sent) = all_dead(subject, &["a", "b"]).await;
    start(&bench, JobKind::Replay, DeadFilter::default()).await;
    let first = bench.open_letters().await[0];
    bench.act(OperatorAct::Discard(vec![first])).await.expect("discard");

    assert_eq!(work(&bench).await, Worked { letters: 1, next: None });

    assert_eq!(positions(&bench.page().await.parked), places(&[&sent[1]]));
    let job = job(&bench).await;
    assert_eq!((job.state, job.concerned, job.done), (JobState::Done, 2, 1));
}

pub async fn a_job_goes_no_faster_than_it_may<S: Subject>(subject: &S) {
    let (bench, _) = all_dead(subject, &["a", "b", "c", "d", "e"]).await;
    start_slowly(&bench, 2).await;

    assert_eq!(work(&bench).await, Worked { letters: 2, next: Some(SECOND) });
    bench.advance(SECOND / 2);
    assert_eq!(work(&bench).await, Worked { letters: 0, next: Some(SECOND / 2) }, "not before its time");
    bench.advance(SECOND / 2);
    assert_eq!(work(&bench).await, Worked { letters: 2, next: Some(SECOND) });
    bench.advance(SECOND);
    assert_eq!(work(&bench).await, Worked { letters: 1, next: None });
}

pub async fn a_job_tells_how_far_it_is<S: Subject>(subject: &S) {
    let (bench, _) = all_dead(subject, &["a", "b", "a"]).await;
    let asked_at = bench.now();
    let matching = DeadFilter { key: Some("a".to_owned()), ..DeadFilter::default() };
    let request = JobRequest { kind: JobKind::Replay, matching: matching.clone(), per_second: Some(1) };
    let job_id = bench.act(OperatorAct::Start(request)).await.expect("start");

    let mut expected = Job {
        job_id: i64::try_from(job_id).expect("a number"),
        kind: JobKind::Replay,
        matching,
        per_second: Some(1),
        requested_by: ADA.to_owned(),
        requested_at: asked_at,
        state: JobState::Waiting,
        concerned: 2,
        done: 0,
        error: None,
        started_at: None,
        finished_at: None,
    };
    assert_eq!(job(&bench).await, expected);

    bench.advance(SOON);
    work(&bench).await;
    expected = Job { state: JobState::Running, done: 1, started_at: Some(bench.now()), ..expected };
    assert_eq!(job(&bench).await, expected);

    for _ in 0..2 {
        bench.advance(SECOND);
        work(&bench).await;
    }
    expected = Job { state: JobState::Done, done: 2, finished_at: Some(bench.now()), ..expected };
    assert_eq!(job(&bench).await, expected);
}

pub async fn jobs_take_turns<S: Subject>(subject: &S) {
    let (bench, _) = all_dead(subject, &["a", "a", "b"]).await;
    let key = |key: &str| DeadFilter { key: Some(key.to_owned()), ..DeadFilter::default() };
    let slow = JobRequest { kind: JobKind::Replay, matching: key("a"), per_second: Some(1) };
    bench.act(OperatorAct::Start(slow)).await.expect("start");
    start(&bench, JobKind::Discard, key("b")).await;

    assert_eq!(work(&bench).await.letters, 1);
    assert_eq!(
        work(&bench).await,
        Worked { letters: 1, next: Some(SECOND) },
        "the slow one is in nobody's way"
    );

    let states: Vec<_> = jobs(&bench).await.iter().map(|job| (job.kind, job.state)).collect();
    assert_eq!(states, [(JobKind::Discard, JobState::Done), (JobKind::Replay, JobState::Running)]);
}

pub async fn any_job_is_found_by_its_number<S: Subject>(subject: &S) {
    /// More than the status tells of.
    const JOBS: usize = 51;
    let (bench, _) = all_dead(subject, &["a"]).await;
    let mut started = Vec::new();
    for _ in 0..JOBS {
        let job_id = start_slowly(&bench, 1).await;
        bench.act(OperatorAct::Cancel(job_id)).await.expect("cancel");
        started.push(job_id);
    }
    let told: Vec<i64> = jobs(&bench).await.iter().map(|job| job.job_id).collect();
    assert!(!told.contains(&started[0]), "the status does not tell of the first: {told:?}");

    let first = subject.admin().job(started[0]).await.expect("job");
    assert_eq!((first.job_id, first.state, first.concerned), (started[0], JobState::Cancelled, 1));
    assert_eq!(subject.admin().job(started[JOBS - 1]).await.expect("job"), job(&bench).await);
    let missing = subject.admin().job(started[JOBS - 1] + 1).await.expect_err("there is none");
    assert_eq!(missing.kind(), ErrorKind::NotFound);
}

pub async fn a_cancelled_job_does_no_more<S: Subject>(subject: &S) {
    let (bench, _) = all_dead(subject, &["a", "b"]).await;
    let job_id = start_slowly(&bench, 1).await;
    work(&bench).await;

    bench.advance(SOON);
    assert_eq!(bench.act(OperatorAct::Cancel(job_id)).await.expect("cancel"), 1);

    assert_eq!(work(&bench).await, Worked::default());
    let job = job(&bench).await;
    assert_eq!((job.state, job.done, job.finished_at), (JobState::Cancelled, 1, Some(bench.now())));
    assert_eq!(bench.open_letters().await.len(), 1);
}

pub async fn what_is_over_cannot_be_cancelled<S: Subject>(subject: &S) {
    let (bench, _) = all_dead(subject, &["a"]).await;
    let missing = bench.refusal(OperatorAct::Cancel(77), ErrorKind::NotFound).await;
    assert!(missing.contains("77"), "{missing}");

    let done = start(&bench, JobKind::Replay, DeadFilter::default()).await;
    work(&bench).await;
    let message = bench.refusal(OperatorAct::Cancel(done), ErrorKind::Refused).await;
    assert!(message.contains("done"), "{message}");

    let sent = bench.publish_one(keyed("z")).await;
    bench.settle(&sent, vec![dead(&sent)]).await;
    let cancelled = start(&bench, JobKind::Replay, DeadFilter::default()).await;
    bench.act(OperatorAct::Cancel(cancelled)).await.expect("cancel");
    let message = bench.refusal(OperatorAct::Cancel(cancelled), ErrorKind::Refused).await;
    assert!(message.contains("cancelled"), "{message}");
}

pub async fn a_job_for_nothing_is_not_started<S: Subject>(subject: &S) {
    let (bench, _) = all_dead(subject, &["a"]).await;
    let request = |matching| JobRequest { kind: JobKind::Replay, matching, per_second: None };
    let nobody = DeadFilter { key: Some("b".to_owned()), ..DeadFilter::default() };

    bench.refusal(OperatorAct::Start(request(nobody)), ErrorKind::NotFound).await;
    let never = JobRequest { per_second: Some(0), ..request(DeadFilter::default()) };
    bench.refusal(OperatorAct::Start(never), ErrorKind::Invalid).await;

    assert_eq!(jobs(&bench).await, []);
}

pub async fn a_job_fails_if_its_subscription_is_gone<S: Subject>(subject: &S) {
    let (bench, _) = all_dead(subject, &["a", "b"]).await;
    start_slowly(&bench, 1).await;
    work(&bench).await;
    bench.act(OperatorAct::Pause(SUB.to_owned())).await.expect("pause");
    bench.act(OperatorAct::Drop(SUB.to_owned())).await.expect("drop");

    bench.advance(SECOND);
    assert_eq!(work(&bench).await, Worked::default());

    let job = job(&bench).await;
    assert_eq!((job.state, job.done, job.finished_at), (JobState::Failed, 1, Some(bench.now())));
    assert!(job.error.is_some_and(|error| error.contains(SUB)), "it says what is missing");
    assert_eq!(bench.open_letters().await.len(), 1, "what it could not do is as it was");
    let again = JobRequest { kind: JobKind::Replay, matching: DeadFilter::default(), per_second: None };
    let message = bench.refusal(OperatorAct::Start(again), ErrorKind::Refused).await;
    assert!(message.contains(SUB), "{message}");
}

pub async fn a_job_is_told_in_the_journal<S: Subject>(subject: &S) {
    let (bench, sent) = all_dead(subject, &["a", "b"]).await;
    let matching = DeadFilter { subscription: Some(SUB.to_owned()), ..DeadFilter::default() };
    let job_id = start(&bench, JobKind::Replay, matching).await;
    bench.advance(SOON);
    work(&bench).await;

    let items = subject.admin().show(sent[1].id).await.expect("show").items;
    let last = items.last().expect("something happened");
    assert_eq!((last.what.as_str(), last.by.as_deref()), ("replayed", Some(ADA)));
    let entries = subject.admin().audit(&AuditFilter::default()).await.expect("audit").items;
    let told: Vec<_> = entries.iter().map(|entry| (entry.what.as_str(), entry.concerned)).collect();
    assert_eq!(told, [("finished", 2), ("started", 2)]);
    for entry in entries {
        assert_eq!((entry.by.as_str(), entry.subscription.as_deref()), (ADA, Some(SUB)));
        assert_eq!(entry.detail, Some(format!("job {job_id}: replay")));
    }
}

pub async fn jobs_that_are_over_are_pruned<S: Subject>(subject: &S) {
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    let (bench, _) = all_dead(subject, &["a", "b"]).await;
    bench.subscribe(&Subscription::new("audit")).await;
    start(&bench, JobKind::Replay, DeadFilter { key: Some("a".to_owned()), ..DeadFilter::default() }).await;
    work(&bench).await;
    let waiting = start_slowly(&bench, 1).await;
    let retention = Retention { journal: DAY, ..Retention::default() };

    bench.advance(DAY);
    subject.log().prune(&retention).await.expect("prune");
    assert_eq!(jobs(&bench).await.len(), 2, "not yet");
    bench.advance(SECOND);
    subject.log().prune(&retention).await.expect("prune");

    let left: Vec<_> = jobs(&bench).await.iter().map(|job| job.job_id).collect();
    assert_eq!(left, [waiting], "what is not over stays, however old");
}

pub async fn without_a_job_there_is_nothing_to_do<S: Subject>(subject: &S) {
    let (bench, _) = all_dead(subject, &["a"]).await;

    assert_eq!(work(&bench).await, Worked::default());
    assert_eq!(bench.open_letters().await.len(), 1);
}

/// Events with these keys, all of them dead.
async fn all_dead<'s, S: Subject>(subject: &'s S, keys: &[&str]) -> (Bench<'s, S>, Vec<Sent>) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish(keys.iter().map(|key| keyed(key))).await;
    for sent in &sent {
        bench.settle(sent, vec![dead(sent)]).await;
    }
    (bench, sent)
}

async fn start<S: Subject>(bench: &Bench<'_, S>, kind: JobKind, matching: DeadFilter) -> i64 {
    let request = JobRequest { kind, matching, per_second: None };
    number(bench.act(OperatorAct::Start(request)).await.expect("start"))
}

/// A replay of everything, so many a second.
async fn start_slowly<S: Subject>(bench: &Bench<'_, S>, per_second: u32) -> i64 {
    let request =
        JobRequest { kind: JobKind::Replay, matching: DeadFilter::default(), per_second: Some(per_second) };
    number(bench.act(OperatorAct::Start(request)).await.expect("start"))
}

fn number(job_id: u64) -> i64 {
    i64::try_from(job_id).expect("a number")
}

async fn work<S: Subject>(bench: &Bench<'_, S>) -> Worked {
    bench.subject.log().work().await.expect("work")
}

async fn jobs<S: Subject>(bench: &Bench<'_, S>) -> Vec<Job> {
    let admin = bench.subject.admin();
    let jobs = admin.jobs().await.expect("jobs");
    assert_eq!(jobs, admin.status().await.expect("status").jobs, "the status tells of the same");
    jobs
}

/// The newest job.
async fn job<S: Subject>(bench: &Bench<'_, S>) -> Job {
    jobs(bench).await.into_iter().next().expect("a job was started")
}
