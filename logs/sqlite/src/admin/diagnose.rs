//! What an SQLite file says about itself, and whether that suits an outbox.

use std::{fs, path::Path};

use posthaste_core::{Finding, Result, index_names};
use sqlx::SqliteConnection;

use crate::{bind::json, error::failed, log::Inner, migrate::MIGRATIONS, row::get, statements::Prefix};

/// A write-ahead log this large is not emptied as it should be: somebody reads for hours.
const LARGE_WAL: u64 = 256 << 20;

pub(super) async fn diagnose(log: &Inner) -> Result<Vec<Finding>> {
    let mut connection = log.admin.take().await?;
    let mut findings = file(log, &mut connection).await?;
    findings.push(indexes(log, &mut connection).await?);
    // Waits for other writers as everybody does, and changes nothing.
    match connection.begin_immediate().await {
        Ok(begun) => {
            begun.rollback().await?;
            findings.push(Finding::fine("rights", "the file can be written"));
            connection.put_back();
        }
        Err(error) => findings.push(Finding::failing(
            "rights",
            format!("the file cannot be written: {}", error.chain()),
            "give this user the right to write the file and its folder; or end who keeps it locked",
        )),
    }
    Ok(findings)
}

async fn file(log: &Inner, connection: &mut SqliteConnection) -> Result<Vec<Finding>> {
    let query = sqlx::query(log.statements.diagnose_file.clone());
    let row = query.fetch_one(connection).await.map_err(failed("look at the file"))?;
    let version: String = get(&row, 0)?;
    let mode: String = get(&row, 1)?;
    let (bytes, unused): (u64, u64) = (get(&row, 2)?, get(&row, 3)?);
    let journal = match mode.as_str() {
        "wal" => Finding::fine("journal", "write-ahead log: who reads does not stop who writes"),
        mode => Finding::failing(
            "journal",
            format!("the journal mode is {mode}: who reads stops who writes"),
            "put the file on a local disk, not on a network share, so that SQLite can keep a write-ahead log",
        ),
    };
    Ok(vec![
        Finding::fine("version", format!("SQLite {version}")),
        journal,
        size(bytes, unused),
        wal(log.source.path()),
        Finding::fine("clock", "the machine's own"),
    ])
}

fn size(bytes: u64, unused: u64) -> Finding {
    let detail = format!("{}, {} of it unused", size_text(bytes), size_text(unused));
    if unused > 100_000_000 && unused > bytes / 2 {
        return Finding::warning("size", detail, "run `vacuum` while no relay runs, if the space is needed");
    }
    Finding::fine("size", detail)
}

fn wal(file: &Path) -> Finding {
    let mut path = file.as_os_str().to_owned();
    path.push("-wal");
    let bytes = fs::metadata(Path::new(&path)).map_or(0, |found| found.len());
    let detail = format!("{} in the write-ahead log", size_text(bytes));
    if bytes > LARGE_WAL {
        let advice = "end whoever has read in one transaction for long; then the log is emptied by itself";
        return Finding::warning("held rows", detail, advice);
    }
    Finding::fine("held rows", detail)
}

async fn indexes(log: &Inner, connection: &mut SqliteConnection) -> Result<Finding> {
    let prefix = Prefix::new(&log.options.prefix)?;
    let migrations: Vec<String> =
        MIGRATIONS.iter().map(|text| text.replace("{prefix}", prefix.as_str())).collect();
    let expected = index_names(migrations.iter().map(String::as_str));
    let query = sqlx::query(log.statements.diagnose_indexes.clone()).bind(json(&expected));
    let rows = query.fetch_all(connection).await.map_err(failed("look at the indexes"))?;
    let missing: Vec<String> = rows.iter().map(|row| get(row, 0)).collect::<Result<_>>()?;
    Ok(match missing.as_slice() {
        [] => Finding::fine("indexes", format!("all {} are there", expected.len())),
        missing => Finding::failing(
            "indexes",
            format!("missing are {}", missing.join(", ")),
            "restore the file from a backup, or create them as the migrations of this version do",
        ),
    })
}

fn size_text(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{} kB", bytes / 1_000),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
    }
}

#[cfg(test)]
mod tests {
    use posthaste_core::Verdict;

    use super::*;

    #[test]
    fn a_file_that_is_mostly_unused_is_told() {
        assert_eq!(size(1_000_000_000, 600_000_000).verdict, Verdict::Warning);
        assert_eq!(size(50_000_000, 49_000_000).verdict, Verdict::Fine, "little is nothing");
        assert_eq!(size(1_500_000, 0).detail, "1.5 MB, 0 kB of it unused");
    }
}
