//! A request that somebody may send, good or bad.

use crate::caller::Caller;

/// A request, and why it has to be refused.
#[derive(Debug)]
pub(super) struct Attempt {
    pub(super) method: String,
    /// The path and the parameters, as bytes: they may be no text.
    pub(super) target: Vec<u8>,
    pub(super) content_type: Option<&'static str>,
    pub(super) body: Vec<u8>,
    /// What is in it that nobody may take for good; where it is empty it may be refused all the same.
    pub(super) wrong: Vec<String>,
    /// Whether it may be no HTTP, so that it does not get as far as the API.
    pub(super) is_raw: bool,
}

impl Attempt {
    /// As it goes over the wire.
    pub(super) fn bytes(&self, caller: &Caller) -> Vec<u8> {
        let mut head = format!("host: {}\r\nconnection: close\r\n", caller.address);
        if let Some(token) = &caller.token {
            head.push_str(&format!("authorization: Bearer {token}\r\n"));
        }
        if let Some(kind) = self.content_type {
            head.push_str(&format!("content-type: {kind}\r\n"));
        }
        head.push_str(&format!("content-length: {}\r\n\r\n", self.body.len()));
        let line = [self.method.as_bytes(), b" ", &self.target, b" HTTP/1.1\r\n"].concat();
        [line.as_slice(), head.as_bytes(), &self.body].concat()
    }

    /// The path alone.
    pub(super) fn path(&self) -> String {
        let target = String::from_utf8_lossy(&self.target);
        target.split(['?', '#']).next().unwrap().to_owned()
    }

    pub(super) fn reads(&self) -> bool {
        matches!(self.method.as_str(), "GET" | "HEAD")
    }

    /// In a few lines, for whoever has to look into it.
    pub(super) fn shown(&self) -> String {
        let cut = |bytes: &[u8]| {
            let text = bytes.escape_ascii().to_string();
            if text.len() > 1_500 { format!("{}… ({} bytes)", &text[..1_500], bytes.len()) } else { text }
        };
        format!(
            "{} {}\ncontent-type: {:?}\n{}\nwrong with it: {:?}",
            self.method,
            cut(&self.target),
            self.content_type,
            cut(&self.body),
            self.wrong
        )
    }
}
