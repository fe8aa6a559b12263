//! What the process uses, as the kernel tells it; nothing where it does not.

use std::fs;

/// Forgets the peak of memory so far.
pub(crate) fn reset_peak() {
    // Documented in proc(5): 5 resets the peak resident set size. Where it fails the peak is simply older.
    _ = fs::write("/proc/self/clear_refs", "5");
}

/// The peak of resident memory since then, in MB.
pub(crate) fn peak_mb() -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: f64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kib / 1024.0)
}

/// The processor time of the process so far, in microseconds.
pub(crate) fn cpu_micros() -> Option<f64> {
    used("/proc/self/stat")
}

/// The processor time of this thread so far, in microseconds.
pub(crate) fn thread_micros() -> Option<f64> {
    used("/proc/thread-self/stat")
}

fn used(file: &str) -> Option<f64> {
    /// Linux counts processor time in hundredths of a second.
    const TICK_MICROS: f64 = 10_000.0;
    let stat = fs::read_to_string(file).ok()?;
    // The program's name, in brackets, may contain blanks; the fields begin behind it.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: f64 = fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?;
    Some(ticks * TICK_MICROS)
}
