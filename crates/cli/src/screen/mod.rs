//! What people see: text on standard output, with colours where they help and are wanted.
//!
//! Everything that is drawn is drawn here: tables, times, progress, questions; and what programs read instead, JSON lines.

mod ask;
mod json;
mod progress;
mod table;
mod time;

use std::{
    fmt,
    io::{self, ErrorKind, IsTerminal, Write},
    time::Duration,
};

pub(crate) use self::{
    ask::confirm,
    json::{compact, json_line, json_pretty, pretty},
    progress::Progress,
    table::{Cell, Column, Table},
    time::{age, ago, moment, parse_time, stamp},
};

/// Writes to standard output. If nobody reads it any more, the program ends here, without a complaint: see [`nobody_reads`].
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush())
}

/// Writes what is beside the answer to standard error, where it does not get into a file or a pipe.
pub(crate) fn remark(text: &str) {
    // Who does not hear it does not miss the answer.
    _ = io::stderr().write_all(text.as_bytes());
}

/// Whether a command ended because its reader, such as `head`, had seen enough.
pub(crate) fn nobody_reads(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}

/// How many columns there are: those of the terminal, or of whoever says so; else more than enough.
pub(crate) fn columns() -> usize {
    const OF_A_FILE: usize = 120;
    let said = || std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok()).filter(|n| *n > 0);
    let of_terminal = || terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
    of_terminal().or_else(said).unwrap_or(OF_A_FILE)
}

/// A text in one line, without anything that a terminal would obey: what events and errors bring along is anybody's.
pub(crate) fn tame(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Whether nobody has asked for plain text (<https://no-color.org>).
pub(crate) fn colours_are_wanted() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// How standard output looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// A file, a pipe, or a terminal that shall have no colours.
    Plain,
    /// A terminal with colours.
    Coloured,
}

impl Look {
    /// As standard output is.
    pub(crate) fn of_stdout() -> Self {
        if io::stdout().is_terminal() && colours_are_wanted() { Look::Coloured } else { Look::Plain }
    }

    pub(crate) fn good<T: fmt::Display>(self, text: T) -> Painted<T> {
        self.paint("32", text)
    }

    pub(crate) fn bad<T: fmt::Display>(self, text: T) -> Painted<T> {
        self.paint("1;31", text)
    }

    pub(crate) fn warning<T: fmt::Display>(self, text: T) -> Painted<T> {
        self.paint("33", text)
    }

    pub(crate) fn strong<T: fmt::Display>(self, text: T) -> Painted<T> {
        self.paint("1", text)
    }

    pub(crate) fn faint<T: fmt::Display>(self, text: T) -> Painted<T> {
        self.paint("2", text)
    }

    fn paint<T>(self, code: &'static str, text: T) -> Painted<T> {
        Painted { code: (self == Look::Coloured).then_some(code), text }
    }
}

/// Text in a colour. Widths apply to the text, not to what makes it coloured.
pub(crate) struct Painted<T> {
    code: Option<&'static str>,
    text: T,
}

impl<T: fmt::Display> fmt::Display for Painted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(code) = self.code else { return self.text.fmt(f) };
        write!(f, "\x1b[{code}m")?;
        self.text.fmt(f)?;
        f.write_str("\x1b[0m")
    }
}

/// A number with its thousands apart.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// "1 event" or "2 events".
pub(crate) fn counted(number: u64, one: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{} {one}{ending}", grouped(number))
}

/// A time in seconds, with one digit behind the point where that says something.
pub(crate) fn seconds(time: Duration) -> String {
    if time.subsec_millis() == 0 {
        format!("{} s", time.as_secs())
    } else {
        format!("{:.1} s", time.as_secs_f64())
    }
}

/// A number of bytes, as short as it can be.
pub(crate) fn bytes(number: u64) -> String {
    const UNITS: [&str; 5] = ["B", "kB", "MB", "GB", "TB"];
    #[expect(clippy::cast_precision_loss, reason = "shown with one digit behind the point")]
    let mut value = number as f64;
    let mut unit = 0;
    while value >= 999.95 && unit + 1 < UNITS.len() {
        value /= 1_000.0;
        unit += 1;
    }
    if unit == 0 { format!("{number} B") } else { format!("{value:.1} {}", UNITS[unit]) }
}

/// Cuts a text to so many characters, and shows that it was cut.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    format!("{kept}…")
}

/// Breaks a text into lines of at most so many characters, between words where that is possible.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_counted() {
        for (number, text) in [
            (0, "0 events"),
            (1, "1 event"),
            (999, "999 events"),
            (1_000, "1,000 events"),
            (1_234_567, "1,234,567 events"),
        ] {
            assert_eq!(counted(number, "event"), text);
        }
    }

    #[test]
    fn sizes_are_short() {
        for (number, text) in
            [(0, "0 B"), (999, "999 B"), (1_000, "1.0 kB"), (999_960, "1.0 MB"), (u64::MAX, "18446744.1 TB")]
        {
            assert_eq!(bytes(number), text);
        }
    }

    #[test]
    fn what_a_terminal_would_obey_is_not_shown() {
        assert_eq!(tame("a\nb\x1b[2Jc\u{9b}d"), "a b [2Jc d");
    }

    #[test]
    fn long_texts_are_cut_at_characters() {
        assert_eq!(cut("größer", 6), "größer");
        assert_eq!(cut("größer", 4), "grö…");
    }

    #[test]
    fn texts_are_wrapped_between_words() {
        assert_eq!(wrap("one two  three", 7), ["one two", "three"]);
        assert_eq!(wrap("incomprehensibilities of words", 6), ["incomprehensibilities", "of", "words"]);
        assert!(wrap("", 6).is_empty());
    }

    #[test]
    fn colours_do_not_count_as_width() {
        assert_eq!(format!("{:>4}|", Look::Plain.bad("x")), "   x|");
        assert_eq!(format!("{:>4}|", Look::Coloured.bad("x")), "\x1b[1;31m   x\x1b[0m|");
    }
}
