//! Tables in another database cluster than the one that made them: refused until they are adopted, and then nothing is lost.

use std::process::Command;

use posthaste_core::{
    Act, ActKind, Change, DeadFilter, Due, Entry, ErrorKind, EventFilter, Inspect, Log, Parked, RelayId,
    StatusWord,
};
use posthaste_postgres::{PostgresLog, adopt};

use crate::{
    cluster::Cluster,
    fixture::{SUB, hold, run},
    walk::{Walk, behind_last, positions},
};

/// Copies everything, as an operator would.
fn dump_and_restore(from: &Cluster, to: &Cluster) {
    let program = |name: &str| Command::new(from.installation.bin.join(name));
    let dump = program("pg_dump").arg(from.url()).output().unwrap();
    assert!(dump.status.success(), "{}", String::from_utf8_lossy(&dump.stderr));
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), dump.stdout).unwrap();
    let restored =
        program("psql").args(["-qXv", "ON_ERROR_STOP=1", "-f"]).arg(file.path()).arg(to.url()).output();
    let restored = restored.unwrap();
    assert!(restored.status.success(), "{}", String::from_utf8_lossy(&restored.stderr));
}

/// A copy of a log, and what of it was not settled: late ones, half of a window, one that is parked. The transaction ids of the
/// first cluster are far ahead of those of the second.
async fn copied() -> (Cluster, Vec<i64>) {
    let first = Cluster::start().await;
    first.use_ids_up(500).await;
    let log = first.log().await;
    let mut walk = Walk::take(&log, "a").await;
    let mut late = [first.connect().await, first.connect().await];
    for writer in &mut late {
        let insert =
            "begin; insert into outbox (topic, event_type, key, payload) values ('t', 'e', 'k', '1')";
        run(writer, insert).await.unwrap();
    }
    for _ in 0..5 {
        first.publish().await;
    }
    assert_eq!(walk.drain().await, [3, 4, 5, 6, 7]);
    run(&mut late[0], "commit").await.unwrap();
    for _ in 0..5 {
        first.publish().await;
    }
    let page = walk.read(3).await;
    assert_eq!(positions(&page.entries), [1, 8, 9]);
    walk.settle(&behind_last(&page)).await;
    park(&log, &page.entries[2]).await;
    run(&mut late[1], "commit").await.unwrap();
    first.run("update outbox_relays set held_until = now() - interval '1 s'").await;

    let second = Cluster::start().await;
    dump_and_restore(&first, &second);
    assert!(second.next_id().await < first.next_id().await);
    (second, vec![2, 9, 10, 11, 12])
}

/// Parks an entry whose lane is settled up to it.
async fn park(log: &PostgresLog, entry: &Entry) {
    let census = hold(log, "a").await;
    let line = census.subscriptions[0].lanes.iter().find(|line| line.lane == entry.lane).unwrap();
    let parked = Parked {
        position: entry.position,
        event: entry.event.clone(),
        attempts: 1,
        due: Due::In(std::time::Duration::ZERO),
        error: Some("refused".to_owned()),
        took: std::time::Duration::ZERO,
    };
    let settled = Act {
        lane: entry.lane,
        n: line.n + 1,
        kind: ActKind::Settled,
        cursor: line.cursor.clone(),
        delivered: 0,
        changes: vec![Change::Park(Box::new(parked))],
    };
    log.append(SUB, &RelayId("a".to_owned()), &[settled]).await.unwrap();
}

#[tokio::test]
async fn a_copy_is_refused_until_it_is_adopted_and_then_nothing_is_lost() {
    let (copy, unsettled) = copied().await;
    let error = PostgresLog::open(&copy.url(), Cluster::options()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Schema);
    assert!(error.to_string().contains("restored") && error.to_string().contains("--adopt"), "{error}");
    let published_here = copy.publish().await;

    assert_eq!(adopt(&copy.url(), Cluster::options()).await.unwrap(), 8);
    assert_eq!(adopt(&copy.url(), Cluster::options()).await.unwrap(), 0, "once is enough");

    let log = PostgresLog::open(&copy.url(), Cluster::options()).await.unwrap();
    let pending = log.status().await.unwrap().subscriptions[0].pending;
    let mut walk = Walk::take(&log, "b").await;
    let page = walk.read(1_000).await;
    let parked: Vec<i64> = page.parked.iter().map(|entry| entry.position.0).collect();
    let came = walk.drain().await;
    for position in unsettled.iter().chain([&published_here]) {
        assert!(came.contains(position) || parked.contains(position), "{position} in {came:?}, {parked:?}");
    }
    assert!(
        came.is_sorted() && !came.contains(&1),
        "what was done before the first gap stays done: {came:?}"
    );
    assert_eq!(usize::try_from(pending).unwrap(), came.len(), "the status knows what comes");

    let new = copy.publish().await;
    assert_eq!(walk.drain().await, [new]);
    let word = |word| EventFilter {
        subscription: Some(SUB.to_owned()),
        status: Some(word),
        ..EventFilter::default()
    };
    let delivered = log.list(&word(StatusWord::Delivered)).await.unwrap().items.len();
    assert_eq!(delivered, 14 - parked.len(), "nothing is called skipped because of the move");
}

#[tokio::test]
async fn a_copy_is_not_adopted_while_a_relay_seems_to_live() {
    let (copy, _) = copied().await;
    copy.run("update outbox_relays set held_until = now() + interval '10 s'").await;

    let error = adopt(&copy.url(), Cluster::options()).await.unwrap_err();

    assert_eq!(error.kind(), ErrorKind::Refused);
    assert!(error.to_string().contains(": a;"), "it says which: {error}");
    assert_eq!(copy.number("select count(*) from outbox_lines where kind = 'reset' and n > 1").await, 0);
    let unchanged = PostgresLog::open(&copy.url(), Cluster::options()).await.unwrap_err();
    assert_eq!(unchanged.kind(), ErrorKind::Schema);
}

#[tokio::test]
async fn an_upgrade_that_keeps_transaction_ids_changes_no_event() {
    let cluster = Cluster::start().await;
    let log = cluster.log().await;
    for _ in 0..3 {
        cluster.publish().await;
    }
    assert_eq!(Walk::take(&log, "a").await.drain().await, [1, 2, 3]);
    cluster.publish().await;
    let rows = "select sum(xid::text::bigint)::bigint from outbox";
    let before = cluster.number(rows).await;
    cluster
        .run(
            "update outbox_meta set value = '7' where name = 'system_identifier';
             update outbox_relays set held_until = now() - interval '1 s'",
        )
        .await;

    assert_eq!(adopt(&cluster.url(), Cluster::options()).await.unwrap(), 8);

    assert_eq!(cluster.number(rows).await, before);
    let log = PostgresLog::open(&cluster.url(), Cluster::options()).await.unwrap();
    assert_eq!(Walk::take(&log, "b").await.drain().await, [4]);
    assert!(log.dead(&DeadFilter::default()).await.unwrap().items.is_empty());
}
