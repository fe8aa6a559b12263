//! Bugs that others had with PostgreSQL, tried on a real server. The numbers are those of `docs/pitfalls.md`.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::StreamExt;
use posthaste_core::{
    Act, ActKind, Admin, Buried, Change, Cursor, DeadReason, Event, Inspect, Limit, Log, OperatorAct,
    Payload, Read, RelayId, ResetTo, Retention, Subscription, SystemClock, Upkeep,
};
use posthaste_postgres::{PostgresLog, PostgresOptions};
use posthaste_relay::{RelayBuilder, Settings, Stopped};
use posthaste_services::{pgbouncer_url, postgres_url};
use posthaste_testkit::FlakySink;
use sqlx::postgres::PgListener;
use tokio::time::timeout;

use crate::{
    fixture::{Fixture, LANES, SUB, act, everything, hold, keyed, lease, number, run},
    walk::{Walk, positions},
};

/// Far longer than anything here takes on a slow machine.
const SOON: Duration = Duration::from_secs(120);

const INSERT: &str = "insert into outbox (topic, event_type, key, payload) values ('t', 'e', 'k', '1')";

/// Waits until a query answers with this number.
async fn wait_for_number(fixture: &Fixture, sql: &str, expected: i64) {
    let mut connection = fixture.connect().await;
    let deadline = Instant::now() + SOON;
    loop {
        let found = number(&mut connection, sql).await;
        if found == expected {
            return;
        }
        assert!(Instant::now() < deadline, "{found} instead of {expected}: {sql}");
        // Waits for a condition: the server has done what it was told.
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Everything that may go goes, however young it is.
async fn prune(fixture: &Fixture) {
    let now = Duration::ZERO;
    let retention = Retention { events: now, lines: now, journal: now, dead: now, step: 1_000 };
    fixture.run("update outbox set created_at = '2000-01-01'").await.unwrap();
    fixture.log.prune(&retention).await.unwrap();
}

// pitfalls B3, B4, B5: a NOTIFY makes all commits of the database wait for each other, and fails them when its queue is full. And
// a relay that is woken by its own work never sleeps.
#[tokio::test]
async fn no_transaction_of_an_application_or_a_relay_notifies_anybody() {
    let fixture = Fixture::subscribed().await;
    let channel = format!("posthaste.{}.outbox", fixture.schema.name);
    let mut ears = PgListener::connect(&postgres_url()).await.unwrap();
    ears.listen(&channel).await.unwrap();

    fixture.publish([keyed("a"), keyed("b").aggregate("order", 7).next_version()]).await;
    fixture.run(INSERT).await.unwrap();
    let mut walk = Walk::take(&fixture.log, "r").await;
    assert_eq!(walk.drain().await, [1, 2, 3]);
    prune(&fixture).await;
    fixture.log.leave(&RelayId("r".to_owned())).await.unwrap();

    // What is said last is heard last.
    fixture.run(&format!("notify \"{channel}\", 'last'")).await.unwrap();
    let first = timeout(SOON, ears.recv()).await.unwrap().unwrap();
    assert_eq!(first.payload(), "last", "nothing else was said");
    fixture.log.ring();
    assert_eq!(
        timeout(SOON, ears.recv()).await.unwrap().unwrap().payload(),
        "",
        "only the bell says something"
    );
}

// pitfalls S24, B24: publishers hold a lock that readers, or other publishers, want as well.
#[tokio::test]
async fn a_publisher_that_takes_its_time_stops_neither_relays_nor_other_publishers() {
    let fixture = Fixture::subscribed().await;
    let mut long = fixture.begin().await;
    fixture.publish_in(&mut long, [keyed("a"), keyed("a").aggregate("order", 1).next_version()]).await;
    let advisory = "select count(*) from pg_locks where pid = pg_backend_pid() and locktype = 'advisory'";
    assert_eq!(number(&mut long, advisory).await, 0);

    let others = async {
        let mut walk = Walk::take(&fixture.log, "r").await;
        for _ in 0..3 {
            fixture.publish([keyed("a"), keyed("a").aggregate("order", 2).next_version()]).await;
            assert_eq!(walk.drain().await.len(), 2);
            prune(&fixture).await;
            fixture.hold("r").await;
            fixture.log.status().await.unwrap();
        }
        fixture.log.leave(&RelayId("r".to_owned())).await.unwrap();
        fixture.log.subscribe(&Subscription::new("more")).await.unwrap();
        let to = ResetTo::Now;
        for act in [
            OperatorAct::Pause(SUB.to_owned()),
            OperatorAct::Reset { subscription: SUB.to_owned(), to },
            OperatorAct::Resume(SUB.to_owned()),
            OperatorAct::Pause("more".to_owned()),
            OperatorAct::Drop("more".to_owned()),
        ] {
            fixture.log.act(&act, "ada").await.unwrap();
        }
    };
    timeout(SOON, others).await.expect("nobody waits for it");

    long.commit().await.unwrap();
    assert_eq!(Walk::take(&fixture.log, "r").await.drain().await, [1, 2]);
}

// pitfall S24: the other way round. Pruning and dropping have their locks, and are stopped in the middle.
#[tokio::test]
async fn whoever_stands_still_in_the_middle_of_pruning_or_dropping_stops_no_publisher() {
    let fixture = Fixture::subscribed().await;
    fixture.publish([keyed("a")]).await;
    let mut still = fixture.connect().await;
    let middle = format!(
        "begin; select pg_advisory_xact_lock(hashtextextended('{}.outbox', 7708301));
         delete from outbox where position = 1; lock table outbox_lines in share mode;
         update outbox_subscriptions set paused = paused; update outbox_relays set host = host",
        fixture.schema.name
    );
    run(&mut still, &middle).await.unwrap();

    let publishing = async {
        fixture.publish([keyed("a"), keyed("a").aggregate("order", 1).next_version()]).await;
        fixture.run(INSERT).await.unwrap();
    };
    timeout(SOON, publishing).await.expect("a publisher waits for no relay");

    run(&mut still, "rollback").await.unwrap();
    assert_eq!(fixture.page().await.entries.len(), 4);
}

// pitfall D4: no connection is left for the heartbeat.
#[tokio::test]
async fn an_application_that_takes_the_whole_pool_leaves_the_relay_its_connections() {
    let fixture = Fixture::subscribed().await;
    let pool = fixture.log.pool();
    let mut taken = Vec::new();
    for _ in 0..pool.options().get_max_connections() {
        taken.push(pool.acquire().await.unwrap());
    }
    assert!(pool.try_acquire().is_none());
    let insert = INSERT.replace("outbox", &format!("\"{}\".outbox", fixture.schema.name));
    run(&mut taken[0], &insert).await.unwrap();

    let relaying = async { Walk::take(&fixture.log, "r").await.drain().await };
    assert_eq!(timeout(SOON, relaying).await.expect("the relay has its own"), [1]);
}

// pitfalls S3, B22: rows stay locked, or a transaction stays open, while something is delivered.
#[tokio::test]
async fn between_reading_and_settling_nothing_is_locked() {
    let fixture = Fixture::subscribed().await;
    let locks = format!(
        "select count(*) from pg_locks l join pg_class c on c.oid = l.relation join pg_namespace n on n.oid = c.relnamespace
         where n.nspname = '{}' and l.pid <> pg_backend_pid()",
        fixture.schema.name
    );
    let pooled = PostgresOptions { pooler: true, ..fixture.options() };
    let pooled = PostgresLog::open(&pgbouncer_url(), pooled).await.unwrap();
    for log in [&fixture.log, &pooled] {
        let sent = fixture.publish([keyed("a")]).await[0].spot.unwrap().position;
        let mut walk = Walk::take(log, "r").await;
        let page = walk.read(1_000).await;
        assert_eq!(positions(&page.entries), [sent.0]);

        // The server is done a moment after it has answered.
        wait_for_number(&fixture, &locks, 0).await;
        walk.settle(&page.end).await;
        hold(log, "r").await;
        wait_for_number(&fixture, &locks, 0).await;
    }
}

// pitfalls B1, B8: rows that change with the load leave dead versions behind, which a snapshot that somebody holds keeps there.
#[tokio::test]
async fn while_all_is_well_a_relay_updates_and_deletes_no_row() {
    let fixture = Fixture::subscribed().await;
    fixture
        .run("create function no() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$")
        .await
        .unwrap();
    for table in ["", "_lines", "_snapshots", "_subscriptions", "_parked", "_dead", "_journal"] {
        let trap = format!(
            "create trigger no before update or delete on outbox{table} for each row execute function no()"
        );
        fixture.run(&trap).await.unwrap();
    }
    let sink = FlakySink::new(Arc::new(SystemClock));
    let options = PostgresOptions { clock: None, ..fixture.options() };
    let log = PostgresLog::open(&postgres_url(), options).await.unwrap();
    let settings = Settings { poll_max: Duration::from_millis(20), ..Settings::default() };
    let builder = RelayBuilder::new(Arc::new(log)).settings(settings);
    let relay = builder.subscribe(Subscription::new(SUB), Arc::new(sink.clone())).start().await.unwrap();

    for batch in 1..=10 {
        fixture.publish((0..50).map(|n| keyed(&format!("key-{}", n % 7)))).await;
        timeout(SOON, sink.wait_for(batch * 50)).await.expect("all of them come");
    }

    assert_eq!(relay.stop().await, Stopped::Cleanly);
    let status = fixture.log.status().await.unwrap();
    assert_eq!((status.subscriptions[0].delivered, status.subscriptions[0].pending), (500, 0));
    assert!(fixture.run("update outbox set topic = 'x'").await.is_err(), "it would have been noticed");
}

// pitfalls S10, S11, B27: who listens does not notice that nobody speaks any more, or leaves a connection behind each time.
#[tokio::test]
async fn a_listener_whose_connection_breaks_listens_again_and_leaves_none_behind() {
    let fixture = Fixture::new().await;
    let role = format!("{}_ears", fixture.schema.name);
    fixture.run(&format!("create role {role} login superuser password 'x'")).await.unwrap();
    let server = postgres_url();
    let url = format!("postgres://{role}:x@{}", server.rsplit_once('@').unwrap().1);
    let log = PostgresLog::open(&url, fixture.options()).await.unwrap();
    let mut bell = log.doorbell();
    assert_eq!(timeout(SOON, bell.next()).await, Ok(Some(())), "the first connection rings");
    let connections = format!("select count(*) from pg_stat_activity where usename = '{role}'");

    for _ in 0..10 {
        // The one that was killed last may need a moment to go.
        wait_for_number(&fixture, &connections, 1).await;
        let killed = connections.replace("count(*)", "count(pg_terminate_backend(pid))");
        assert_eq!(fixture.number(&killed).await, 1);
        assert_eq!(timeout(SOON, bell.next()).await, Ok(Some(())), "what was rung meanwhile is not lost");
    }

    wait_for_number(&fixture, &connections, 1).await;
    fixture.log.ring();
    assert_eq!(timeout(SOON, bell.next()).await, Ok(Some(())));
}

// pitfall S33: each session has a time zone of its own.
#[tokio::test]
async fn due_times_and_leases_are_the_same_in_every_time_zone() {
    let fixture = Fixture::subscribed().await;
    let mut writer = fixture.connect().await;
    let insert = "set time zone 'America/St_Johns'; insert into outbox (topic, event_type, payload, deliver_after) values
        ('t', 'e', '1', now() - interval '1 min'), ('t', 'e', '2', now() + interval '1 hour'),
        ('t', 'e', '3', localtimestamp - interval '1 min'), ('t', 'e', '4', localtimestamp + interval '1 hour')";
    run(&mut writer, insert).await.unwrap();

    let options = PostgresOptions { clock: None, ..fixture.options() };
    for zone in ["Asia/Kathmandu", "America/Los_Angeles", "UTC"] {
        let url = format!("{}?options[TimeZone]={zone}", postgres_url());
        let log = PostgresLog::open(&url, options.clone()).await.unwrap();
        let entries = log.read(&everything()).await.unwrap().entries;
        let delayed: Vec<bool> = entries.iter().map(|entry| entry.delayed).collect();
        assert_eq!(delayed, [false, true, false, true], "{zone}");
        hold(&log, zone).await;
    }

    let log = PostgresLog::open(&postgres_url(), options).await.unwrap();
    assert_eq!(hold(&log, "here").await.subscriptions[0].relays, 4, "all leases are running");
}

// pitfall L16: where the reader stood is not known any more, and it begins now.
#[tokio::test]
async fn a_lane_whose_snapshot_is_gone_is_an_error_and_no_new_beginning() {
    let fixture = Fixture::subscribed().await;
    fixture.publish([keyed("a")]).await;
    assert_eq!(Walk::take(&fixture.log, "r").await.drain().await, [1]);

    fixture.run("delete from outbox_snapshots where number > 0").await.unwrap();

    let error = fixture.log.hold(&lease("heir")).await.unwrap_err();
    assert_eq!(error.kind(), posthaste_core::ErrorKind::Schema);
    assert!(error.to_string().contains("snapshot that is gone"), "{error}");
}

// pitfalls B12, B28: large payloads make the memory grow or the reader slow.
#[tokio::test]
async fn payloads_of_a_megabyte_come_whole_and_a_few_at_a_time() {
    const BYTES: usize = 3_500_000;
    let fixture = Fixture::subscribed().await;
    let fill = "insert into outbox (topic, event_type, key, payload)
        select 't', 'e', 'k' || i, to_json(repeat('x', 1000000)) from generate_series(1, 10) i";
    fixture.run(fill).await.unwrap();

    let (mut pages, mut seen, mut after) = (0, Vec::new(), Cursor::default());
    while seen.len() < 10 {
        let limit = Limit { entries: 1_000, bytes: BYTES };
        let page = fixture.log.read(&Read { after, limit, ..everything() }).await.unwrap();
        let sizes = page.entries.iter().map(|entry| entry.event.payload.as_bytes().len());
        assert!(sizes.clone().all(|size| size == 1_000_002) && sizes.sum::<usize>() < BYTES);
        seen.extend(positions(&page.entries));
        after = page.end;
        pages += 1;
        assert!(pages <= 10, "they do not come");
    }

    assert_eq!(seen, (1..=10).collect::<Vec<i64>>());
}

// pitfall X6: the database tells the whole row that it does not like, payload and all.
#[tokio::test]
async fn what_the_database_refuses_is_told_without_its_payload() {
    let fixture = Fixture::subscribed().await;
    let secret = || Event::of("e").key("k").payload(Payload::Json("\"hunter2\"".to_owned()));
    let sent = fixture.publish([secret()]).await;
    let page = fixture.page().await;
    let entry = &page.entries[0];
    fixture
        .run(
            "alter table outbox_dead add constraint picky check (false);
             alter table outbox add constraint picky check (topic <> 'bad')",
        )
        .await
        .unwrap();
    let buried = Buried {
        position: entry.position,
        event: entry.event.clone(),
        attempts: 1,
        reason: DeadReason::PermanentFailure,
        error: "refused".to_owned(),
        holds: false,
        took: Duration::ZERO,
    };
    let changes = vec![Change::Bury(Box::new(buried))];
    let dead = Act { changes, ..act(sent[0].spot.unwrap().lane.0, 2, ActKind::Settled, page.end.clone()) };

    let burying = fixture.log.append(SUB, &RelayId("r".to_owned()), &[dead]).await.unwrap_err();
    let mut tx = fixture.begin().await;
    let event = fixture.build(secret().topic("bad"));
    let publishing = posthaste_postgres::publish(&mut *tx, fixture.log.place(), &[event]).await.unwrap_err();

    for error in [burying, publishing] {
        assert!(error.chain().contains("picky") && !error.chain().contains("hunter2"), "{}", error.chain());
    }
}

// pitfall C6: little data under a large index of what is gone.
#[cfg(unix)]
#[tokio::test]
async fn what_was_pruned_makes_room_for_what_comes() {
    let cluster = crate::cluster::Cluster::start().await;
    // Nothing is to survive here, and the disk is slow. Nobody else is to look at the tables while they are vacuumed.
    cluster.run("alter system set fsync = off").await;
    cluster.run("alter system set autovacuum = off").await;
    cluster.run("select pg_reload_conf()").await;
    let log = cluster.log().await;
    let mut walk = Walk::take(&log, "r").await;
    let now = Duration::ZERO;
    let retention = Retention { events: now, lines: now, journal: now, dead: now, step: 10_000 };
    let fill = "insert into outbox (topic, event_type, key, payload)
        select 't', 'e', 'k' || i, '1' from generate_series(1, 3000) i";
    let size = "select sum(pg_total_relation_size(oid))::bigint from pg_class
        where relkind = 'r' and relname like 'outbox%'";

    let mut sizes = Vec::new();
    for _ in 0..8 {
        cluster.run(fill).await;
        assert_eq!(walk.drain().await.len(), 3_000);
        assert_eq!(log.prune(&retention).await.unwrap().events, 3_000);
        // What autovacuum does by itself, some time.
        cluster.run("vacuum outbox, outbox_lines, outbox_snapshots").await;
        sizes.push(cluster.number(size).await);
    }

    assert!(sizes[7] * 10 <= sizes[3] * 11, "it grows and grows: {sizes:?}");
    assert_eq!(walk.cursor().after.0, 8 * 3_000, "{LANES} lanes");
}
