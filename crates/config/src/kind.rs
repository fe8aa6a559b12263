//! The kinds of values: what is allowed, how a text becomes one, and how one is written.

use std::{fmt::Display, ops::RangeInclusive, str::FromStr, time::Duration};

use crate::{
    field::Form,
    secret::{VEIL, veiled},
};

/// A kind of value.
pub(crate) struct Kind<T> {
    /// What it is called.
    pub(crate) name: &'static str,
    /// What it looks like.
    pub(crate) form: Form,
    /// What may be written, in words that follow "allowed is".
    pub(crate) allowed: String,
    parse: Parse<T>,
    write: Write<T>,
    veil: fn(&str) -> String,
    /// Whether not all of a value is shown.
    pub(crate) veiled: bool,
}

/// A value, or why the text is none where that is not plain from what is allowed.
pub(crate) type Parsed<T> = Result<T, Option<String>>;

type Parse<T> = Box<dyn Fn(&str) -> Parsed<T>>;
type Write<T> = Box<dyn Fn(&T) -> String>;

impl<T> Kind<T> {
    pub(crate) fn new(
        name: &'static str,
        allowed: impl Into<String>,
        parse: impl Fn(&str) -> Parsed<T> + 'static,
        write: impl Fn(&T) -> String + 'static,
    ) -> Self {
        Self {
            name,
            form: Form::Text,
            allowed: allowed.into(),
            parse: Box::new(parse),
            write: Box::new(write),
            veil: plain,
            veiled: false,
        }
    }

    fn looks_like(mut self, form: Form) -> Self {
        self.form = form;
        self
    }

    /// Shown through this, wherever it is shown.
    fn veiled_by(mut self, veil: fn(&str) -> String) -> Self {
        self.veil = veil;
        self.veiled = true;
        self
    }

    /// The value of a text, or what is wrong with it.
    pub(crate) fn parse(&self, text: &str) -> Result<T, String> {
        (self.parse)(text).map_err(|reason| reason.unwrap_or_else(|| format!("allowed is {}", self.allowed)))
    }

    /// The value as it would be written, and may be shown.
    pub(crate) fn show(&self, value: &T) -> String {
        (self.write)(value)
    }

    /// A text that may not be a value at all, as it may be shown.
    pub(crate) fn show_text(&self, text: &str) -> String {
        (self.veil)(text)
    }
}

/// What a value looks like in a message: short, and in quotes where its ends would not be seen.
pub(crate) fn plain(text: &str) -> String {
    const LONGEST: usize = 60;
    let cut: String = text.chars().take(LONGEST).collect();
    let cut = if cut.len() < text.len() { format!("{cut}…") } else { cut };
    let bare = !cut.is_empty() && cut.chars().all(|c| c.is_alphanumeric() || "-_./:@%+*{}[]$…".contains(c));
    if bare { cut } else { format!("{cut:?}") }
}

/// Any text but an empty one.
pub(crate) fn text(allowed: &str) -> Kind<String> {
    matching(allowed, |text| !text.is_empty())
}

/// Any text that passes a test.
pub(crate) fn matching(allowed: &str, test: fn(&str) -> bool) -> Kind<String> {
    let parse = move |text: &str| if test(text) { Ok(text.to_owned()) } else { Err(None) };
    Kind::new("text", allowed, parse, Clone::clone)
}

impl Kind<String> {
    /// Only texts that pass a test as well.
    pub(crate) fn that(self, test: fn(&str) -> bool) -> Self {
        let before = self.parse;
        let parse =
            move |text: &str| before(text).and_then(|text| if test(&text) { Ok(text) } else { Err(None) });
        Self { parse: Box::new(parse), ..self }
    }
}

/// A text that is never shown.
pub(crate) fn secret(allowed: &str) -> Kind<String> {
    let kind = Kind { write: Box::new(|_| VEIL.to_owned()), ..text(allowed) };
    Kind { name: "secret", ..kind.veiled_by(|_| VEIL.to_owned()) }
}

/// What was written instead is not shown: it may be a secret that belongs elsewhere.
pub(crate) fn hidden_if_wrong<T>(kind: Kind<T>) -> Kind<T> {
    kind.veiled_by(|_| VEIL.to_owned())
}

/// The address of something, shown without its password.
pub(crate) fn address(allowed: &str, parse: impl Fn(&str) -> Parsed<String> + 'static) -> Kind<String> {
    Kind::new("text", allowed, parse, |url| veiled(url)).veiled_by(|text| plain(&veiled(text)))
}

/// The address of something that speaks HTTP, shown without its password.
pub(crate) fn url(example: &str) -> Kind<String> {
    let is_url = |text: &str| {
        url::Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
    };
    let parse = move |text: &str| if is_url(text) { Ok(text.to_owned()) } else { Err(None) };
    address(&format!("an address, such as {example}"), parse)
}

/// `true` or `false`.
pub(crate) fn switch() -> Kind<bool> {
    Kind::new("switch", "true or false", |text| text.parse().map_err(|_| None), ToString::to_string)
        .looks_like(Form::Switch)
}

/// One of these words.
pub(crate) fn word<T: Copy + PartialEq + 'static>(words: &'static [(&'static str, T)]) -> Kind<T> {
    let names: Vec<&'static str> = words.iter().map(|(name, _)| *name).collect();
    let allowed = match names.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        names => names.join(", "),
    };
    let parse =
        |text: &str| words.iter().find(|(name, _)| *name == text).map(|(_, value)| *value).ok_or(None);
    let write =
        |value: &T| words.iter().find(|(_, known)| known == value).map_or("", |(name, _)| name).to_owned();
    Kind::new("word", allowed, parse, write).looks_like(Form::Word(names))
}

/// A whole number.
pub(crate) fn number<T>(range: RangeInclusive<T>) -> Kind<T>
where
    T: FromStr + Display + PartialOrd + 'static,
{
    let allowed = format!("a whole number from {} to {}", range.start(), range.end());
    let bound = |bound: &T| bound.to_string().parse().unwrap_or_default();
    let form = Form::Whole { least: bound(range.start()), most: bound(range.end()) };
    let parse = move |text: &str| text.parse().ok().filter(|number| range.contains(number)).ok_or(None);
    Kind::new("whole number", allowed, parse, ToString::to_string).looks_like(form)
}

/// A number that need not be whole.
pub(crate) fn fraction(range: RangeInclusive<f64>) -> Kind<f64> {
    let allowed = format!("a number from {:?} to {:?}", range.start(), range.end());
    let form = Form::Number { least: *range.start(), most: *range.end() };
    let parse = move |text: &str| text.parse().ok().filter(|number| range.contains(number)).ok_or(None);
    Kind::new("number", allowed, parse, |number| format!("{number:?}")).looks_like(form)
}

/// A time.
pub(crate) fn time(range: RangeInclusive<Duration>) -> Kind<Duration> {
    let allowed = format!("a time from {} to {}", write_time(*range.start()), write_time(*range.end()));
    let parse = move |text: &str| {
        humantime::parse_duration(text).ok().filter(|time| range.contains(time)).ok_or(None)
    };
    Kind::new("time", allowed, parse, |time| write_time(*time)).looks_like(Form::Time)
}

/// A time as people write it: `90s` is `1m 30s`.
pub(crate) fn write_time(time: Duration) -> String {
    let (seconds, nanos) = (time.as_secs(), u64::from(time.subsec_nanos()));
    let parts = [
        (seconds / 86_400, "d"),
        (seconds / 3_600 % 24, "h"),
        (seconds / 60 % 60, "m"),
        (seconds % 60, "s"),
        (nanos / 1_000_000, "ms"),
        (nanos / 1_000 % 1_000, "us"),
        (nanos % 1_000, "ns"),
    ];
    let written: Vec<String> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, unit)| format!("{count}{unit}")).collect();
    if written.is_empty() { "0s".to_owned() } else { written.join(" ") }
}

const UNITS: [(&str, usize); 4] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)];

/// A number of bytes.
pub(crate) fn size(range: RangeInclusive<usize>) -> Kind<usize> {
    let allowed = format!("a size from {} to {}", write_size(range.start()), write_size(range.end()));
    let parse = move |text: &str| parse_size(text).filter(|size| range.contains(size)).ok_or(None);
    Kind::new("size", allowed, parse, write_size).looks_like(Form::Size)
}

fn parse_size(text: &str) -> Option<usize> {
    let (digits, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let unit = match unit.trim_start() {
        "" => 1,
        unit => UNITS.iter().find(|(name, _)| *name == unit)?.1,
    };
    digits.parse::<usize>().ok()?.checked_mul(unit)
}

fn write_size(size: &usize) -> String {
    let (name, unit) =
        UNITS.into_iter().find(|(_, unit)| *size >= *unit && size.is_multiple_of(*unit)).unwrap_or(("B", 1));
    format!("{}{name}", size / unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes_are_written_as_they_are_read() {
        for text in ["0s", "2ms", "1m 30s", "7d", "1h 1ns"] {
            assert_eq!(write_time(humantime::parse_duration(text).unwrap()), text);
        }
        for text in ["0B", "1000B", "1KiB", "1536KiB", "8MiB", "2GiB"] {
            assert_eq!(write_size(&parse_size(text).unwrap()), text);
        }
        assert_eq!(parse_size("12"), Some(12));
        assert_eq!(parse_size("8 MiB"), Some(8 << 20));
        for bad in ["", "MiB", "8MB", "-1B", "1.5MiB", "99999999999999999999GiB"] {
            assert_eq!(parse_size(bad), None, "{bad}");
        }
    }

    #[test]
    fn what_is_outside_is_refused_with_what_is_inside() {
        let lease = time(Duration::from_millis(500)..=Duration::from_secs(60));
        assert_eq!(lease.parse("1ms").unwrap_err(), "allowed is a time from 500ms to 1m");
        assert_eq!(lease.parse("15").unwrap_err(), lease.parse("soon").unwrap_err());
        assert_eq!(number(1_u8..=64).parse("65").unwrap_err(), "allowed is a whole number from 1 to 64");
        assert!(number(1_u8..=64).parse("300").is_err());
        assert_eq!(fraction(0.0..=10.0).parse("NaN").unwrap_err(), "allowed is a number from 0.0 to 10.0");
        assert_eq!(switch().parse("yes").unwrap_err(), "allowed is true or false");
    }

    #[test]
    fn secrets_are_not_shown_whatever_they_are() {
        let kind = secret("a password");
        assert_eq!(
            (kind.show(&"hunter2".to_owned()), kind.show_text("hunter2")),
            (VEIL.to_owned(), VEIL.to_owned())
        );
        let kind = address("an address", |text| Ok(text.to_owned()));
        assert_eq!(kind.show_text("mysql://ada:hunter2@db/x"), "mysql://ada:***@db/x");
    }

    #[test]
    fn values_in_messages_are_short_and_have_visible_ends() {
        assert_eq!(plain("65"), "65");
        assert_eq!(plain(""), r#""""#);
        assert_eq!(plain("with space"), r#""with space""#);
        assert_eq!(plain(&"x".repeat(200)).chars().count(), 61);
    }
}
