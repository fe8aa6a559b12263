//! Every key that was asked for: where it is, what may stand there and what does. The documentation and `config show` are made
//! of these, so that neither can differ from what is read.

use std::fmt;

use crate::problem::Place;

/// Where a value is in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Path(Vec<Step>);

/// One step down into a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Step {
    Key(String),
    Item(usize),
}

impl Path {
    pub(crate) fn key(&self, key: &str) -> Self {
        self.with(Step::Key(key.to_owned()))
    }

    pub(crate) fn item(&self, index: usize) -> Self {
        self.with(Step::Item(index))
    }

    pub(crate) fn steps(&self) -> &[Step] {
        &self.0
    }

    fn with(&self, step: Step) -> Self {
        Self(self.0.iter().cloned().chain([step]).collect())
    }

    /// As the documentation writes it: for any item of a list.
    fn documented(&self) -> String {
        let mut text = String::new();
        for step in &self.0 {
            match step {
                Step::Key(key) if text.is_empty() => text.push_str(key),
                Step::Key(key) => text.extend([".", key]),
                Step::Item(_) => text.push_str("[]"),
            }
        }
        text
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, step) in self.0.iter().enumerate() {
            match step {
                Step::Key(key) if index == 0 => write!(f, "{key}")?,
                Step::Key(key) => write!(f, ".{key}")?,
                Step::Item(item) => write!(f, "[{item}]")?,
            }
        }
        Ok(())
    }
}

/// A key, what may stand there, and what does.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) path: Path,
    pub(crate) kind: String,
    /// What it looks like to an editor.
    pub(crate) form: Form,
    pub(crate) allowed: String,
    pub(crate) default: Absent,
    /// The value that counts, as it may be shown.
    pub(crate) value: Shown,
    /// Where it was written; none if it is only the default.
    pub(crate) written: Option<Place>,
    /// Whether not all of the value is shown.
    pub(crate) veiled: bool,
    /// Another number for another value, also where it is not shown.
    pub(crate) mark: u64,
    /// Another number for other files, where it names any.
    pub(crate) content: u64,
}

/// What values look like.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Form {
    Text,
    Switch,
    Word(Vec<&'static str>),
    Whole { least: u64, most: u64 },
    Number { least: f64, most: f64 },
    Time,
    Size,
    List(Box<Form>),
    Pairs,
}

/// What counts if a key is not written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Absent {
    /// It has to be written.
    Required,
    /// Nothing.
    Nothing,
    /// This.
    Is(String),
}

impl fmt::Display for Absent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Absent::Required => f.write_str("required"),
            Absent::Nothing => f.write_str("none"),
            Absent::Is(text) => f.write_str(text),
        }
    }
}

/// A value as it may be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    Nothing,
    Text(String),
    List(Vec<String>),
    Pairs(Vec<(String, String)>),
}

/// A key as the documentation has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Where it is: `subscriptions[].sink.file.path`.
    pub path: String,
    /// What kind of value it has.
    pub kind: String,
    /// What counts if it is not written; `required` if it has to be, `none` if nothing does.
    pub default: String,
    /// What may be written.
    pub allowed: String,
}

impl Field {
    pub(crate) fn key(&self) -> Key {
        Key {
            path: self.path.documented(),
            kind: self.kind.clone(),
            default: self.default.to_string(),
            allowed: self.allowed.clone(),
        }
    }
}
