//! Jobs: many dead letters at once, carried out by a relay while the command watches.

use serde_json::Value;

use crate::fixture::{Fixture, Running, wait_until};

fn relay(fixture: &Fixture) -> Running {
    let mut relay = fixture.start_relay(&["--sink", "file:mail.jsonl", "--subscription", "mail"]);
    drop(relay.read_aside());
    wait_until("the relay is there", || fixture.status()["relays"].as_array().unwrap().len() == 1);
    relay
}

fn job(fixture: &Fixture, id: &str) -> Value {
    fixture.on_shop(&["jobs", "show", id, "--json"]).json()
}

#[test]
fn a_filter_is_a_job_that_is_watched_until_it_is_done() {
    let fixture = Fixture::migrated();
    fixture.bury(120);
    let _relay = relay(&fixture);

    let dry = fixture.on_shop(&["dlq", "discard", "--subscription", "mail", "--dry-run", "--json"]).json();
    assert_eq!((&dry["concerned"], &dry["job_id"]), (&120.into(), &Value::Null));
    let done = fixture.on_shop(&["dlq", "discard", "--subscription", "mail", "--yes", "--by", "ada"]);
    done.succeeded().says(&["job 1 is done: 120 dead letters discarded"]);
    assert_eq!(fixture.status()["subscriptions"][0]["dead"], 0);

    let job = job(&fixture, "1");
    assert_eq!(
        (&job["state"], &job["done"], &job["requested_by"]),
        (&"done".into(), &120.into(), &"ada".into())
    );
    fixture.on_shop(&["jobs", "list"]).succeeded().says(&["discard", "done", "120", "subscription mail"]);
    fixture.on_shop(&["jobs", "show", "1"]).succeeded().says(&[
        "job 1",
        "discard: subscription mail",
        "120 of 120",
    ]);
    let watched = fixture.on_shop(&["jobs", "watch", "1", "--json"]).json_lines();
    assert_eq!(watched.last().unwrap()["state"], "done");
    fixture.on_shop(&["jobs", "cancel", "1"]).failed(3, &["job 1 is over: it is done"]);
}

#[test]
fn a_slow_job_is_left_alone_watched_and_cancelled() {
    let fixture = Fixture::migrated();
    fixture.bury(30);
    let _relay = relay(&fixture);

    let started = fixture.on_shop(&["dlq", "discard", "--all", "--rate", "1", "--detach", "--json"]).json();
    assert_eq!((&started["job_id"], &started["concerned"]), (&1.into(), &30.into()));
    wait_until("it has begun", || job(&fixture, "1")["done"].as_u64().unwrap() > 0);
    fixture.on_shop(&["jobs", "cancel", "1", "--by", "ada"]).succeeded().says(&["job 1 is cancelled"]);
    let ended = fixture.on_shop(&["jobs", "watch", "1"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    ended.says(&["job 1 is cancelled after"]);
}

#[test]
#[cfg(unix)]
fn interrupting_the_watch_leaves_the_job() {
    let fixture = Fixture::migrated();
    fixture.bury(30);
    let _relay = relay(&fixture);
    let arguments = ["dlq", "discard", "--all", "--rate", "1", "--json", "--database", "sqlite://shop.db"];
    let mut command = fixture.command(&arguments);
    let mut watching = Running(command.stdout(std::process::Stdio::piped()).spawn().unwrap());
    wait_until("it has begun", || fixture.number("select coalesce(max(done), 0) from outbox_jobs") > 0);

    watching.signal("INT");
    assert_eq!(watching.wait(), Some(0));
    assert_eq!(job(&fixture, "1")["state"], "running");
}

#[test]
fn without_a_relay_nobody_waits_for_ever() {
    let fixture = Fixture::migrated();
    fixture.bury(2);
    let ran = fixture.on_shop(&["dlq", "replay", "--all"]).succeeded();
    assert!(ran.err.contains("No relay is running") && ran.err.contains("posthaste relay"), "{ran:?}");
    ran.says(&["job 1 is started for 2 dead letters", "posthaste jobs watch 1", "posthaste jobs cancel 1"]);
    assert_eq!(job(&fixture, "1")["state"], "waiting");
}

#[test]
fn a_job_is_shown_and_watched_however_many_there_were_since() {
    let fixture = Fixture::migrated();
    fixture.bury(1);
    fixture.on_shop(&["dlq", "replay", "--all", "--rate", "7", "--detach"]).succeeded();
    fixture.on_shop(&["jobs", "cancel", "1"]).succeeded();
    let many = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 60)
        insert into outbox_jobs (what, selection, requested_by, requested_at, state, concerned, last_dead_id, next_at, finished_at)
        select what, selection, requested_by, requested_at, state, concerned, last_dead_id, next_at, finished_at
        from n, outbox_jobs where job_id = 1";
    fixture.sql(many).unwrap();

    let listed = fixture.on_shop(&["jobs", "list", "--json"]).json_lines();
    assert!(listed.len() == 50 && listed.iter().all(|job| job["job_id"] != 1), "{listed:?}");
    assert_eq!(
        (&job(&fixture, "1")["state"], &job(&fixture, "1")["per_second"]),
        (&"cancelled".into(), &7.into())
    );
    let watched = fixture.on_shop(&["jobs", "watch", "1"]);
    assert_eq!(watched.code, Some(1), "{watched:?}");
    watched.says(&["job 1 is cancelled after 0 of 1 dead letter"]);
}

#[test]
fn jobs_that_are_not_there_are_told() {
    let fixture = Fixture::migrated();
    for what in ["show", "watch"] {
        fixture
            .on_shop(&["jobs", what, "7"])
            .failed(1, &["there is no job 7; one that was over is removed", "posthaste jobs list"]);
    }
    fixture.on_shop(&["jobs", "cancel", "7"]).failed(1, &["7"]);
    fixture.on_shop(&["jobs", "show", "x"]).failed(2, &["invalid value 'x'"]);
}
