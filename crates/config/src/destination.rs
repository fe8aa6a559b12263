//! `sink`: where a subscription delivers.

use std::{fmt, path::PathBuf, sync::Arc};

use posthaste::{FileSink, Result, Sink};
use posthaste_kafka::{KafkaOptions, KafkaSink};

use crate::{kafka, kind, section::Section};

/// Where events go.
#[derive(Clone, Debug)]
pub enum Destination {
    /// Topics of Apache Kafka.
    Kafka(Box<KafkaOptions>),
    /// JSON lines to standard output.
    Stdout {
        /// What the events name as their source.
        source: String,
    },
    /// JSON lines to a file.
    File {
        /// The file; it is made if it is not there.
        path: PathBuf,
        /// Whether an event counts as delivered only when the disk has it.
        sync: bool,
        /// What the events name as their source.
        source: String,
    },
}

/// What events name as their source, unless told otherwise.
pub const DEFAULT_SOURCE: &str = "posthaste";

impl Destination {
    /// Makes the sink. Whether the other side answers is not tried.
    pub fn open(&self) -> Result<Arc<dyn Sink>> {
        Ok(match self {
            Destination::Kafka(options) => Arc::new(KafkaSink::new(options)?),
            Destination::Stdout { source } => Arc::new(FileSink::stdout().source(source)),
            Destination::File { path, sync: true, source } => {
                Arc::new(FileSink::create(path)?.source(source))
            }
            Destination::File { path, sync: false, source } => {
                Arc::new(FileSink::create(path)?.source(source).without_sync())
            }
        })
    }

    /// What only one sink can write to, if this writes to such a thing.
    pub(crate) fn exclusive(&self) -> Option<String> {
        match self {
            Destination::Kafka(_) => None,
            Destination::Stdout { .. } => Some("standard output".to_owned()),
            Destination::File { path, .. } => Some(path.display().to_string()),
        }
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Destination::Kafka(options) => write!(f, "kafka:{}/{}", options.brokers, options.topic),
            Destination::Stdout { .. } => f.write_str("stdout"),
            Destination::File { path, .. } => write!(f, "file:{}", path.display()),
        }
    }
}

/// Reads `sink`: exactly one of the kinds.
pub(crate) fn read(section: Section<'_>) -> Option<Destination> {
    const KINDS: &str = "kafka, file or stdout";
    let found: Vec<(&str, Option<Destination>)> = [
        section.section_if_written("kafka").map(|section| ("kafka", kafka::read(section))),
        section.section_if_written("file").map(|section| ("file", read_file(section))),
        section.section_if_written("stdout").map(|section| ("stdout", read_stdout(section))),
    ]
    .into_iter()
    .flatten()
    .collect();
    let destination = match found.as_slice() {
        [(_, destination)] => destination.clone(),
        [] => {
            if section.is_fine() && section.is_empty() {
                section.problem_itself(format!("is empty; allowed is one of {KINDS}"));
            }
            None
        }
        several => {
            let names: Vec<&str> = several.iter().map(|(name, _)| *name).collect();
            section.problem_itself(format!("has {}; allowed is one of {KINDS}", names.join(" and ")));
            None
        }
    };
    section.end();
    destination
}

fn read_file(section: Section<'_>) -> Option<Destination> {
    let path = section.required("path", &kind::text("the path of a file"));
    let sync = section.or("sync", &kind::switch(), true);
    let source = read_source(&section);
    section.end();
    Some(Destination::File { path: path?.into(), sync, source })
}

#[expect(clippy::unnecessary_wraps, reason = "as the other kinds")]
fn read_stdout(section: Section<'_>) -> Option<Destination> {
    let source = read_source(&section);
    section.end();
    Some(Destination::Stdout { source })
}

pub(crate) fn read_source(section: &Section<'_>) -> String {
    section.or(
        "source",
        &kind::text("a URI reference, such as https://shop.example/orders"),
        DEFAULT_SOURCE.to_owned(),
    )
}
