//! `database`: where the outbox is.

use posthaste::{Outbox, OutboxBuilder, SCHEMES};

use crate::{
    kind::{self, Kind, Parsed},
    secret::Address,
    section::Section,
};

/// Which database, and where in it.
#[derive(Clone, Debug)]
pub struct Database {
    /// Its address.
    pub address: Address,
    /// The schema of the tables, where a database has schemas.
    pub schema: Option<String>,
    /// What the names of the tables begin with.
    pub prefix: String,
    /// How many lanes a new log gets, and an existing one must have.
    pub lanes: Option<u8>,
    /// Whether to create the tables or bring them up to date.
    pub migrate: bool,
    /// Whether a pooler in transaction mode stands in front of the database.
    pub pooler: bool,
}

impl Database {
    /// A database under this address, with everything else as usual.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            address: Address::new(url),
            schema: None,
            prefix: DEFAULT_PREFIX.to_owned(),
            lanes: None,
            migrate: false,
            pooler: false,
        }
    }

    /// The outbox in it, to be opened.
    pub fn outbox(&self) -> OutboxBuilder {
        let mut outbox = Outbox::builder(self.address.expose()).prefix(&self.prefix);
        if let Some(schema) = &self.schema {
            outbox = outbox.schema(schema);
        }
        if let Some(lanes) = self.lanes {
            outbox = outbox.lanes(lanes);
        }
        if !self.migrate {
            outbox = outbox.without_migration();
        }
        if self.pooler { outbox.behind_a_pooler() } else { outbox }
    }
}

/// What the names of tables begin with unless told otherwise.
pub const DEFAULT_PREFIX: &str = "outbox";

const NAME: &str = "a lower-case letter or _, then up to 40 lower-case letters, digits or _";

pub(crate) fn read(section: Section<'_>) -> Option<Database> {
    let url = section.required("url", &address());
    let password =
        section.optional("password", &kind::secret("the password, as it is, if it is not in the url"));
    let schema = section.optional("schema", &kind::matching(NAME, is_name));
    let prefix = section.or("prefix", &kind::matching(NAME, is_name), DEFAULT_PREFIX.to_owned());
    let lanes = section.optional("lanes", &kind::number(1..=64));
    let migrate = section.or("migrate", &kind::switch(), false);
    let pooler = section.or("pooler", &kind::switch(), false);
    if url.as_deref().is_some_and(|url| url.starts_with("sqlite:")) {
        for (key, set) in [("password", password.is_some()), ("schema", schema.is_some()), ("pooler", pooler)]
        {
            if set {
                section.problem(key, "is only for PostgreSQL; leave it out");
            }
        }
    }
    let address = with_password(&section, url, password);
    section.end();
    Some(Database { address: address?, schema, prefix, lanes, migrate, pooler })
}

/// The address with the password in it, whatever characters that has.
fn with_password(section: &Section<'_>, url: Option<String>, password: Option<String>) -> Option<Address> {
    let url = url?;
    let (Some(password), Ok(mut parsed)) = (password, url::Url::parse(&url)) else {
        return Some(Address::new(url));
    };
    // What looks like an escape would be taken for one.
    let password = password.replace('%', "%25");
    if parsed.password().is_some() {
        section.problem("password", "is in the url as well; allowed is one of both");
    } else if parsed.username().is_empty() || parsed.set_password(Some(&password)).is_err() {
        section
            .problem("url", "has no user; with a password it needs one, as in postgres://user@host/database");
    }
    Some(Address::new(parsed))
}

/// A name that becomes part of names in SQL; what reaches the database is checked there once more.
fn is_name(text: &str) -> bool {
    let inside = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    text.len() <= 41
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && !text.is_empty()
        && text.chars().all(inside)
}

fn address() -> Kind<String> {
    kind::address("postgres://user:password@host/database or sqlite://path", check)
}

impl Address {
    /// An address that could be one of a database, or what is wrong with it.
    pub fn parse(url: &str) -> Result<Self, String> {
        let kind = address();
        kind.parse(url)
            .map(Self::new)
            .map_err(|reason| format!("{} is no database; {reason}", kind.show_text(url)))
    }
}

/// A typing error is found here, before anything is opened.
fn check(url: &str) -> Parsed<String> {
    let (scheme, rest) = url.split_once(':').ok_or(None)?;
    if !SCHEMES.contains(&scheme) || rest.trim_start_matches('/').is_empty() {
        return Err(None);
    }
    if scheme != "sqlite" {
        // Its errors name rules, never parts of the address.
        let advice = |error| format!("{error}; reserved characters in a password are written as %XX");
        let parsed = url::Url::parse(url).map_err(|error| Some(advice(error)))?;
        parsed.host_str().ok_or(None)?;
    }
    Ok(url.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_those_of_databases_that_this_program_knows() {
        for good in [
            "sqlite://shop.db",
            "sqlite:shop.db",
            "postgres://db/shop",
            "postgresql://ada:%40@[::1]:5432/shop?sslmode=require",
        ] {
            assert_eq!(check(good), Ok(good.to_owned()));
        }
        for bad in [
            "",
            "shop.db",
            "sqlite:",
            "sqlite://",
            "sqlit://shop.db",
            "postgres//x",
            "postgres://",
            "postgres:shop",
            "mysql://db/x",
        ] {
            assert!(check(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn names_become_part_of_sql_and_have_nothing_else_in_them() {
        for good in ["outbox", "_a", "a1", &"x".repeat(41)] {
            assert!(is_name(good), "{good}");
        }
        for bad in ["", "1a", "A", "a-b", "a\"b", "a b", "ä", &"x".repeat(42)] {
            assert!(!is_name(bad), "{bad}");
        }
    }
}
