//! `subscriptions`: what is delivered where.

use std::collections::{BTreeMap, HashMap};

use posthaste::{Filter, OnDead, Order, Pattern, RetryPolicy, Start, Subscription};
use posthaste_validation::Rules;

use crate::{
    destination::{self, Destination},
    kind::{self, Kind},
    retry::{self, Origin},
    section::Section,
    validation::{self, Wanted},
};

const STARTS: [(&str, Start); 2] = [("beginning", Start::Beginning), ("now", Start::Now)];
const ORDERS: [(&str, Order); 2] = [("key", Order::Key), ("none", Order::None)];
const ENDINGS: [(&str, OnDead); 2] = [("continue", OnDead::Continue), ("hold", OnDead::Hold)];

/// A subscription with its destination.
#[derive(Clone, Debug)]
pub struct Served {
    /// The subscription.
    pub subscription: Subscription,
    /// Where it delivers.
    pub destination: Destination,
    /// What a payload has to be before it is delivered.
    pub rules: Rules,
    /// How many events a second it delivers at most, in all relays together.
    pub rate_limit: Option<u32>,
    /// Whether it is to be paused or to go on; left to operators unless written.
    pub paused: Option<bool>,
}

impl Served {
    /// A subscription with its destination, and with nothing else wanted of it.
    #[must_use]
    pub fn new(subscription: Subscription, destination: Destination) -> Self {
        Self { subscription, destination, rules: Rules::default(), rate_limit: None, paused: None }
    }
}

/// The limits of those that have one.
pub(crate) fn rate_limits(all: &[Served]) -> BTreeMap<String, u32> {
    all.iter().filter_map(|served| Some((served.subscription.name.clone(), served.rate_limit?))).collect()
}

/// Reads all of them. What is used by one may not be used by another.
pub(crate) fn read_all(root: &Section<'_>, retry: &RetryPolicy, validation: &Wanted) -> Vec<Served> {
    let mut taken = Taken::default();
    let usual = Usual { retry, validation };
    root.sections("subscriptions").filter_map(|section| read(section, &usual, &mut taken)).collect()
}

/// What counts for those that do not say otherwise.
struct Usual<'a> {
    retry: &'a RetryPolicy,
    validation: &'a Wanted,
}

/// The names, files and pipes that are taken, and by whom.
#[derive(Default)]
struct Taken {
    names: HashMap<String, String>,
    places: HashMap<String, String>,
}

fn read(section: Section<'_>, usual: &Usual<'_>, taken: &mut Taken) -> Option<Served> {
    let name = section.required("name", &name());
    let subscription = Subscription {
        name: name.clone().unwrap_or_default(),
        filter: read_filter(section.section("filter")),
        start: section.or("start", &kind::word(&STARTS), Start::default()),
        order: section.or("order", &kind::word(&ORDERS), Order::default()),
        on_dead: section.or("on_dead", &kind::word(&ENDINGS), OnDead::default()),
        retry: retry::read(section.section("retry"), usual.retry, Origin::File),
    };
    let rate_limit = section.optional("rate_limit", &kind::number(1..=10_000_000));
    let paused = section.optional("paused", &kind::switch());
    let rules = validation::read(section.section("validation"), usual.validation, Origin::File).rules;
    let destination = match section.section_if_written("sink") {
        Some(sink) => destination::read(sink),
        None => {
            section.problem_itself("has no sink; allowed is one");
            None
        }
    };
    let here = format!("{} ({})", section.path(), section.place_of("name"));
    if let Some(other) = name.and_then(|name| taken.names.insert(name, here.clone())) {
        let text = format!("is {}, as that of {other}; each needs its own", subscription.name);
        section.problem("name", text);
    }
    let place = destination.as_ref().and_then(Destination::exclusive);
    if let Some((place, other)) =
        place.and_then(|place| Some((place.clone(), taken.places.insert(place, here)?)))
    {
        section.problem("sink", format!("writes to {place}, as that of {other}; each needs its own"));
    }
    section.end();
    Some(Served { subscription, destination: destination?, rules, rate_limit, paused })
}

fn read_filter(section: Section<'_>) -> Filter {
    let filter =
        Filter { types: section.list("types", &pattern()), topics: section.list("topics", &pattern()) };
    section.end();
    filter
}

fn name() -> Kind<String> {
    kind::matching("1 to 100 letters, digits, -, _ or .", |text| Subscription::new(text).validate().is_ok())
}

fn pattern() -> Kind<Pattern> {
    let parse = |text: &str| if text.is_empty() { Err(None) } else { Ok(Pattern::new(text)) };
    Kind::new("pattern", "a text in which * stands for any", parse, ToString::to_string)
}
