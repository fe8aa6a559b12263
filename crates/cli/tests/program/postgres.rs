//! The program on PostgreSQL: migrating, delivering, and a server that is away or refuses.

use crate::{
    fixture::{assert_ordered, distinct, wait_until},
    proxy::Proxy,
    server::Server,
};

/// A relay with one subscription to a file.
fn to_a_file(url: &str) -> String {
    format!(
        "database: {{ url: '{url}' }}
relay: {{ lease: 2s, move_interval: 100ms }}
subscriptions:
  - name: orders
    sink: {{ file: {{ path: events.jsonl }} }}
"
    )
}

fn relay(server: &Server, url: &str) -> crate::fixture::Ran {
    server.configure("relay.yaml", &to_a_file(url));
    server.run(&["relay", "--config", "relay.yaml", "--once"])
}

#[test]
fn migrates_once_and_prints_what_it_would_do() {
    let server = Server::empty();
    let url = server.url();
    let first = server.run(&[
        "migrate",
        "--database",
        url,
        "--schema",
        "sales",
        "--prefix",
        "billing",
        "--lanes",
        "16",
    ]);
    first.succeeded().says(&[
        "before  there are no tables with the prefix \"billing\" in the schema \"sales\"",
        "16 lanes",
        "--schema sales --prefix billing",
    ]);
    let status = ["status", "--database", url, "--schema", "sales", "--prefix", "billing"];
    server.run(&status).succeeded().says(&["16 lanes", "insert into sales.billing (topic"]);
    server
        .run(&["migrate", "--database", url, "--schema", "sales", "--prefix", "billing"])
        .succeeded()
        .says(&["nothing to do"]);

    let printed = server.run(&[
        "migrate",
        "--database",
        "postgres://nobody@nowhere/x",
        "--prefix",
        "printed",
        "--print",
    ]);
    server.sql(&printed.succeeded().out);
    server
        .run(&["status", "--database", url, "--prefix", "printed"])
        .succeeded()
        .says(&["64 lanes", "0 events"]);
}

#[test]
fn delivers_to_a_file_in_order_and_goes_on_where_it_was() {
    let server = Server::migrated();
    server.publish(500, 20);
    relay(&server, server.url()).succeeded();
    server.publish(100, 20);
    let second = relay(&server, server.url()).succeeded();

    let events = server.lines("events.jsonl");
    assert_eq!((events.len(), distinct(&events)), (600, 600));
    assert_ordered(&events);
    assert!(second.err.contains("served subscription=\"orders\" delivered=100 pending=0"), "{}", second.err);
    server.run(&["status", "--database", server.url()]).succeeded().says(&["600 events", "orders"]);
}

#[test]
fn one_subscription_needs_no_file() {
    let server = Server::migrated();
    server.publish(5, 1);

    let ran = server.run(&["relay", "--database", server.url(), "--sink", "stdout", "--once"]).succeeded();
    assert_eq!(ran.out.lines().count(), 5);
}

#[test]
fn what_does_not_go_away_by_waiting_exits_with_3_and_shows_no_password() {
    let server = Server::migrated();
    let role = server.url().rsplit('/').next().unwrap().replace("posthaste", "role");
    server.sql(&format!("create role {role} login password 'hunter2'"));
    let as_role = server.url_with(|url| {
        url.set_username(&role).unwrap();
        url.set_password(Some("hunter2")).unwrap();
    });
    let cases = [
        (
            server.url_with(|url| url.set_password(Some("hunter2")).unwrap()),
            "the database refuses this user; check user, password",
        ),
        (server.url_with(|url| url.set_path("no_such_database")), "there is no such database"),
        (
            server.url_with(|url| url.set_query(Some("sslmode=require"))),
            "no secure connection; check sslmode",
        ),
        (as_role, "a right is missing"),
    ];
    for (url, text) in &cases {
        let ran = relay(&server, url).failed(3, &[text]);
        assert!(!ran.err.contains("hunter2") && !ran.err.contains("trying again"), "{}", ran.err);
    }
    server.sql(&format!("drop owned by {role}; drop role {role}"));
}

#[test]
fn missing_tables_are_not_waited_for_and_are_created_only_if_asked_for() {
    let server = Server::empty();
    let text = ["there are no tables with the prefix \"outbox\" on the search path", "posthaste migrate"];
    relay(&server, server.url()).failed(3, &text);
    server.run(&["status", "--config", "relay.yaml"]).failed(1, &text);

    server.configure("relay.yaml", &to_a_file(server.url()).replacen("url:", "migrate: true, url:", 1));
    server.run(&["relay", "--config", "relay.yaml", "--once"]).succeeded();
    server.run(&["status", "--config", "relay.yaml"]).succeeded().says(&["orders"]);
}

#[test]
fn tables_of_another_cluster_are_adopted_when_asked_for() {
    let server = Server::migrated();
    server.publish(10, 2);
    relay(&server, server.url()).succeeded();
    let adopt = ["migrate", "--database", server.url(), "--adopt"];
    server.run(&adopt).succeeded().says(&["nothing to do"]);
    // As after a restore: the tables come from a cluster with another identifier.
    server.sql("update outbox_meta set value = '42' where name = 'system_identifier'");
    relay(&server, server.url()).failed(3, &["cluster", "posthaste migrate --adopt"]);
    server.run(&adopt).succeeded().says(&["64 lanes begin anew"]);
    server.publish(10, 2);
    relay(&server, server.url()).succeeded();

    assert_eq!(distinct(&server.lines("events.jsonl")), 20);
}

#[test]
fn a_wrong_number_of_lanes_says_so() {
    let server = Server::migrated();
    server.configure("relay.yaml", &to_a_file(server.url()).replacen("url:", "lanes: 16, url:", 1));

    let ran = server.run(&["relay", "--config", "relay.yaml", "--once"]);
    ran.failed(3, &["created with 64 lanes, and 16 are configured", "cannot change"]);
}

#[test]
#[cfg(unix)]
fn a_database_that_is_away_is_waited_for_at_the_start_and_later() {
    let server = Server::migrated();
    server.publish(100, 10);
    let mut door = Proxy::shut(server.address());
    let url = server.url_with(|url| url.set_port(Some(door.address().port())).unwrap());
    server.configure("relay.yaml", &to_a_file(&url));
    let mut relay = server.start_configured("relay.yaml");
    let log = || server.log("relay.yaml");
    wait_until("it has tried twice", || {
        log().matches("the database cannot be reached; trying again").count() >= 2
    });
    assert!(log().contains("check host, port and network") && !log().contains("relay started"), "{}", log());

    door.open();
    wait_until("it delivers", || server.lines("events.jsonl").len() == 100);
    assert!(log().contains("the database is there"), "{}", log());
    door.close();
    server.publish(100, 10);
    wait_until("it misses the database", || {
        log().matches(" WARN ").count() + log().matches(" ERROR ").count() > 3
    });
    door.open();
    wait_until("it goes on", || distinct(&server.lines("events.jsonl")) == 200);
    relay.signal("TERM");

    assert_eq!(relay.wait(), Some(0), "{}", log());
    assert_ordered(&server.lines("events.jsonl"));
}

#[test]
#[cfg(unix)]
fn waiting_for_a_database_can_be_ended() {
    let server = Server::empty();
    let door = Proxy::shut(server.address());
    let url = server.url_with(|url| url.set_port(Some(door.address().port())).unwrap());
    server.configure("relay.yaml", &to_a_file(&url));
    let mut relay = server.start_configured("relay.yaml");
    wait_until("it waits", || server.log("relay.yaml").contains("trying again"));
    relay.signal("TERM");

    assert_eq!(relay.wait(), Some(0));
    assert!(server.log("relay.yaml").contains("stopped before it began"), "{}", server.log("relay.yaml"));
}

#[test]
fn a_pooler_may_stand_in_front_of_it() {
    let server = Server::migrated();
    server.publish(50, 5);
    let pooler: url::Url = posthaste_services::pgbouncer_url().parse().unwrap();
    let url = server.url_with(|url| url.set_port(pooler.port()).unwrap());
    server.configure("relay.yaml", &to_a_file(&url).replacen("url:", "pooler: true, url:", 1));
    server.run(&["relay", "--config", "relay.yaml", "--once"]).succeeded();

    assert_eq!(server.lines("events.jsonl").len(), 50);
}
