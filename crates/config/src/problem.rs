//! What is wrong with a configuration: all of it, from top to bottom.

use std::fmt;

/// Where something was said.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// In this line of the file, from 1.
    Line(u64),
    /// In this environment variable.
    Variable(String),
    /// In none of all environment variables, where there is no file.
    Environment,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Line(line) => write!(f, "line {line}"),
            Place::Variable(name) => f.write_str(name),
            Place::Environment => f.write_str("environment"),
        }
    }
}

/// One thing that is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where it was said, or should have been.
    pub place: Place,
    /// What is wrong and what is allowed. Never a secret.
    pub text: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.text)
    }
}

/// Everything that is wrong, in the order of the file's lines, and then of the variables. Never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// Puts them in order.
    pub(crate) fn new(mut problems: Vec<Problem>) -> Self {
        problems.sort_by(|left, right| left.place.cmp(&right.place));
        Self(problems)
    }

    /// One after the other.
    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        self.0.iter()
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.len()
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}
