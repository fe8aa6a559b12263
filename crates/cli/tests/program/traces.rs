//! Traces of the real program: what a collector gets, and what a program says that has none.

use crate::fixture::Fixture;

const TRACEPARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

/// A log with one event that has a trace, and the file of a relay that sends it there.
fn stage(endpoint: &str) -> Fixture {
    let fixture = Fixture::migrated();
    let insert = format!(
        "insert into outbox (topic, event_type, payload, headers)
         values ('orders', 'order.placed', '{{}}', json_object('traceparent', '{TRACEPARENT}'))"
    );
    fixture.sql(&insert).unwrap();
    let text = format!(
        "database: {{ url: sqlite://shop.db }}
traces: {{ endpoint: '{endpoint}' }}
subscriptions: [{{ name: all, sink: {{ file: {{ path: out.jsonl }} }} }}]
"
    );
    fixture.configure("relay.yaml", &text);
    fixture
}

#[cfg(not(feature = "otlp"))]
#[test]
fn a_program_without_traces_refuses_a_file_that_asks_for_them() {
    let fixture = stage("http://localhost:4318");
    for command in [&["relay", "--once", "--config"][..], &["config", "check"]] {
        let ran = fixture.run(&[command, &["relay.yaml"]].concat());
        ran.failed(2, &["section traces", "--features otlp"]);
    }
    assert_eq!(fixture.run(&["doctor", "--config", "relay.yaml"]).code, Some(1));
    fixture.run(&["status", "--config", "relay.yaml"]).succeeded();
    assert!(fixture.lines("out.jsonl").is_empty());
}

#[cfg(feature = "otlp")]
mod built_in {
    use std::{
        io::{Read, Write},
        net::TcpListener,
        thread,
    };

    use super::{TRACEPARENT, stage};

    /// The body of the one request that comes, as it is.
    fn receive(listener: &TcpListener) -> Vec<u8> {
        let (mut stream, _) = listener.accept().unwrap();
        let mut bytes = Vec::new();
        loop {
            let mut part = [0; 4_096];
            let read = stream.read(&mut part).unwrap();
            bytes.extend(&part[..read]);
            let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else { continue };
            let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
            if bytes.len() >= end + 4 + length.parse::<usize>().unwrap() {
                stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").unwrap();
                return bytes.split_off(end + 4);
            }
        }
    }

    #[test]
    fn a_delivery_is_sent_as_a_span_and_named_to_the_consumer() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let fixture = stage(&format!("http://{}", listener.local_addr().unwrap()));
        let receiving = thread::spawn(move || receive(&listener));
        fixture.run(&["relay", "--once", "--config", "relay.yaml"]).succeeded();

        let body = receiving.join().unwrap();
        let named = fixture.lines("out.jsonl")[0]["traceparent"].as_str().unwrap().to_owned();
        assert_ne!(named, TRACEPARENT);
        // The trace, the publisher's span and the delivery's own are in there as bytes.
        for id in [&TRACEPARENT[3..35], &TRACEPARENT[36..52], &named[36..52]] {
            let digits = |at: usize| u8::from_str_radix(&id[at..at + 2], 16).unwrap();
            let bytes: Vec<u8> = (0..id.len()).step_by(2).map(digits).collect();
            assert!(body.windows(bytes.len()).any(|window| window == bytes), "{id} is not in the span");
        }
        assert_eq!(named[..36], TRACEPARENT[..36], "the same trace");
    }

    #[test]
    fn a_collector_that_is_away_is_said_once_and_holds_nothing_up() {
        let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let fixture = stage(&format!("http://{nobody}"));
        let ran = fixture.run(&["relay", "--once", "--config", "relay.yaml"]).succeeded();

        assert_eq!(ran.err.matches("traces cannot be sent").count(), 1, "{}", ran.err);
        assert!(ran.err.contains("refused"), "{}", ran.err);
        assert_eq!(fixture.lines("out.jsonl").len(), 1);
    }
}
