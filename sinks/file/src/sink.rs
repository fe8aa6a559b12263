//! The sink: writes each batch as one block of lines.

use std::{collections::HashSet, fmt, io, path::Path, sync::Arc, time::Instant};

use async_trait::async_trait;
use posthaste_core::{Delivery, Entry, Fault, Result, Sink};
use tokio::{sync::Mutex, task::spawn_blocking};

use crate::{
    line,
    target::{self, Durability, Failed, Stream, Target},
};

/// Appends events as JSON lines; see the [crate] for the form of a line.
pub struct FileSink {
    /// One batch is written at a time. The lock is taken before the blocking call, so that waiting lanes hold no thread.
    writer: Arc<Mutex<Writer>>,
    name: String,
    source: String,
    durability: Durability,
}

struct Writer {
    target: Box<dyn Target>,
    /// The lines of the batch; kept for the next one.
    buffer: Vec<u8>,
}

/// A buffer that grew beyond this is not kept: one batch of large events must not hold memory for ever.
const KEPT_BUFFER: usize = 4 * 1024 * 1024;

impl FileSink {
    /// Appends to the file, which is made if it is not there. A torn last line of an earlier run is removed.
    ///
    /// A device or a named pipe is written as [`stdout`](Self::stdout) is. Fails if the file cannot be written, if
    /// another sink writes it, or if it ends in half a line that is not an event's.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Ok(Self::new(target::open(path)?, path.display().to_string()))
    }

    /// Writes to standard output. An event counts as delivered when the operating system has taken its line.
    #[must_use]
    pub fn stdout() -> Self {
        Self::new(Box::new(Stream::new(io::stdout())), "standard output".to_owned())
    }

    fn new(target: Box<dyn Target>, name: String) -> Self {
        Self {
            writer: Arc::new(Mutex::new(Writer { target, buffer: Vec::new() })),
            name,
            source: "posthaste".to_owned(),
            durability: Durability::Disk,
        }
    }

    /// What the events name as their `source`: a URI reference, such as `https://shop.example/orders`.
    #[must_use]
    pub fn source(mut self, source: impl Into<String>) -> Self {
        self.source = source.into();
        self
    }

    /// Does not wait for the disk. Faster, and what was written in the seconds before a power loss may be lost although it
    /// counts as delivered.
    #[must_use]
    pub fn without_sync(mut self) -> Self {
        self.durability = Durability::System;
        self
    }

    fn unavailable(&self, error: &dyn fmt::Display) -> Fault {
        Fault::unavailable(format!("cannot write to {}: {error}", self.name))
    }
}

#[async_trait]
impl Sink for FileSink {
    async fn deliver(&self, batch: &[Entry], until: Instant) -> Vec<Delivery> {
        let mut writer = Arc::clone(&self.writer).lock_owned().await;
        if Instant::now() >= until {
            return vec![Delivery::NotSent; batch.len()];
        }
        let mut lines = Lines::encode(batch, &self.source, &mut writer.buffer);
        if writer.buffer.is_empty() {
            return lines.answers;
        }
        let durability = self.durability;
        // The guard goes with the work: if the relay stops waiting, the next batch still waits for this one.
        match spawn_blocking(move || writer.append(durability)).await {
            Ok(Ok(())) => lines.settle(usize::MAX, None),
            Ok(Err(failed)) => lines.settle(failed.written, Some(self.unavailable(&failed.error))),
            Err(error) => lines.settle(0, Some(self.unavailable(&error))),
        }
        lines.answers
    }

    async fn ping(&self) -> Result<(), Fault> {
        let mut writer = Arc::clone(&self.writer).lock_owned().await;
        match spawn_blocking(move || writer.target.probe()).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(self.unavailable(&error)),
            Err(error) => Err(self.unavailable(&error)),
        }
    }
}

impl fmt::Debug for FileSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileSink")
            .field("name", &self.name)
            .field("source", &self.source)
            .finish_non_exhaustive()
    }
}

impl Writer {
    fn append(&mut self, durability: Durability) -> Result<(), Failed> {
        let appended = self.target.append(&self.buffer, durability);
        self.buffer.clear();
        self.buffer.shrink_to(KEPT_BUFFER);
        appended
    }
}

/// What is said of a batch, and where its lines are in the buffer.
struct Lines {
    answers: Vec<Delivery>,
    /// For each entry with a line: its index, and where the line ends.
    ends: Vec<(usize, usize)>,
}

impl Lines {
    /// Writes the lines of a batch into the buffer. An entry that cannot be a line fails, and the rest of its key waits.
    fn encode(batch: &[Entry], source: &str, buffer: &mut Vec<u8>) -> Self {
        let mut lines =
            Self { answers: vec![Delivery::NotSent; batch.len()], ends: Vec::with_capacity(batch.len()) };
        let mut failed_keys = HashSet::new();
        buffer.clear();
        for (index, entry) in batch.iter().enumerate() {
            let key = entry.event.key.as_deref();
            if key.is_some_and(|key| failed_keys.contains(key)) {
                continue;
            }
            match line::write(buffer, entry, source) {
                Ok(()) => lines.ends.push((index, buffer.len())),
                Err(fault) => {
                    lines.answers[index] = Delivery::Failed(fault);
                    failed_keys.extend(key);
                }
            }
        }
        lines
    }

    /// Everything that ends within the written bytes is delivered. The first line behind them failed, and the others were
    /// not tried.
    fn settle(&mut self, written: usize, mut fault: Option<Fault>) {
        for &(index, end) in &self.ends {
            if end <= written {
                self.answers[index] = Delivery::Delivered;
            } else if let Some(fault) = fault.take() {
                self.answers[index] = Delivery::Failed(fault);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{io::Write, time::Duration};

    use posthaste_core::{Event, EventId, EventRules, Lane, Origin, Position, Stamp, Timestamp};

    use super::*;

    /// A pipe that breaks after so many bytes, and is repaired by setting more.
    #[derive(Clone)]
    struct Pipe(Arc<std::sync::Mutex<(usize, Vec<u8>)>>);

    impl Write for Pipe {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let (room, written) = &mut *self.0.lock().unwrap();
            let count = bytes.len().min(*room);
            *room -= count;
            written.extend(&bytes[..count]);
            if count == 0 { Err(io::ErrorKind::BrokenPipe.into()) } else { Ok(count) }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn entry(position: i64) -> Entry {
        let stamp = Stamp { id: EventId::from_bytes([1; 16]), now: Timestamp(0) };
        let draft = Event::of("a").key(position.to_string()).json(&position).unwrap();
        Entry {
            position: Position(position),
            lane: Lane(0),
            event: draft.build(&EventRules::default(), stamp).unwrap(),
            origin: Origin::Log,
            attempts: 0,
            blocked: false,
            delayed: false,
            defect: None,
        }
    }

    #[tokio::test]
    async fn a_broken_pipe_is_an_outage_and_a_torn_line_is_ended() {
        let mut one_line = Vec::new();
        line::write(&mut one_line, &entry(1), "posthaste").unwrap();
        let pipe = Pipe(Arc::new(std::sync::Mutex::new((one_line.len() + 10, Vec::new()))));
        let sink = FileSink::new(Box::new(Stream::new(pipe.clone())), "pipe".to_owned());
        let until = Instant::now() + Duration::from_secs(60);

        let answers = sink.deliver(&[entry(1), entry(2), entry(3)], until).await;
        let broken = Fault::unavailable("cannot write to pipe: broken pipe");
        assert_eq!(answers, [Delivery::Delivered, Delivery::Failed(broken.clone()), Delivery::NotSent]);
        assert_eq!(sink.ping().await, Err(broken));

        pipe.0.lock().unwrap().0 = usize::MAX;
        assert_eq!(sink.ping().await, Ok(()));
        assert_eq!(sink.deliver(&[entry(2)], until).await, [Delivery::Delivered]);
        let written = String::from_utf8(pipe.0.lock().unwrap().1.clone()).unwrap();
        let lines: Vec<_> =
            written.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()).collect();
        assert_eq!(lines, [true, false, true], "{written}");
    }
}
