//! A server that crashes hands transaction ids out again: what is only remembered of snapshots is void, and what is stored is not.

use std::{
    process::Command,
    time::{Duration, Instant},
};

use posthaste_core::{Appended, Log, Page, Read};
use posthaste_postgres::PostgresLog;
use posthaste_services::postgres::StopMode;
use tokio::time::timeout;

use crate::{
    cluster::Cluster,
    fixture::{LANES, everything},
    walk::{Walk, again, behind_last, positions},
};

/// More than PostgreSQL hands out by itself while it starts.
const IDS: usize = 40;

/// How many crashes it may take until ids are handed out again.
const CRASHES: usize = 5;

/// A relay has read the second of two events, and has not settled it, when the server crashes. Transaction ids that only that
/// relay's snapshot knows of are handed out once more.
struct Crashed {
    cluster: Cluster,
    log: PostgresLog,
    walk: Walk,
    page: Page,
}

impl Crashed {
    /// The server writes its log by its own clock as well, and then the ids are known after the crash: so more than once, if need be.
    async fn new() -> Self {
        for _ in 0..CRASHES {
            let crashed = Self::once().await;
            if crashed.cluster.next_id().await < crashed.remembered() {
                return crashed;
            }
        }
        panic!("ids are not handed out again");
    }

    async fn once() -> Self {
        let mut cluster = Cluster::start().await;
        let log = cluster.log().await;
        let mut walk = Walk::take(&log, "a").await;
        cluster.publish().await;
        assert_eq!(walk.drain().await, [1]);
        cluster.publish().await;
        cluster.use_ids_up(IDS).await;
        let page = walk.read(1_000).await;
        assert_eq!(positions(&page.entries), [2]);
        cluster.restart(StopMode::Immediate);
        Self { cluster, log, walk, page }
    }

    /// The transaction id that ends the snapshot that is only remembered.
    fn remembered(&self) -> i64 {
        let text = self.page.end.to.text().unwrap();
        text.split(':').nth(1).unwrap().parse().unwrap()
    }
}

#[tokio::test]
async fn a_remembered_snapshot_calls_new_events_old_after_a_crash() {
    let Crashed { cluster, page, .. } = Crashed::new().await;

    let new = cluster.publish().await;

    let skipped = format!(
        "select count(*) from outbox where position = {new} and pg_visible_in_snapshot(xid, '{}')",
        page.end.to.text().unwrap()
    );
    assert_eq!(cluster.number(&skipped).await, 1, "who goes on from that snapshot never sees it");
}

#[tokio::test]
async fn after_a_crash_what_was_read_is_void_and_nothing_is_lost() {
    let Crashed { cluster, log, mut walk, page } = Crashed::new().await;
    let new = cluster.publish().await;

    let read = Read { after: page.end.clone(), ..everything() };
    assert!(again(|| log.read(&read)).await.void, "the cursor stands on nothing");
    assert_eq!(walk.settle(&page.end).await, [Appended::Fenced; LANES as usize]);
    assert_eq!(
        walk.settle(&page.start.moved_to(page.entries[0].position)).await,
        [Appended::Fenced; LANES as usize]
    );

    let mut walk = Walk::take(&log, "a").await;
    assert_eq!(walk.drain().await, [2, new]);
}

#[tokio::test]
async fn a_lane_on_firm_ground_does_not_join_others_that_stand_on_nothing() {
    let Crashed { cluster, log, page, .. } = Crashed::new().await;
    cluster.publish().await;
    let stored = Walk::take(&log, "a").await.next_read(1_000);

    assert!(!again(|| log.read(&stored)).await.void);
    let joining = Read { until: Some(page.end), ..stored };
    assert!(again(|| log.read(&joining)).await.void);
}

/// Somebody has looked behind a stored cursor and found nothing, up to a transaction id that is handed out again after a crash.
struct Emptied {
    cluster: Cluster,
    log: PostgresLog,
    stored: Read,
    empty_up_to: i64,
}

impl Emptied {
    async fn new() -> Self {
        let mut cluster = Cluster::start().await;
        let log = cluster.log().await;
        cluster.publish().await;
        assert_eq!(Walk::take(&log, "a").await.drain().await, [1]);
        let stored = Walk::take(&log, "a").await.next_read(1_000);
        cluster.use_ids_up(IDS).await;
        assert!(log.read(&stored).await.unwrap().entries.is_empty());
        let empty_up_to = cluster.next_id().await;
        cluster.restart(StopMode::Immediate);
        Self { cluster, log, stored, empty_up_to }
    }
}

#[tokio::test]
async fn what_was_known_to_be_empty_before_a_crash_is_looked_at_again() {
    for _ in 0..CRASHES {
        let Emptied { cluster, log, stored, empty_up_to } = Emptied::new().await;

        // Another relay is there first, and the server comes to the very snapshot behind which nothing was.
        PostgresLog::open(&cluster.url(), Cluster::options()).await.unwrap().read(&stored).await.unwrap();
        let new = cluster.publish().await;
        let next = cluster.next_id().await;
        if next >= empty_up_to {
            continue;
        }
        cluster.use_ids_up(usize::try_from(empty_up_to - next).unwrap()).await;
        assert_eq!(cluster.next_id().await, empty_up_to);

        assert_eq!(positions(&again(|| log.read(&stored)).await.entries), [new]);
        return;
    }
    panic!("ids are not handed out again");
}

/// A relay remembers where a window ends, and after a crash another window has the same numbers.
#[tokio::test]
async fn what_is_remembered_of_a_window_is_void_after_a_crash() {
    for _ in 0..CRASHES {
        let mut cluster = Cluster::start().await;
        let log = cluster.log().await;
        let mut walk = Walk::take(&log, "a").await;
        cluster.publish().await;
        assert_eq!(walk.drain().await, [1]);
        cluster.publish().await;
        // More numbers than the sequence has on the disk.
        let stored = walk.next_read(1_000);
        let mut remembered = Page::default();
        for _ in 0..64 {
            remembered = log.read(&stored).await.unwrap();
        }
        cluster.restart(StopMode::Immediate);
        let new = [cluster.publish().await, cluster.publish().await];

        // Another relay comes to the same number, settles a part of that window, and is gone.
        let other = PostgresLog::open(&cluster.url(), Cluster::options()).await.unwrap();
        let mut walk = Walk::take(&other, "b").await;
        let mut page = walk.read(1).await;
        while page.end.to < remembered.end.to {
            page = walk.read(1).await;
        }
        if page.end.to > remembered.end.to {
            continue;
        }
        assert_eq!(walk.settle(&behind_last(&page)).await, [Appended::Done; LANES as usize]);

        assert_eq!(positions(&page.entries), [2]);
        assert_eq!(Walk::take(&log, "a").await.drain().await, new);
        return;
    }
    panic!("numbers are not given again");
}

#[tokio::test]
async fn a_clean_restart_voids_nothing() {
    let mut cluster = Cluster::start().await;
    let log = cluster.log().await;
    let mut walk = Walk::take(&log, "a").await;
    cluster.publish().await;
    let page = walk.read(1_000).await;

    cluster.restart(StopMode::Fast);
    cluster.publish().await;

    assert_eq!(walk.settle(&page.end).await, [Appended::Done; LANES as usize]);
    assert_eq!(walk.drain().await, [2]);
}

/// A sequence writes with each 32nd number it gives. Commits wait here for a standby that is not there, as they would for a slow disk.
#[tokio::test]
async fn no_read_waits_for_the_disk() {
    let mut cluster = Cluster::start().await;
    let log = cluster.log().await;
    cluster.publish().await;
    log.read(&everything()).await.unwrap();
    cluster.run("alter system set synchronous_standby_names = 'nobody'").await;
    cluster.restart(StopMode::Fast);
    let read = everything();

    for _ in 0..2 * 32 {
        let page = timeout(Duration::from_secs(30), again(|| log.read(&read))).await.expect("it waits");
        assert_eq!(positions(&page.entries), [1]);
    }
    let waits = timeout(Duration::from_millis(200), cluster.publish()).await;
    assert!(waits.is_err(), "a commit does wait");
}

#[tokio::test]
async fn a_crash_of_one_session_is_a_crash_of_all() {
    let cluster = Cluster::start().await;
    let log = cluster.log().await;
    let walk = Walk::take(&log, "a").await;
    cluster.publish().await;
    let read = Read { after: walk.read(1_000).await.end, ..everything() };
    let mut session = cluster.connect().await;
    let pid: i32 = sqlx::query_scalar("select pg_backend_pid()").fetch_one(&mut session).await.unwrap();

    // The server itself goes on, ends all sessions and recovers.
    assert!(Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap().success());

    let deadline = Instant::now() + Duration::from_secs(60);
    while !log.read(&read).await.is_ok_and(|page| page.void) {
        assert!(Instant::now() < deadline, "the server does not come back, or it was no crash");
        // Waits for a condition: the server has recovered.
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
