//! Which database: the options that every command about a log has, and opening it.

use clap::Args;
use posthaste::{ErrorKind, Outbox, OutboxBuilder, Result, SCHEMES, Status};

#[derive(Args)]
pub(crate) struct Database {
    /// The database with the outbox, such as sqlite://shop.db
    #[arg(
        long = "database",
        value_name = "URL",
        env = "POSTHASTE_DATABASE",
        hide_env_values = true,
        value_parser = parse_url
    )]
    pub(crate) url: String,
    /// What the names of the tables begin with
    #[arg(long, value_name = "PREFIX", default_value = "outbox")]
    pub(crate) prefix: String,
}

impl Database {
    /// To be opened with whatever else is set.
    pub(crate) fn outbox(&self) -> OutboxBuilder {
        Outbox::builder(&self.url).prefix(&self.prefix)
    }

    /// How the log stands, if it can be used as it is.
    pub(crate) async fn status(&self) -> Result<Status> {
        self.outbox().without_migration().open().await?.admin().status().await
    }

    /// The URL as it may be shown: without a password.
    pub(crate) fn shown(&self) -> String {
        let Some((scheme, rest)) = self.url.split_once("://") else { return self.url.clone() };
        let Some((login, place)) = rest.split_once('@') else { return self.url.clone() };
        match login.split_once(':') {
            Some((user, _)) if !login.contains('/') => format!("{scheme}://{user}:***@{place}"),
            _ => self.url.clone(),
        }
    }

    /// The options as they are written in a command that can be copied.
    pub(crate) fn as_options(&self) -> String {
        let url = quote(&self.shown());
        if self.prefix == "outbox" {
            format!("--database {url}")
        } else {
            format!("--database {url} --prefix {}", quote(&self.prefix))
        }
    }
}

/// Whether opening failed because of what is, or is not, in the database: then migrating is worth a try.
pub(crate) fn wants_migration(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::Schema)
}

/// A typing error in the scheme is found here, before anything is opened.
fn parse_url(text: &str) -> Result<String, String> {
    let scheme = text.split_once(':').map(|(scheme, _)| scheme);
    if scheme.is_some_and(|scheme| SCHEMES.contains(&scheme)) {
        return Ok(text.to_owned());
    }
    let known: Vec<String> = SCHEMES.iter().map(|scheme| format!("{scheme}://…")).collect();
    Err(format!("a database is written as {}, for example sqlite://shop.db", known.join(" or ")))
}

/// The text as a shell takes it for one word.
pub(crate) fn quote(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_schemes_are_taken() {
        assert!(parse_url("sqlite://shop.db").is_ok());
        for bad in ["", "shop.db", "sqlit://shop.db", "postgres//x"] {
            assert!(parse_url(bad).unwrap_err().contains("sqlite://shop.db"), "{bad}");
        }
    }

    #[test]
    fn passwords_are_not_shown() {
        for (url, shown) in [
            ("sqlite://shop.db", "sqlite://shop.db"),
            ("sqlite:///data/a:b@c.db", "sqlite:///data/a:b@c.db"),
            ("postgres://ada:secret@db.example/shop", "postgres://ada:***@db.example/shop"),
            ("postgres://ada@db.example/shop", "postgres://ada@db.example/shop"),
        ] {
            let database = Database { url: url.to_owned(), prefix: "outbox".to_owned() };
            assert_eq!(database.shown(), shown);
        }
    }

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(quote("sqlite://shop.db"), "sqlite://shop.db");
        assert_eq!(quote("sqlite://my shop's.db"), r"'sqlite://my shop'\''s.db'");
    }
}
