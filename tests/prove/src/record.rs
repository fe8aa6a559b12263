//! What a publisher writes down: one line of JSON for each transaction, when its end is known.

use std::{
    fs::File,
    io::{BufRead, BufReader, LineWriter, Write},
    path::Path,
};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

/// A transaction, with the ids of its events.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Transaction {
    pub(crate) end: End,
    pub(crate) ids: Vec<String>,
    /// Ids of events in it that were undone by a savepoint.
    pub(crate) undone: Vec<String>,
}

/// How a transaction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum End {
    /// The database said so.
    Committed,
    /// On purpose, or because the database refused something before the commit.
    RolledBack,
    /// The answer to the commit was lost; only the table knows.
    Unknown,
}

/// A publisher's book.
pub(crate) struct Book(LineWriter<File>);

impl Book {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Self(LineWriter::new(file)))
    }

    pub(crate) fn write(&mut self, transaction: &Transaction) -> Result<()> {
        serde_json::to_writer(&mut self.0, transaction)?;
        self.0.write_all(b"\n").context("cannot write the book")
    }
}

/// All that a publisher has written down.
pub(crate) fn read(path: &Path) -> Result<Vec<Transaction>> {
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    BufReader::new(file)
        .lines()
        .map(|line| serde_json::from_str(&line?).with_context(|| format!("{} is torn", path.display())))
        .collect()
}
