//! `posthaste relay --config` with a server beside it.

use std::{
    io::{Read, Write},
    net::TcpStream,
};

use serde_json::Value;

use crate::fixture::{Fixture, wait_until};

/// The SHA-256 of `a`.
const HASH: &str = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb";

fn file(server: &str) -> String {
    format!(
        "database: {{ url: sqlite://shop.db }}
metrics: {{ prefix: shop }}
relay: {{ lease: 1s, grace: 5s, move_interval: 100ms }}
subscriptions:
  - name: archive
    sink: {{ file: {{ path: archive.jsonl }} }}
server: {server}
"
    )
}

/// The status and the body of an answer.
pub(crate) fn ask(address: &str, path: &str, token: Option<&str>) -> (u16, String) {
    let token = token.map_or(String::new(), |token| format!("authorization: Bearer {token}\r\n"));
    talk(address, &format!("GET {path} HTTP/1.1\r\n{token}"), "")
}

/// The same of something that is sent.
pub(crate) fn send(address: &str, method: &str, path: &str, body: &str) -> (u16, String) {
    let length = body.len();
    let head =
        format!("{method} {path} HTTP/1.1\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n");
    talk(address, &head, body)
}

fn talk(address: &str, head: &str, body: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "{head}host: {address}\r\nconnection: close\r\n\r\n{body}").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}

/// Where it says that it listens, in text or in JSON.
pub(crate) fn address(log: &str) -> Option<String> {
    if let Some((_, rest)) = log.split_once("serving the API address=") {
        return rest.split_whitespace().next().map(str::to_owned);
    }
    let line = log.lines().find(|line| line.contains("\"serving the API\""))?;
    let line: Value = serde_json::from_str(line).ok()?;
    line["address"].as_str().map(str::to_owned)
}

#[test]
#[cfg(unix)]
fn a_relay_serves_the_api_metrics_and_health_until_it_stops() {
    let fixture = Fixture::migrated();
    let server =
        format!("{{ listen: '127.0.0.1:0', tokens: [{{ name: ada, role: operator, sha256: {HASH} }}] }}");
    fixture.configure("relay.yaml", &file(&server));
    let mut relay = fixture.start_configured("relay.yaml");
    wait_until("it serves", || address(&fixture.log("relay.yaml")).is_some());
    let address = address(&fixture.log("relay.yaml")).unwrap();
    fixture.publish(20, 3);

    wait_until("it is ready", || ask(&address, "/health/ready", None).0 == 200);
    wait_until("all is counted", || {
        let (_, text) = ask(&address, "/metrics", Some("a"));
        text.contains("shop_events_delivered_total{subscription=\"archive\"} 20")
    });
    assert_eq!(ask(&address, "/api/v1/status", None).0, 401);
    let (status, body) = ask(&address, "/api/v1/status", Some("a"));
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((status, &body["events"]), (200, &20.into()));
    let (_, shown) = ask(&address, "/api/v1/config", Some("a"));
    assert!(shown.contains("archive.jsonl") && shown.contains("lease: 1s"), "{shown}");
    wait_until("every check is fine", || {
        let (status, body) = ask(&address, "/health", Some("a"));
        status == 200 && !body.contains("\"failing\"") && body.contains("\"name\":\"lease\"")
    });

    relay.signal("TERM");
    assert_eq!(relay.wait(), Some(0));
    assert!(TcpStream::connect(&address).is_err(), "nobody listens any more");
}

#[test]
fn what_others_could_reach_is_refused_before_anything_starts() {
    let fixture = Fixture::migrated();
    fixture.configure("relay.yaml", &file("{ listen: '0.0.0.0:0' }"));
    fixture
        .run(&["relay", "--config", "relay.yaml", "--once"])
        .failed(2, &["add a token, or listen on 127.0.0.1"]);
    fixture.run(&["config", "check", "relay.yaml"]).failed(2, &["where others can reach it"]);
}

#[test]
fn an_address_that_is_taken_ends_it() {
    let fixture = Fixture::migrated();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = taken.local_addr().unwrap();
    fixture.configure("relay.yaml", &file(&format!("{{ listen: '{listen}', open: true }}")));
    fixture.run(&["relay", "--config", "relay.yaml", "--once"]).failed(3, &["cannot listen on"]);
    assert_eq!(fixture.status()["relays"], serde_json::json!([]), "its lanes are free");
}
