//! Every operator's command once on PostgreSQL: what SQLite's tests look at closely works there as well.

use serde_json::Value;

use crate::{
    fixture::{Ran, Running, wait_until},
    server::Server,
};

fn run(server: &Server, arguments: &[&str]) -> Ran {
    server.run(&[arguments, &["--database", server.url()]].concat())
}

fn relay(server: &Server) -> Running {
    let arguments = [
        "relay",
        "--database",
        server.url(),
        "--sink",
        "file:mail.jsonl",
        "--subscription",
        "mail",
        "--lease",
        "1s",
    ];
    let mut command = server.command(&arguments);
    let running = Running(
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap(),
    );
    wait_until("it holds all lanes", || {
        server.status()["subscriptions"][0]["lanes_held"].as_u64() == Some(64)
    });
    running
}

#[test]
fn operators_work_on_postgres_from_publishing_to_dropping() {
    let server = Server::migrated();
    run(&server, &["migrate", "status"]).succeeded().says(&["up to date"]);
    let lines: String = (0..1_200)
        .map(|n| {
            format!("{{\"event_type\":\"order.placed\",\"key\":\"k{}\",\"payload\":{{\"n\":{n}}}}}\n", n % 7)
        })
        .collect();
    let ids = server.run_with_input(&["publish", "--database", server.url()], &lines).succeeded().out;
    assert_eq!(ids.lines().count(), 1_200);
    server.sql(
        "insert into outbox (topic, event_type, key, payload)
         select 'orders', 'order.broken', 'b' || i, '{\"n\":' from generate_series(1, 150) as i",
    );
    let relay = relay(&server);
    wait_until("all is settled", || {
        let mail = &server.status()["subscriptions"][0];
        mail["delivered"] == 1_200 && mail["dead"] == 150
    });
    look(&server, ids.lines().next().unwrap());
    decide(&server);
    reset_and_drop(&server);
    drop(relay);
}

fn look(server: &Server, id: &str) {
    let shown = run(server, &["events", "show", id, "--json"]).json();
    assert_eq!(shown["event"]["statuses"][0]["status"], "delivered");
    let all =
        run(server, &["events", "list", "--key", "k3", "--oldest-first", "--all", "--json"]).json_lines();
    assert_eq!(all.len(), (0..1_200).filter(|n| n % 7 == 3).count());
    let dead = run(
        server,
        &["events", "list", "--subscription", "mail", "--status", "dead", "--limit", "7", "--json"],
    );
    assert_eq!(dead.json_lines().len(), 7);
    assert_eq!(run(server, &["lanes", "mail", "--json"]).json_lines().len(), 64);
    assert_eq!(run(server, &["dlq", "groups", "--json"]).json()["count"], 150);
    run(server, &["dlq", "show", "1"]).succeeded().says(&["dead letter 1", "poison_message"]);
    run(server, &["dlq", "show", "151"]).failed(1, &["there is no dead letter 151"]);
    let exported = run(server, &["dlq", "export"]).json_lines();
    assert_eq!(exported.len(), 150);
    run(server, &["subscriptions", "pause", "mial"]).failed(1, &["did you mean mail?"]);
}

fn decide(server: &Server) {
    run(server, &["dlq", "replay", "1", "--by", "ada"]).succeeded().says(&["1 dead letter replayed"]);
    run(server, &["dlq", "replay", "1"]).failed(3, &["resolved already: replayed by ada"]);
    let edited =
        run(server, &["dlq", "edit", "2", "--payload", "{\"fixed\":true}", "--by", "ada", "--json"]).json();
    let id = edited["new_id"].as_str().unwrap().to_owned();
    wait_until("it has arrived", || {
        server.lines("mail.jsonl").iter().any(|event| event["id"] == id.as_str())
    });
    wait_until("the other one has died again", || server.status()["subscriptions"][0]["dead"] == 149);

    let done = run(server, &["dlq", "discard", "--type", "order.broken", "--yes", "--by", "ada"]);
    done.succeeded().says(&["job 1 is done: 149 dead letters discarded"]);
    let job = run(server, &["jobs", "list", "--json"]).json();
    assert_eq!((&job["state"], &job["done"]), (&"done".into(), &149.into()));
    run(server, &["jobs", "cancel", "1"]).failed(3, &["job 1 is over"]);
    let audit = run(server, &["audit", "--json"]).json_lines();
    let what: Vec<&str> = audit.iter().filter_map(|entry| entry["what"].as_str()).collect();
    assert_eq!(what, ["finished", "started", "edited", "replayed"]);
}

fn reset_and_drop(server: &Server) {
    let pause = run(server, &["subscriptions", "pause", "mail"]).succeeded();
    pause.says(&["mail is paused; nobody holds its lanes"]);
    run(server, &["subscriptions", "resume", "mail"]).succeeded();
    let dry =
        run(server, &["subscriptions", "reset", "mail", "--to", "beginning", "--dry-run", "--json"]).json();
    assert_eq!(dry["again"], 1_350);
    run(server, &["subscriptions", "reset", "mail", "--to", "beginning", "--yes"]).succeeded();
    wait_until("all has come again", || server.lines("mail.jsonl").len() >= 2_400);
    run(server, &["subscriptions", "drop", "mail", "--yes"]).succeeded().says(&["mail is dropped"]);
    assert_eq!(server.status()["subscriptions"], Value::Array(Vec::new()));
}
