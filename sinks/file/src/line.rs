//! One entry as one line: a CloudEvent in structured JSON form.

use posthaste_core::{Entry, Fault};
use posthaste_envelope::write_cloud_event;

/// How every line begins. A torn line is known by it.
pub(crate) const OPENING: &[u8] = br#"{"specversion":"1.0","id":""#;

/// Appends the entry's line to the buffer. If it cannot be written as one, the buffer is left as it was.
pub(crate) fn write(buffer: &mut Vec<u8>, entry: &Entry, source: &str) -> Result<(), Fault> {
    let start = buffer.len();
    write_cloud_event(buffer, entry, source)?;
    // In JSON a line break can only stand between two tokens, and there a blank means the same.
    for byte in buffer[start..].iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')) {
        *byte = b' ';
    }
    buffer.push(b'\n');
    Ok(())
}
