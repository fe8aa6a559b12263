//! Several relays on one PostgreSQL: they share the lanes, hand them over, and take over from one that died.

use std::time::{Duration, Instant};

use crate::{
    fixture::{Running, assert_ordered, distinct, live_relays, wait_until},
    server::Server,
};

/// A relay with a lease of two seconds that serves these subscriptions, each to a file of its own.
fn start(server: &Server, relay: &str, subscriptions: &[&str]) -> Running {
    let mut text = format!(
        "database: {{ url: '{}' }}\nrelay: {{ lease: 2s, grace: 20s }}\nsubscriptions:\n",
        server.url()
    );
    for name in subscriptions {
        text.push_str(&format!(
            "  - {{ name: {name}, sink: {{ file: {{ path: {name}-{relay}.jsonl }} }} }}\n"
        ));
    }
    let file = format!("{relay}.yaml");
    server.configure(&file, &text);
    server.start_configured(&file)
}

/// What all relays delivered together, for one subscription.
fn delivered(server: &Server, subscription: &str, relays: &[&str]) -> Vec<serde_json::Value> {
    relays.iter().flat_map(|relay| server.lines(&format!("{subscription}-{relay}.jsonl"))).collect()
}

#[test]
#[cfg(unix)]
fn four_relays_share_fairly_and_hand_over_without_a_repeat() {
    const NAMES: [&str; 4] = ["a", "b", "c", "d"];
    let server = Server::migrated();
    let count = || delivered(&server, "orders", &NAMES).len();
    let mut relays = vec![start(&server, "a", &["orders"])];
    wait_until("one holds all", || server.held("orders") == [64]);
    server.publish(1_000, 200);
    relays.extend(NAMES[1..].iter().map(|name| start(&server, name, &["orders"])));
    wait_until("four hold as many each", || server.held("orders") == [16; 4]);
    assert_eq!(server.status()["subscriptions"][0]["lanes_held"], 64);
    server.publish(2_000, 200);
    wait_until("everything has arrived", || count() >= 3_000);
    let shares = NAMES.map(|name| server.lines(&format!("orders-{name}.jsonl")).len());
    assert!(shares.iter().all(|share| *share > 100), "{shares:?}");

    server.publish(2_000, 200);
    let mut last = relays.pop().unwrap();
    last.signal("TERM");
    server.publish(2_000, 200);
    assert_eq!(last.wait(), Some(0), "{}", server.log("d.yaml"));
    wait_until("three hold all, and none more than its share", || {
        let held = server.held("orders");
        held.len() == 3 && held.iter().sum::<i64>() == 64 && held.iter().all(|lanes| *lanes <= 22)
    });
    wait_until("everything has arrived again", || count() >= 7_000);
    let events = delivered(&server, "orders", &NAMES);
    assert_eq!((events.len(), distinct(&events)), (7_000, 7_000));
    NAMES.iter().for_each(|name| assert_ordered(&server.lines(&format!("orders-{name}.jsonl"))));
}

#[test]
#[cfg(unix)]
fn what_a_killed_relay_held_is_taken_over_when_its_lease_ends() {
    let server = Server::migrated();
    let mut relays: Vec<Running> = ["a", "b"].map(|name| start(&server, name, &["orders"])).into();
    wait_until("both hold as many", || server.held("orders") == [32, 32]);
    relays[1].signal("KILL");
    assert_eq!(relays[1].wait(), None);
    let killed = Instant::now();
    server.publish(500, 100);
    wait_until("one holds all", || server.held("orders") == [64]);
    let took = killed.elapsed();

    // Its lease was at most two seconds; the other looks every two thirds of a second, on a machine that may be busy.
    assert!(took < Duration::from_secs(6), "{took:?}");
    let count = || distinct(&delivered(&server, "orders", &["a", "b"]));
    wait_until("everything has arrived", || count() == 500);
    relays.pop();
    relays[0].signal("TERM");
    assert_eq!(relays[0].wait(), Some(0), "{}", server.log("a.yaml"));
    assert_eq!(live_relays(&server.status()), 0);
}

#[test]
#[cfg(unix)]
fn each_subscription_is_shared_among_those_who_serve_it() {
    let server = Server::migrated();
    let _a = start(&server, "a", &["orders", "audit"]);
    let _b = start(&server, "b", &["orders"]);
    wait_until("they share what both serve", || {
        server.held("orders") == [32, 32] && server.held("audit") == [64]
    });
    server.publish(1_000, 200);

    wait_until("everything has arrived", || {
        delivered(&server, "orders", &["a", "b"]).len() == 1_000
            && delivered(&server, "audit", &["a"]).len() == 1_000
    });
    assert!(server.lines("orders-b.jsonl").len() > 200);
}
