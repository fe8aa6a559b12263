//! Everything that counts, as a file that could be read again; but for its secrets.

use std::fmt::Write;

use crate::field::{Field, Shown, Step};

/// What is said of each value besides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Notes {
    /// Which are only defaults.
    #[default]
    Defaults,
    /// Where each comes from: a line of the file, an environment variable, or a default.
    Origins,
}

/// The fields as YAML, each with its note.
pub(crate) fn yaml(fields: &[Field], notes: Notes) -> String {
    let rows: Vec<Row<'_>> = fields.iter().filter_map(|field| Row::of(field, notes)).collect();
    let mut text = String::new();
    render(&rows, 0, &mut text);
    text
}

/// A value, and the steps that are left to it.
struct Row<'f> {
    steps: &'f [Step],
    value: String,
    note: Option<String>,
}

impl<'f> Row<'f> {
    /// None if nothing counts.
    fn of(field: &'f Field, notes: Notes) -> Option<Self> {
        let value = match &field.value {
            Shown::Nothing => return None,
            Shown::Text(text) => scalar(text),
            Shown::List(items) => {
                format!("[{}]", items.iter().map(|item| scalar(item)).collect::<Vec<_>>().join(", "))
            }
            Shown::Pairs(pairs) => {
                let pair = |(name, value): &(String, String)| format!("{}: {}", scalar(name), scalar(value));
                format!("{{{}}}", pairs.iter().map(pair).collect::<Vec<_>>().join(", "))
            }
        };
        let note = match (&field.written, notes) {
            (None, _) => Some("default".to_owned()),
            (Some(_), Notes::Defaults) => None,
            (Some(place), Notes::Origins) => Some(place.to_string()),
        };
        Some(Self { steps: field.path.steps(), value, note })
    }

    fn below(&self) -> Self {
        Self { steps: &self.steps[1..], value: self.value.clone(), note: self.note.clone() }
    }
}

fn render(rows: &[Row<'_>], indent: usize, text: &mut String) {
    let same_step = |left: &Row<'_>, right: &Row<'_>| left.steps.first() == right.steps.first();
    for group in rows.chunk_by(same_step) {
        match group[0].steps {
            [Step::Key(key)] => {
                let note = group[0].note.as_ref().map_or(String::new(), |note| format!("  # {note}"));
                _ = writeln!(text, "{:indent$}{key}: {}{note}", "", group[0].value);
            }
            [Step::Key(key), ..] => {
                _ = writeln!(text, "{:indent$}{key}:", "");
                render(&below(group), indent + 2, text);
            }
            [Step::Item(_), ..] => {
                let begin = text.len();
                render(&below(group), indent + 2, text);
                // The first line of an item has a dash where the others have blanks.
                text.replace_range(begin + indent..begin + indent + 2, "- ");
            }
            [] => {}
        }
    }
}

fn below<'f>(group: &[Row<'f>]) -> Vec<Row<'f>> {
    group.iter().map(Row::below).collect()
}

/// A text as a YAML scalar: bare where that is safe in every place, else in quotes.
fn scalar(text: &str) -> String {
    let bare = text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '/')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_./ ".contains(c))
        && !text.ends_with(' ')
        && !matches!(text.to_ascii_lowercase().as_str(), "null");
    if bare { text.to_owned() } else { quoted(text) }
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => _ = write!(quoted, "\\u{:04x}", u32::from(c)),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_where_yaml_would_see_something_else() {
        for (text, expected) in [
            ("15s", "15s"),
            ("1m 30s", "1m 30s"),
            ("order.*", "\"order.*\""),
            ("*", "\"*\""),
            ("", "\"\""),
            ("null", "\"null\""),
            ("a: b", "\"a: b\""),
            ("say \"x\"\n", "\"say \\\"x\\\"\\u000a\""),
            ("***", "\"***\""),
        ] {
            assert_eq!(scalar(text), expected);
        }
    }
}
