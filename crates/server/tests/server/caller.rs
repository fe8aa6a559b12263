//! A caller who sends what he likes, and what he is answered.

use std::{net::SocketAddr, time::Duration};

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

/// Far longer than anything takes on a slow machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Somebody who calls the server.
#[derive(Clone)]
pub(crate) struct Caller {
    pub(crate) address: SocketAddr,
    pub(crate) token: Option<String>,
}

/// What he is answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Caller {
    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], b"").await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        self.post_as("POST", path, body).await
    }

    pub(crate) async fn patch(&self, path: &str, body: &Value) -> Answer {
        self.post_as("PATCH", path, body).await
    }

    /// Sends JSON by any method.
    pub(crate) async fn post_as(&self, method: &str, path: &str, body: &Value) -> Answer {
        self.send(method, path, &[("content-type", "application/json")], body.to_string().as_bytes()).await
    }

    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Answer {
        let mut head =
            format!("{method} {path} HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
        if !headers.iter().any(|(name, _)| *name == "host") {
            head.push_str(&format!("host: {}\r\n", self.address));
        }
        if let Some(token) = &self.token {
            head.push_str(&format!("authorization: Bearer {token}\r\n"));
        }
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        let bytes = [head.as_bytes(), b"\r\n", body].concat();
        self.send_bytes(&bytes).await
    }

    /// Sends anything at all.
    pub(crate) async fn send_bytes(&self, bytes: &[u8]) -> Answer {
        let talk = async {
            let mut stream = TcpStream::connect(self.address).await.unwrap();
            // Who is refused early may be cut off while he still speaks.
            _ = stream.write_all(bytes).await;
            let mut answer = Vec::with_capacity(4_096);
            // What never ends is left as soon as it has begun.
            while stream.read_buf(&mut answer).await.is_ok_and(|read| read > 0) {
                if Answer::parse(&answer).header("content-type") == Some("text/event-stream") {
                    break;
                }
            }
            answer
        };
        Answer::parse(&timeout(PATIENCE, talk).await.expect("the server answers in time"))
    }
}

impl Answer {
    fn parse(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or(bytes.len());
        let head = String::from_utf8_lossy(&bytes[..end]);
        let mut lines = head.lines();
        let status = lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|code| code.parse().ok());
        let header =
            |line: &str| line.split_once(": ").map(|(name, value)| (name.to_owned(), value.to_owned()));
        Self {
            status: status.unwrap_or(0),
            headers: lines.filter_map(header).collect(),
            body: bytes.get(end + 4..).unwrap_or_default().to_vec(),
        }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    /// The body of a success.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        assert!((200..300).contains(&self.status), "{} {}", self.status, self.text());
        serde_json::from_slice(&self.body).unwrap()
    }

    /// The body of a problem with this status.
    #[track_caller]
    pub(crate) fn problem(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text());
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{}", self.text());
        let body: Value = serde_json::from_slice(&self.body).unwrap();
        assert_eq!(body["status"], status, "{body}");
        for field in ["type", "title", "detail"] {
            assert!(body[field].as_str().is_some_and(|text| !text.is_empty()), "{field} in {body}");
        }
        body
    }
}
