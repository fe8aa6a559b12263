//! What people see: text on standard output, with colours where they help and are wanted.

use std::{
    fmt,
    io::{self, ErrorKind, IsTerminal, Write},
    time::Duration,
};

/// Writes to standard output. A reader that has gone away has seen enough.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
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
