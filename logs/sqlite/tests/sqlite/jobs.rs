//! Jobs with several processes on one file, and what happens if the database refuses a part.

use posthaste_core::{
    Admin, DeadFilter, Inspect, Job, JobKind, JobRequest, JobState, OperatorAct, Upkeep, Worked,
};
use posthaste_sqlite::SqliteLog;

use crate::fixture::{Fixture, keyed};

/// So many dead letters of as many events.
async fn with_dead(count: usize) -> Fixture {
    let fixture = Fixture::subscribed().await;
    fixture.publish((0..count).map(|number| keyed(&format!("k{}", number % 7)))).await;
    let buried = "insert into outbox_dead (subscription, position, lane, id, key, event_type, event_version, topic, content_type,
           occurred_at, checked, payload, reason, error, attempts, holds, moved_at)
         select 'billing', position, lane, id, key, event_type, event_version, topic, content_type, occurred_at, 1,
           payload, 'permanent_failure', 'refused', 1, 0, 1 from outbox order by position desc";
    fixture.sql(buried).await.unwrap();
    fixture
}

async fn start(log: &SqliteLog) {
    let request = JobRequest { kind: JobKind::Replay, matching: DeadFilter::default(), per_second: None };
    log.act(&OperatorAct::Start(request), "ada").await.unwrap();
}

async fn job(log: &SqliteLog) -> Job {
    log.status().await.unwrap().jobs.remove(0)
}

/// Works until nothing is left, and answers how many dead letters that were.
async fn work_off(log: &SqliteLog) -> u64 {
    let mut letters = 0;
    loop {
        let worked = log.work().await.unwrap();
        letters += worked.letters;
        match worked.next {
            None => return letters,
            // The clock of these tests stands still: to wait for it would be for ever.
            Some(wait) => assert!(wait.is_zero(), "a job without a limit waits {wait:?}"),
        }
    }
}

#[tokio::test]
async fn two_relays_never_do_the_same_batch() {
    let fixture = with_dead(2_300).await;
    let other = fixture.open_again().await;
    start(&fixture.log).await;

    let (one, two) = tokio::join!(work_off(&fixture.log), work_off(&other));

    assert_eq!(one + two, 2_300);
    assert_eq!((job(&other).await.state, job(&other).await.done), (JobState::Done, 2_300));
    let told = "select count(*) from outbox_journal where what = 'replayed' and position is not null";
    assert_eq!(fixture.number(told).await, 2_300, "each of them once");
}

#[tokio::test]
async fn what_the_database_refuses_ends_the_job_and_changes_nothing() {
    let fixture = with_dead(3).await;
    let refused =
        "create trigger no_parking before insert on outbox_parked begin select raise(abort, 'not here'); end";
    fixture.sql(refused).await.unwrap();
    start(&fixture.log).await;

    assert_eq!(fixture.log.work().await.unwrap(), Worked::default());

    let job = job(&fixture.log).await;
    assert_eq!((job.state, job.done), (JobState::Failed, 0));
    assert!(job.error.is_some_and(|error| error.contains("not here")), "it says why");
    assert_eq!(fixture.log.dead(&DeadFilter::default()).await.unwrap().items.len(), 3);
}
