//! What can be set about a server, and what it refuses to start with.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    time::Duration,
};

use posthaste::{Error, Result};

use crate::{alert::Alerts, health::Limits, redact::Redaction, token::Token};

/// The port unless another is set.
pub const DEFAULT_PORT: u16 = 8025;

/// The settings of a server. Closed unless opened: without tokens nobody gets in.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where it listens.
    pub listen: SocketAddr,
    /// Who may log in.
    pub tokens: Vec<Token>,
    /// Whether everybody is an operator. Only on a loopback address, and only without tokens.
    pub open: bool,
    /// Under which address people reach the server, if that is another than where it listens: for links, and as a name that it
    /// answers to.
    pub public_url: Option<String>,
    /// What is hidden of payloads.
    pub redaction: Redaction,
    /// Who may read the metrics.
    pub metrics: Access,
    /// Whether the dashboard is served.
    pub dashboard: bool,
    /// From where on something counts as bad.
    pub limits: Limits,
    /// Who hears of what is bad; nobody unless set.
    pub alerts: Option<Alerts>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            listen: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), DEFAULT_PORT),
            tokens: Vec::new(),
            open: false,
            public_url: None,
            redaction: Redaction::default(),
            metrics: Access::Token,
            dashboard: true,
            limits: Limits::default(),
            alerts: None,
        }
    }
}

/// Who may read something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Everybody.
    Public,
    /// Who has a token.
    Token,
}

impl Settings {
    /// Says what is wrong with the settings.
    pub fn validate(&self) -> Result<()> {
        if self.tokens.is_empty() && !self.listen.ip().is_loopback() {
            return Err(Error::invalid(format!(
                "the server would listen on {}, where others can reach it, and has no tokens; add one under server.tokens, \
                 or listen on 127.0.0.1",
                self.listen
            )));
        }
        if self.open && !self.tokens.is_empty() {
            return Err(Error::invalid("the server is open, and has tokens; leave one of the two out"));
        }
        let mut names: Vec<&str> = self.tokens.iter().map(|token| token.name.as_str()).collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Error::invalid(format!(
                "two tokens have the name {:?}; the journal could not tell them apart",
                twice[0]
            )));
        }
        Ok(())
    }
}

/// How long a request may take, but for streams.
pub(crate) const REQUEST_TIME: Duration = Duration::from_secs(30);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::{Hash, Role};

    fn on(listen: &str) -> Settings {
        Settings { listen: listen.parse().unwrap(), ..Settings::default() }
    }

    fn token(name: &str) -> Token {
        Token { name: name.to_owned(), role: Role::Viewer, hash: Hash::of("x") }
    }

    #[test]
    fn refuses_to_be_reachable_without_tokens() {
        for listen in ["0.0.0.0:80", "[::]:80", "10.0.0.1:80", "192.168.1.1:80"] {
            let error = on(listen).validate().unwrap_err().to_string();
            assert!(error.contains("server.tokens") && error.contains(listen), "{error}");
            assert!(Settings { open: true, ..on(listen) }.validate().is_err());
            assert!(Settings { tokens: vec![token("a")], ..on(listen) }.validate().is_ok());
        }
        for listen in ["127.0.0.1:80", "127.9.9.9:80", "[::1]:80"] {
            assert!(on(listen).validate().is_ok());
            assert!(Settings { open: true, ..on(listen) }.validate().is_ok());
        }
    }

    #[test]
    fn refuses_what_contradicts_itself() {
        let both = Settings { open: true, tokens: vec![token("a")], ..Settings::default() };
        assert!(both.validate().unwrap_err().to_string().contains("leave one"));
        let twice = Settings { tokens: vec![token("a"), token("b"), token("a")], ..Settings::default() };
        assert!(twice.validate().unwrap_err().to_string().contains("\"a\""));
    }
}
