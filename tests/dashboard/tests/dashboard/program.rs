//! The real program with its demo, and its API.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::LazyLock,
};

use serde_json::{Value, json};

use crate::browser::wait_until;

/// Built as `cargo test --workspace` would have done it, were it in this package: with other features, which is what cargo chooses for a package by
/// itself or without any test, most of what it depends on would be built a second time.
static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| {
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet", "--workspace", "--bin", "posthaste", "--test", "tidy"]);
    build.args(["--message-format", "json-render-diagnostics"]);
    // What cargo told this program about its package would look to build scripts as if something had changed.
    let is_of_package = |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST");
    for (name, _) in std::env::vars().filter(|(name, _)| is_of_package(name)) {
        build.env_remove(name);
    }
    let output = build.stderr(Stdio::inherit()).output().unwrap();
    assert!(output.status.success(), "the program is not built");
    let messages = String::from_utf8(output.stdout).unwrap();
    let mut found = messages.lines().filter_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        let executable = message["executable"].as_str().map(PathBuf::from);
        executable.filter(|_| message["target"]["kind"] == json!(["bin"]))
    });
    found.next().unwrap()
});

pub(crate) struct Program {
    child: Child,
    /// Where the dashboard is, with a slash at its end.
    pub(crate) url: String,
    pub(crate) operator: String,
    pub(crate) viewer: String,
}

impl Program {
    /// `posthaste demo --dashboard`, until it is dropped.
    pub(crate) fn start() -> Self {
        let mut command = Command::new(&*PROGRAM);
        command.args(["demo", "--dashboard", "--listen", "127.0.0.1:0", "--rate", "20", "--seed", "7"]);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut value = |name: &str| {
            let line = lines.by_ref().map(Result::unwrap).find(|line| line.trim_start().starts_with(name));
            line.unwrap().split_whitespace().last().unwrap().to_owned()
        };
        let url = value("address");
        let operator = value("operator token");
        let viewer = value("viewer token");
        Self { child, url, operator, viewer }
    }

    /// The status and the answer of the API, asked by the operator.
    pub(crate) fn ask(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let host = self.url.trim_start_matches("http://").trim_end_matches('/');
        let body = if method == "GET" { String::new() } else { body.to_string() };
        let mut stream = TcpStream::connect(host).unwrap();
        write!(
            stream,
            "{method} /api/v1/{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\nauthorization: Bearer {}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            self.operator,
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), serde_json::from_str(body).unwrap())
    }

    pub(crate) fn get(&self, path: &str) -> Value {
        let (status, answer) = self.ask("GET", path, &Value::Null);
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    }

    /// Publishes an event and answers with its id.
    pub(crate) fn publish(&self, event_type: &str, key: &str, payload: &Value) -> String {
        let event = json!({ "event_type": event_type, "key": key, "topic": "orders", "payload": payload });
        let (status, answer) = self.ask("POST", "events", &event);
        assert_eq!(status, 201, "{answer}");
        answer["id"].as_str().unwrap().to_owned()
    }

    /// A payment that the bank refuses until it is replayed: the number of its dead letter, and the event's id.
    pub(crate) async fn refused_payment(&self, key: &str) -> (i64, String) {
        let id = self.publish("order.paid", key, &json!({ "card": { "state": "expired" } }));
        (self.dead_letter("payments", key).await, id)
    }

    /// The number of the unresolved dead letter of this key, once it is there.
    pub(crate) async fn dead_letter(&self, subscription: &str, key: &str) -> i64 {
        let path = format!("dead-letters?subscription={subscription}&key={key}");
        let mut found = Value::Null;
        wait_until("it is dead", async || {
            found = self.get(&path)["items"][0]["dead_id"].clone();
            !found.is_null()
        })
        .await;
        found.as_i64().unwrap()
    }

    /// The status of an event in a subscription.
    pub(crate) fn status(&self, id: &str, subscription: &str) -> String {
        let event = self.get(&format!("events/{id}"));
        let statuses = event["event"]["statuses"].as_array().unwrap().clone();
        let found = statuses.iter().find(|status| status["subscription"] == subscription).unwrap();
        found["status"].as_str().unwrap().to_owned()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // Its file is in a folder for such; a test that fails has more to say than how it ended.
        _ = self.child.kill();
        _ = self.child.wait();
    }
}
