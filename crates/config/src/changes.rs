//! What is different between a configuration and the next, and what of it a running relay can take over.

use crate::{Config, field::Field};

/// The keys that count as soon as a file is read again.
pub const HOT: [&str; 10] = [
    "relay.batch",
    "relay.poll_min",
    "relay.poll_max",
    "validation.json",
    "validation.schemas",
    "subscriptions[].rate_limit",
    "subscriptions[].paused",
    "subscriptions[].validation.json",
    "subscriptions[].validation.schemas",
    "log.level",
];

/// The keys that are different, by whether a running relay can take them over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// These count at once.
    pub hot: Vec<String>,
    /// These count when the relay is started again.
    pub restart: Vec<String>,
}

impl Config {
    /// What is different in a newer one.
    #[must_use]
    pub fn changes(&self, newer: &Config) -> Changes {
        let mut changes = Changes::default();
        let gone = self.fields.iter().filter(|old| find(&newer.fields, old).is_none());
        let changed =
            newer.fields.iter().filter(|new| find(&self.fields, new).is_none_or(|old| differ(old, new)));
        for field in changed.chain(gone) {
            let key = field.path.to_string();
            if is_hot(field) { changes.hot.push(key) } else { changes.restart.push(key) }
        }
        changes
    }

    /// With what a running relay takes over of a newer one, and everything else as it is.
    #[must_use]
    pub fn with_hot(mut self, newer: &Config) -> Config {
        for field in self.fields.iter_mut().filter(|field| is_hot(field)) {
            if let Some(new) = find(&newer.fields, field) {
                *field = new.clone();
            }
        }
        self.log.level.clone_from(&newer.log.level);
        for served in &mut self.subscriptions {
            let same = |new: &&crate::Served| new.subscription.name == served.subscription.name;
            if let Some(new) = newer.subscriptions.iter().find(same) {
                (served.rate_limit, served.paused) = (new.rate_limit, new.paused);
                served.rules.clone_from(&new.rules);
            }
        }
        self
    }
}

fn is_hot(field: &Field) -> bool {
    HOT.contains(&field.key().path.as_str())
}

fn find<'f>(fields: &'f [Field], like: &Field) -> Option<&'f Field> {
    fields.iter().find(|field| field.path == like.path)
}

/// What is not shown is compared by its mark, and so is what is in the files that a key names; what is shown by what it comes to,
/// however it is written.
fn differ(old: &Field, new: &Field) -> bool {
    old.value != new.value || (old.veiled && old.mark != new.mark) || old.content != new.content
}
