//! Where lines go: a file that can be cut back, or a stream that cannot.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{self, Read, Seek, SeekFrom, Write},
    path::Path,
};

use posthaste_core::{Error, ErrorKind, Result};
use tracing::warn;

use crate::line::OPENING;

/// Takes whole batches of lines.
pub(crate) trait Target: Send {
    /// Appends the lines, all or none where the target can do that.
    fn append(&mut self, lines: &[u8], durability: Durability) -> Result<(), Failed>;

    /// Tells, after a failure, whether there is room again for what failed.
    fn probe(&mut self) -> io::Result<()>;
}

/// When lines count as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Durability {
    /// When the disk has them.
    Disk,
    /// When the operating system has them.
    System,
}

/// A batch that was not written, or not wholly.
#[derive(Debug)]
pub(crate) struct Failed {
    /// So many of its bytes are there for good.
    pub(crate) written: usize,
    pub(crate) error: io::Error,
}

/// Opens the path as what it is.
pub(crate) fn open(path: &Path) -> Result<Box<dyn Target>> {
    let special = path.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir());
    if special {
        let device =
            OpenOptions::new().write(true).open(path).map_err(|error| cannot("open", path, error))?;
        return Ok(Box::new(Stream::new(device)));
    }
    Ok(Box::new(LineFile::open(path)?))
}

/// A regular file. If a write fails it is cut back, at once or before anything else is written.
struct LineFile {
    file: File,
    /// The length to cut back to: set as long as there may be half a batch behind it.
    torn: Option<u64>,
    /// How many bytes could not be written the last time; that much room a probe looks for.
    missed: usize,
}

impl LineFile {
    fn open(path: &Path) -> Result<Self> {
        let new = !path.exists();
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(path)
            .map_err(|error| cannot("open", path, error))?;
        lock(&file, path)?;
        heal(&mut file, path)?;
        if new {
            sync_name(path).map_err(|error| cannot("create", path, error))?;
        }
        Ok(Self { file, torn: None, missed: 0 })
    }

    fn try_append(&mut self, lines: &[u8], durability: Durability) -> io::Result<()> {
        self.cut_back()?;
        self.torn = Some(self.file.metadata()?.len());
        self.file.write_all(lines)?;
        if durability == Durability::Disk {
            self.file.sync_data()?;
        }
        self.torn = None;
        Ok(())
    }

    fn cut_back(&mut self) -> io::Result<()> {
        if let Some(length) = self.torn {
            self.file.set_len(length)?;
            self.torn = None;
        }
        Ok(())
    }
}

impl Target for LineFile {
    fn append(&mut self, lines: &[u8], durability: Durability) -> Result<(), Failed> {
        let appended = self.try_append(lines, durability);
        self.missed = if appended.is_ok() { 0 } else { lines.len() };
        appended.map_err(|error| {
            // If even this fails, it is tried again before the next write.
            let _ = self.cut_back();
            Failed { written: 0, error }
        })
    }

    /// Writes as much as failed, and takes it back. Without this a full disk would look healthy, and what it refuses
    /// would be blamed on the event. The text is that of a torn line, in case the program dies in between.
    fn probe(&mut self) -> io::Result<()> {
        if self.missed == 0 {
            return self.cut_back();
        }
        let mut lines = vec![b' '; self.missed.max(OPENING.len())];
        lines[..OPENING.len()].copy_from_slice(OPENING);
        self.cut_back()?;
        let length = self.file.metadata()?.len();
        let probed = self.try_append(&lines, Durability::Disk);
        self.torn = Some(length);
        self.cut_back()?;
        probed
    }
}

/// Standard output, a pipe or a device: what is written is gone.
pub(crate) struct Stream<W> {
    out: W,
    /// Something failed: there may be half a line on the stream.
    torn: bool,
}

impl<W: Write> Stream<W> {
    pub(crate) fn new(out: W) -> Self {
        Self { out, torn: false }
    }

    /// Ends the torn line, so that the next one stands alone. A reader sees one broken line, or an empty one.
    fn end_line(&mut self) -> io::Result<()> {
        if self.torn {
            self.out.write_all(b"\n")?;
            self.out.flush()?;
            self.torn = false;
        }
        Ok(())
    }
}

impl<W: Write + Send> Target for Stream<W> {
    fn append(&mut self, lines: &[u8], _: Durability) -> Result<(), Failed> {
        self.end_line().map_err(|error| Failed { written: 0, error })?;
        let mut written = 0;
        while written < lines.len() {
            match self.out.write(&lines[written..]) {
                Ok(0) => return Err(self.failed(written, io::ErrorKind::WriteZero.into())),
                Ok(count) => written += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.failed(written, error)),
            }
        }
        // What a buffer still has is not written for good.
        self.out.flush().map_err(|error| self.failed(0, error))
    }

    fn probe(&mut self) -> io::Result<()> {
        self.end_line()
    }
}

impl<W> Stream<W> {
    fn failed(&mut self, written: usize, error: io::Error) -> Failed {
        self.torn = true;
        Failed { written, error }
    }
}

/// Two writers would cut each other's lines back.
fn lock(file: &File, path: &Path) -> Result<()> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(Error::new(
            ErrorKind::Refused,
            format!("{} is being written by another sink; give each its own file", path.display()),
        )),
        // Some network file systems have no locks; there it is the operator who sees to it.
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => Ok(()),
        Err(TryLockError::Error(error)) => Err(cannot("lock", path, error)),
    }
}

/// Removes a last line that was not finished, if it is one of ours.
fn heal(file: &mut File, path: &Path) -> Result<()> {
    let failed = |error| cannot("read the end of", path, error);
    let length = file.metadata().map_err(failed)?.len();
    let start = last_line(file, length).map_err(failed)?;
    if start == length {
        return Ok(());
    }
    let mut opening = Vec::new();
    file.seek(SeekFrom::Start(start)).map_err(failed)?;
    (&*file).take(OPENING.len() as u64).read_to_end(&mut opening).map_err(failed)?;
    // After a power loss a file can end in zeros where its last bytes never reached the disk.
    if !OPENING.starts_with(&opening) && opening.first() != Some(&0) {
        return Err(Error::new(
            ErrorKind::Refused,
            format!(
                "{} does not end with a line break, and its last line is no event; not touching it",
                path.display()
            ),
        ));
    }
    file.set_len(start).map_err(|error| cannot("remove the torn last line of", path, error))?;
    warn!(path = %path.display(), bytes = length - start, "removed a torn last line");
    Ok(())
}

/// Where the last line begins that has no line break; the length if there is none.
fn last_line(file: &mut File, length: u64) -> io::Result<u64> {
    const CHUNK: u64 = 64 * 1024;
    let mut end = length;
    while end > 0 {
        let start = end.saturating_sub(CHUNK);
        let mut chunk = Vec::new();
        file.seek(SeekFrom::Start(start))?;
        (&*file).take(end - start).read_to_end(&mut chunk)?;
        if let Some(at) = chunk.iter().rposition(|byte| *byte == b'\n') {
            return Ok(start + at as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

/// A new file is there for good only when its folder says so. Where folders cannot be opened, nothing can be done.
fn sync_name(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match File::open(folder) {
        Ok(folder) => folder.sync_all(),
        Err(_) => Ok(()),
    }
}

fn cannot(what: &str, path: &Path, error: io::Error) -> Error {
    Error::new(ErrorKind::Invalid, format!("cannot {what} {}", path.display())).with_source(error)
}
