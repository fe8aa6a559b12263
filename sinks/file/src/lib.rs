//! A sink of JSON lines, to a file or to standard output.
//!
//! Each line is one event in the structured JSON form of [CloudEvents 1.0](https://cloudevents.io):
//!
//! | attribute | what it is |
//! |---|---|
//! | `specversion` | `1.0` |
//! | `id`, `type` | the event's |
//! | `source` | `posthaste`, or what [`FileSink::source`] says |
//! | `subject` | the aggregate's id; without one, the key |
//! | `time` | when it happened; left out if it is no year from 1970 to 9999 |
//! | `datacontenttype` | the payload's content type |
//! | `data` | a JSON payload, as it was published (line breaks in it are blanks) |
//! | `data_base64` | any other payload |
//!
//! and, where the event has them, these extension attributes. Extensions are simple values with names of lower case
//! letters and digits; numbers are text because a CloudEvents integer has only 32 bits.
//!
//! | attribute | what it is |
//! |---|---|
//! | `topic` | the topic |
//! | `sequence` | the position in the log, in 19 digits so that it sorts as text |
//! | `partitionkey` | the key |
//! | `eventversion` | the version of the event's schema |
//! | `aggregatetype`, `aggregateversion` | the aggregate's type, and the event's number in the aggregate |
//! | `tenantid`, `correlationid` | the event's |
//! | `traceparent`, `tracestate` | from the headers of that name |
//! | `headers` | all headers with their own names, as a JSON object in text: names like `X-Request-Id` are none that CloudEvents allows, and changing them could make two of them one |
//!
//! **What "delivered" means.** A batch is written at once and, for a file, is on the disk (`fdatasync`) before its
//! events count as delivered, unless [`FileSink::without_sync`] says otherwise.
//!
//! **What is never there.** Half a line. If a write fails, as on a full disk, the file is cut back to what it was before
//! the batch, and the subscription waits until there is room again. If the program dies during a write, the next one
//! removes the torn last line before it appends. Only one sink writes to a file at a time: it is locked.

mod line;
mod sink;
mod target;

pub use sink::FileSink;
