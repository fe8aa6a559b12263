//! What is never shown: passwords, alone or inside an address.

use std::fmt;

/// What is shown instead.
pub(crate) const VEIL: &str = "***";

/// The address of a database. Shown without its password, also by `Debug`.
#[derive(Clone, PartialEq, Eq)]
pub struct Address(String);

impl Address {
    /// An address as it was given.
    pub fn new(url: impl Into<String>) -> Self {
        Self(url.into())
    }

    /// As it was given, password and all: to connect with, and for nothing else.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&veiled(&self.0))
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", veiled(&self.0))
    }
}

/// An address without what could be a password. People write passwords with `@`, `/` and `?` in them: rather too much is hidden
/// than too little.
pub(crate) fn veiled(url: &str) -> String {
    if url.starts_with("sqlite:") {
        return url.to_owned();
    }
    let Some((scheme, rest)) = url.split_once("://") else {
        let scheme = url.split_once(':').map_or("", |(scheme, _)| scheme);
        return if url.contains('@') { format!("{scheme}:{VEIL}") } else { url.to_owned() };
    };
    let (login, place) = match rest.rsplit_once('@') {
        Some((login, place)) => (format!("{}@", without_password(login)), place.to_owned()),
        None => (String::new(), without_password_for_a_port(rest)),
    };
    let place = match place.split_once('?') {
        Some((place, query)) => format!("{place}?{}", without_passwords(query)),
        None => place,
    };
    format!("{scheme}://{login}{place}")
}

fn without_password(login: &str) -> String {
    match login.split_once(':') {
        Some((user, _)) => format!("{user}:{VEIL}"),
        None => login.to_owned(),
    }
}

/// Where the `@` was forgotten, the password stands in the place of the port.
fn without_password_for_a_port(place: &str) -> String {
    let end = place.find(['/', '?']).unwrap_or(place.len());
    let (authority, behind) = place.split_at(end);
    match authority.rsplit_once(':') {
        Some((host, port)) if !authority.starts_with('[') && !port.chars().all(|c| c.is_ascii_digit()) => {
            let user = host.split(':').next().unwrap_or_default();
            format!("{user}:{VEIL}{behind}")
        }
        _ => place.to_owned(),
    }
}

fn without_passwords(query: &str) -> String {
    let pairs = query.split('&').map(|pair| match pair.split_once('=') {
        Some((name, _)) if name.to_ascii_lowercase().contains("password") => format!("{name}={VEIL}"),
        _ => pair.to_owned(),
    });
    pairs.collect::<Vec<_>>().join("&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_part_of_a_password_is_shown() {
        for (url, shown) in [
            ("sqlite://shop.db", "sqlite://shop.db"),
            ("sqlite:///data/a:b@c.db", "sqlite:///data/a:b@c.db"),
            ("sqlite:a@b.db", "sqlite:a@b.db"),
            ("postgres://ada:hunter2@db.example/shop", "postgres://ada:***@db.example/shop"),
            ("postgres://ada@db.example:5432/shop", "postgres://ada@db.example:5432/shop"),
            ("postgres://ada:hun@ter/2?@db.example/shop", "postgres://ada:***@db.example/shop"),
            ("postgres://ada:hun:ter2@db/shop?sslmode=require", "postgres://ada:***@db/shop?sslmode=require"),
            ("postgres://db/shop?user=ada&password=hunter2", "postgres://db/shop?user=ada&password=***"),
            ("postgres://ada:hunter2/shop", "postgres://ada:***/shop"),
            ("postgres://ada:hunter2", "postgres://ada:***"),
            ("postgres://[::1]:5432/shop", "postgres://[::1]:5432/shop"),
            ("postgres:ada:hunter2@db/shop", "postgres:***"),
            ("shop.db", "shop.db"),
        ] {
            assert_eq!(Address::new(url).to_string(), shown);
            assert_eq!(format!("{:?}", Address::new(url)), format!("{shown:?}"));
        }
    }
}
