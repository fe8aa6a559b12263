//! Jobs with several relays on one log, and what happens if the database refuses a part.

use std::time::Duration;

use posthaste_core::{
    Admin, DeadFilter, ErrorKind, EventFilter, Inspect, Job, JobKind, JobRequest, JobState, Log, OperatorAct,
    Upkeep, Worked,
};
use posthaste_postgres::PostgresLog;
use tokio::time::timeout;

use crate::fixture::{Fixture, SUB, keyed, run};

/// Far longer than it takes on a slow machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// So many dead letters of as many events.
async fn with_dead(count: usize) -> Fixture {
    let fixture = Fixture::subscribed().await;
    fixture.publish((0..count).map(|number| keyed(&format!("k{}", number % 7)))).await;
    let buried = format!(
        "insert into outbox_dead (subscription, position, lane, id, key, event_type, event_version, topic, content_type,
           occurred_at, checked, payload, reason, error, attempts, holds, moved_at)
         select '{SUB}', position, outbox_lane(key, id), id, key, event_type, event_version, topic, content_type, occurred_at, true,
           payload, 'permanent_failure', 'refused', 1, false, now() from outbox order by position desc"
    );
    fixture.run(&buried).await.unwrap();
    fixture
}

async fn start(log: &PostgresLog, kind: JobKind) -> i64 {
    let request = JobRequest { kind, matching: DeadFilter::default(), per_second: None };
    i64::try_from(log.act(&OperatorAct::Start(request), "ada").await.unwrap()).unwrap()
}

async fn job(log: &PostgresLog) -> Job {
    log.status().await.unwrap().jobs.remove(0)
}

/// Works until nothing is left, and answers how many dead letters that were.
async fn work_off(log: &PostgresLog) -> u64 {
    let mut letters = 0;
    loop {
        let worked = log.work().await.unwrap();
        letters += worked.letters;
        if worked.next.is_none() {
            return letters;
        }
    }
}

#[tokio::test]
async fn two_relays_never_do_the_same_batch() {
    let fixture = with_dead(2_300).await;
    let other = fixture.open_again().await;
    start(&fixture.log, JobKind::Replay).await;

    let (one, two) = tokio::join!(work_off(&fixture.log), work_off(&other));

    assert_eq!(one + two, 2_300);
    assert_eq!(fixture.number("select count(*) from outbox_parked").await, 2_300);
    let told = "select count(*) from outbox_journal where what = 'replayed' and position is not null";
    assert_eq!(fixture.number(told).await, 2_300, "each of them once");
    assert_eq!((job(&other).await.state, job(&other).await.done), (JobState::Done, 2_300));
}

#[tokio::test]
async fn a_job_that_another_relay_works_on_is_passed_over() {
    let fixture = with_dead(3).await;
    start(&fixture.log, JobKind::Discard).await;
    let mut busy = fixture.connect().await;
    run(&mut busy, "begin; select from outbox_jobs for update").await.unwrap();

    let worked = timeout(PATIENCE, fixture.log.work()).await.expect("nobody waits").unwrap();

    assert_eq!(worked.letters, 0);
    run(&mut busy, "rollback").await.unwrap();
    assert_eq!(fixture.log.work().await.unwrap(), Worked { letters: 3, next: None });
}

#[tokio::test]
async fn a_cancel_waits_for_the_batch_that_is_under_way() {
    let fixture = with_dead(3).await;
    let job_id = start(&fixture.log, JobKind::Discard).await;
    let mut busy = fixture.connect().await;
    let done = "begin; update outbox_jobs set state = 'done', done = 3, finished_at = now()";
    run(&mut busy, done).await.unwrap();

    let cancel = OperatorAct::Cancel(job_id);
    let (cancelled, ()) = tokio::join!(fixture.log.act(&cancel, "ada"), async {
        fixture.wait_for_who_waits_for(&mut busy, 1).await;
        run(&mut busy, "commit").await.unwrap();
    });

    let error = cancelled.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused, "{error}");
    assert!(error.to_string().contains("done"), "{error}");
    assert_eq!(job(&fixture.log).await.state, JobState::Done);
}

#[tokio::test]
async fn what_the_database_refuses_ends_the_job_and_changes_nothing() {
    let fixture = with_dead(3).await;
    fixture.run("alter table outbox_parked add constraint refused check (false) not valid").await.unwrap();
    start(&fixture.log, JobKind::Replay).await;

    assert_eq!(fixture.log.work().await.unwrap(), Worked::default());

    let job = job(&fixture.log).await;
    assert_eq!((job.state, job.done), (JobState::Failed, 0));
    assert!(job.error.is_some_and(|error| error.contains("refused")), "it says why");
    assert_eq!(fixture.log.dead(&DeadFilter::default()).await.unwrap().items.len(), 3);
    assert_eq!(fixture.log.capabilities().lanes, crate::fixture::LANES, "the connection still works");
}

/// How the log stands is asked each second while somebody looks. Here it waits for a table that listing does not need.
#[tokio::test]
async fn a_question_that_takes_long_does_not_delay_another() {
    let fixture = Fixture::subscribed().await;
    fixture.publish([keyed("k")]).await;
    let mut locking = fixture.connect().await;
    run(&mut locking, "begin; lock table outbox_jobs in access exclusive mode").await.unwrap();

    let all = EventFilter::default();
    let listed = tokio::select! {
        biased;
        _ = fixture.log.status() => panic!("the table is locked"),
        listed = timeout(PATIENCE, fixture.log.list(&all)) => listed,
    };

    assert_eq!(listed.expect("nobody is in the way").unwrap().items.len(), 1);
}
