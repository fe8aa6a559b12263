//! What PostgreSQL says about itself, and whether that suits an outbox.
//!
//! It is asked on connections of its own: those of the log have settings that hide the server's.

use std::time::Duration;

use posthaste_core::{Clock, Finding, Result, SystemClock, index_names};
use sqlx::{PgConnection, postgres::PgRow};

use super::count;
use crate::{
    error::failed, log::Inner, migrate::MIGRATIONS, options::Purpose, row::get, slot::Slot, statements::once,
};

/// The oldest version that has what the log needs.
const OLDEST: i32 = 130_000;

/// Whatever holds rows longer than this is told.
const LONG: f64 = 300.0;

/// A replication slot that nobody reads may keep so much.
const MUCH: i64 = 1 << 30;

/// Clocks may differ so much before anybody is told.
const SKEW: Duration = Duration::from_secs(2);

/// So many dead rows are nothing.
const FEW_ROWS: u64 = 10_000;

pub(super) async fn diagnose(log: &Inner) -> Result<Vec<Finding>> {
    let slot = Slot::new(&log.source, Purpose::Any, Some(&log.readers.cluster));
    let mut connection = slot.take().await?;
    let settings = Settings::ask(log, &mut connection).await?;
    let mut findings = settings.findings();
    findings.push(pooler(log).await?);
    findings.push(rights(log, &mut connection).await?);
    findings.push(indexes(log, &mut connection).await?);
    findings.extend(tables(log, &mut connection, settings.autovacuum).await?);
    findings.extend(holding(log, &mut connection).await?);
    connection.put_back().await?;
    Ok(findings)
}

/// What a new connection gets.
struct Settings {
    version_number: i32,
    version: String,
    fsync: bool,
    full_page_writes: bool,
    synchronous_commit: String,
    isolation: String,
    autovacuum: bool,
    max_connections: i32,
    connections: i64,
    in_recovery: bool,
    skew: Skew,
    process: i32,
    sequence_cache: i64,
}

/// How far the server's clock is ahead of this machine's, in microseconds, and how sure that is.
struct Skew {
    ahead: i64,
    unsure: i64,
}

impl Settings {
    async fn ask(log: &Inner, connection: &mut PgConnection) -> Result<Self> {
        let before = SystemClock.now();
        let query = once(&log.statements.diagnose_settings);
        let row = query.fetch_one(connection).await.map_err(failed("look at the settings"))?;
        let after = SystemClock.now();
        let half = after.0.saturating_sub(before.0) / 2;
        let skew = Skew { ahead: get::<i64>(&row, 10)?.saturating_sub(before.0 + half), unsure: half };
        Self::of(&row, skew)
    }

    fn of(row: &PgRow, skew: Skew) -> Result<Self> {
        Ok(Self {
            version_number: get(row, 0)?,
            version: get(row, 1)?,
            fsync: get(row, 2)?,
            full_page_writes: get(row, 3)?,
            synchronous_commit: get(row, 4)?,
            isolation: get(row, 5)?,
            autovacuum: get(row, 6)?,
            max_connections: get(row, 7)?,
            connections: get(row, 8)?,
            in_recovery: get(row, 9)?,
            skew,
            process: get(row, 11)?,
            sequence_cache: get(row, 12)?,
        })
    }

    fn findings(&self) -> Vec<Finding> {
        vec![
            self.version(),
            self.durability(),
            self.isolation(),
            self.autovacuum(),
            self.connections(),
            self.positions(),
            self.skew.finding(),
        ]
    }

    fn version(&self) -> Finding {
        let detail = format!("PostgreSQL {}", self.version);
        if self.version_number < OLDEST {
            return Finding::failing("version", detail, "upgrade the server to PostgreSQL 13 or newer");
        }
        if self.in_recovery {
            return Finding::failing("version", format!("{detail}, a standby"), "connect to the primary");
        }
        Finding::fine("version", detail)
    }

    fn durability(&self) -> Finding {
        let off = |name: &str| format!("{name} is off: a crash can destroy the database");
        match self {
            Settings { fsync: false, .. } => {
                Finding::failing("durability", off("fsync"), "set fsync = on, and reload the server")
            }
            Settings { full_page_writes: false, .. } => Finding::failing(
                "durability",
                off("full_page_writes"),
                "set full_page_writes = on, and reload the server",
            ),
            Settings { synchronous_commit, .. } if synchronous_commit == "off" => Finding::warning(
                "durability",
                "synchronous_commit is off: a crash takes back the last moments, events with their data",
                "set synchronous_commit = on for whoever publishes",
            ),
            _ => Finding::fine(
                "durability",
                format!("fsync on, synchronous_commit {}", self.synchronous_commit),
            ),
        }
    }

    fn isolation(&self) -> Finding {
        let detail = format!("{} by default", self.isolation);
        match self.isolation.as_str() {
            "read committed" => Finding::fine("isolation", detail),
            _ => Finding::warning(
                "isolation",
                format!("{detail}; relays use read committed all the same"),
                "publishers must be ready to repeat a transaction that cannot be serialized",
            ),
        }
    }

    fn autovacuum(&self) -> Finding {
        if self.autovacuum {
            return Finding::fine("autovacuum", "on");
        }
        Finding::warning(
            "autovacuum",
            "autovacuum or track_counts is off: space of pruned rows is never used again",
            "set autovacuum = on and track_counts = on, and reload the server",
        )
    }

    fn connections(&self) -> Finding {
        let detail = format!("{} of {} in use", self.connections, self.max_connections);
        if self.connections * 10 >= i64::from(self.max_connections) * 8 {
            let advice = "raise max_connections, or put a pooler before the applications";
            return Finding::warning("connections", detail, advice);
        }
        Finding::fine("connections", detail)
    }

    /// Two sessions that each keep numbers in store number the events of one key against their order.
    fn positions(&self) -> Finding {
        match self.sequence_cache {
            1 => Finding::fine("positions", "handed out one by one"),
            cache => Finding::failing(
                "positions",
                format!("each session takes {cache} at a time: events of one key may change their order"),
                "alter the sequence of the positions: cache 1",
            ),
        }
    }
}

impl Skew {
    fn finding(&self) -> Finding {
        let millis = |micros: i64| micros / 1_000;
        let direction = if self.ahead < 0 { "behind" } else { "ahead of" };
        let amount = millis(self.ahead.abs());
        let detail = format!(
            "the database's is {amount} ms {direction} this machine's (± {} ms)",
            millis(self.unsure) + 1
        );
        let beyond = self.ahead.unsigned_abs().saturating_sub(self.unsure.unsigned_abs());
        if u128::from(beyond) > SKEW.as_micros() {
            return Finding::warning(
                "clock",
                detail,
                "let both machines take their time from the same servers (NTP); leases and due times follow the database",
            );
        }
        Finding::fine("clock", detail)
    }
}

/// Two connections that are open at once and meet the same server process have a pooler before them. (The other way round nothing is
/// sure: a pooler may have had two free.)
async fn pooler(log: &Inner) -> Result<Finding> {
    let slots = [0, 1].map(|_| Slot::new(&log.source, Purpose::Any, Some(&log.readers.cluster)));
    let mut processes = Vec::new();
    for slot in &slots {
        let mut connection = slot.take().await?;
        processes.push(Settings::ask(log, &mut connection).await?.process);
        // It stays open, and holds nothing at the server.
        connection.put_back().await?;
    }
    let same = processes[0] == processes[1];
    Ok(match (log.source.pooler, same) {
        (false, true) => Finding::failing(
            "pooler",
            "a pooler in transaction mode stands before the database, and is not configured",
            "set database.pooler: true, or write --pooler; or connect to the server itself",
        ),
        (true, true) => Finding::fine("pooler", "in transaction mode, as configured"),
        (true, false) => Finding::fine("pooler", "configured; none was noticed"),
        (false, false) => Finding::fine("pooler", "none was noticed"),
    })
}

async fn rights(log: &Inner, connection: &mut PgConnection) -> Result<Finding> {
    let query = once(&log.statements.diagnose_rights);
    let rows = query.fetch_all(connection).await.map_err(failed("look at the rights"))?;
    let missing: Vec<String> = rows.iter().map(|row| get(row, 0)).collect::<Result<_>>()?;
    Ok(match missing.as_slice() {
        [] => Finding::fine("rights", "this role has all that a relay needs"),
        missing => Finding::failing(
            "rights",
            format!("this role lacks {}", missing.join(", ").replace('"', "")),
            "grant it what docs/postgres.md lists for a relay",
        ),
    })
}

async fn indexes(log: &Inner, connection: &mut PgConnection) -> Result<Finding> {
    let migrations: Vec<String> = MIGRATIONS.iter().map(|text| log.place.fill(text, &[])).collect();
    let expected = index_names(migrations.iter().map(String::as_str));
    let query = once(&log.statements.diagnose_indexes).bind(&expected);
    let rows = query.fetch_all(connection).await.map_err(failed("look at the indexes"))?;
    let mut bad = Vec::new();
    for row in &rows {
        let (name, is_there): (String, bool) = (get(row, 0)?, get(row, 1)?);
        bad.push(format!("{name} {}", if is_there { "is not valid" } else { "is missing" }));
    }
    Ok(match bad.as_slice() {
        [] => Finding::fine("indexes", format!("all {} are there and valid", expected.len())),
        bad => Finding::failing(
            "indexes",
            bad.join(", "),
            "reindex those that are not valid (reindex index concurrently); create what is missing as `posthaste migrate --print` has it",
        ),
    })
}

async fn tables(log: &Inner, connection: &mut PgConnection, autovacuum: bool) -> Result<Vec<Finding>> {
    let query = once(&log.statements.diagnose_tables);
    let rows = query.fetch_all(connection).await.map_err(failed("look at the tables"))?;
    let mut findings = Vec::new();
    let (mut total, mut largest) = (0, Vec::new());
    for row in &rows {
        let name: String = get(row, 0)?;
        let (bytes, dead, live) = (count(row, 1)?, count(row, 2)?, count(row, 3)?);
        total += bytes;
        if largest.len() < 3 {
            largest.push(format!("{name} {}", size_text(bytes)));
        }
        if get::<bool>(row, 4)? && autovacuum {
            findings.push(Finding::warning(
                "autovacuum",
                format!("it is off for {name}"),
                format!("alter table {name} reset (autovacuum_enabled)"),
            ));
        }
        if dead > FEW_ROWS && dead > live {
            findings.push(Finding::warning(
                "dead rows",
                format!("{name} has {dead} dead rows and {live} live ones"),
                format!("look for what holds them below, then: vacuum {name}"),
            ));
        }
    }
    let detail = format!("{} in all: {}", size_text(total), largest.join(", "));
    findings.insert(0, Finding::fine("size", detail));
    Ok(findings)
}

fn size_text(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{} kB", bytes / 1_000),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
    }
}

/// Whoever keeps rows from being removed.
async fn holding(log: &Inner, connection: &mut PgConnection) -> Result<Vec<Finding>> {
    let query = once(&log.statements.diagnose_holding);
    let rows = query.fetch_all(connection).await.map_err(failed("look at what holds rows"))?;
    let mut findings = Vec::new();
    for row in &rows {
        let (kind, name): (String, String) = (get(row, 0)?, get(row, 1)?);
        findings.extend(held_by(&kind, &name, get(row, 2)?, get(row, 3)?));
    }
    if findings.is_empty() {
        findings.push(Finding::fine(
            "held rows",
            "no long transaction, prepared transaction or idle replication slot",
        ));
    }
    Ok(findings)
}

fn held_by(kind: &str, name: &str, seconds: Option<f64>, bytes: Option<i64>) -> Option<Finding> {
    let minutes = seconds.unwrap_or_default() / 60.0;
    let is_long = seconds.is_some_and(|seconds| seconds > LONG);
    match kind {
        "transaction" if is_long => Some(Finding::warning(
            "held rows",
            format!(
                "a transaction is open for {minutes:.0} minutes: {name}; its own events wait for it, and pruned rows keep their space"
            ),
            "find out what it does; select pg_terminate_backend(process) ends it",
        )),
        "prepared" if is_long => Some(Finding::warning(
            "held rows",
            format!("transaction {name:?} is prepared for {minutes:.0} minutes, and nobody has decided it"),
            "commit prepared or rollback prepared, by its name",
        )),
        "slot" if bytes.is_some_and(|bytes| bytes > MUCH) => Some(Finding::warning(
            "held rows",
            format!(
                "nobody reads replication slot {name:?}, which keeps {} of the write-ahead log",
                size_text(bytes.unwrap_or_default().unsigned_abs())
            ),
            "start its reader, or select pg_drop_replication_slot(name)",
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use posthaste_core::Verdict;

    use super::*;

    #[test]
    fn clocks_are_compared_beyond_what_is_unsure() {
        let skew = |ahead, unsure| Skew { ahead, unsure }.finding();
        assert_eq!(skew(1_000_000, 0).verdict, Verdict::Fine);
        assert_eq!(skew(-3_000_000, 500_000).verdict, Verdict::Warning);
        assert_eq!(skew(3_000_000, 2_000_000).verdict, Verdict::Fine, "the answer took so long");
        assert!(skew(-3_000_000, 0).detail.contains("3000 ms behind"));
    }

    #[test]
    fn only_what_is_long_or_large_is_told() {
        assert!(held_by("transaction", "a", Some(299.0), None).is_none());
        let told = held_by("transaction", "process 7 of ada, idle", Some(7_200.0), None).unwrap();
        assert!(told.detail.contains("120 minutes: process 7"), "{told:?}");
        assert!(held_by("prepared", "a", Some(301.0), None).is_some());
        assert!(held_by("slot", "a", None, Some(MUCH)).is_none());
        assert!(held_by("slot", "a", None, Some(MUCH + 1)).is_some());
        assert!(held_by("slot", "a", None, None).is_none());
    }
}
