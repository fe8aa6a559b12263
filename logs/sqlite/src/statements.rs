//! The SQL of the log: one statement a file in `sql/`, made ready once for each prefix.
//!
//! This is the only place where text becomes SQL. It takes files of this crate, and puts into them nothing but a prefix
//! that was checked and column lists from below. Values are always bound.

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock, Mutex, PoisonError},
};

use posthaste_core::{Error, Result};
use sqlx::{AssertSqlSafe, SqlSafeStr, SqlStr};

/// The columns of an event wherever one is stored, in the order in which they are bound.
const EVENT: &str = "id, key, event_type, event_version, topic, aggregate_type, aggregate_id, version, tenant_id, \
     content_type, headers, correlation_id, idempotency_key, deliver_after, retry, occurred_at, checked, payload";

/// How many columns that is.
const EVENT_COLUMNS: usize = 18;

/// Everything about an entry but its position and payload, in the order of [`Facts`](crate::row::Facts).
const FACTS: &str = "lane, hex(id), key, event_type, nullif(event_version, '1.0.0'), topic, aggregate_type, aggregate_id, \
     version, tenant_id, nullif(content_type, 'application/json'), headers, correlation_id, idempotency_key, \
     deliver_after, retry, occurred_at, checked";

/// What several statements have in common.
const PARTS: [(&str, &str); 4] = [
    ("{event_fits}", include_str!("../parts/event_fits.sql")),
    ("{dead_fits}", include_str!("../parts/dead_fits.sql")),
    ("{dead_look}", include_str!("../parts/dead_look.sql")),
    ("{wanted}", include_str!("../parts/wanted.sql")),
];

/// A part without its first lines, which say what it is.
fn code(part: &str) -> String {
    let lines: Vec<&str> = part.lines().skip_while(|line| line.starts_with("--")).collect();
    lines.join("\n")
}

/// A prefix that is safe inside quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Prefix(String);

impl Prefix {
    pub(crate) fn new(text: &str) -> Result<Self> {
        let allowed = |(index, c): (usize, char)| match c {
            'a'..='z' | '_' => true,
            '0'..='9' => index > 0,
            _ => false,
        };
        let fits = (1..=41).contains(&text.len()) && text.chars().enumerate().all(allowed);
        if fits && !text.starts_with("sqlite_") {
            return Ok(Self(text.to_owned()));
        }
        Err(Error::invalid(format!(
            "table prefix {text:?} is not allowed; use a lower-case letter or '_', then up to 40 lower-case letters, \
             digits or '_', and not sqlite_"
        )))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// A text of this crate as SQL for the tables of this prefix.
    pub(crate) fn sql(&self, text: &str) -> SqlStr {
        self.fill(text, &[])
    }

    /// As [`sql`](Self::sql), with more placeholders and what this crate puts in their place.
    pub(crate) fn fill(&self, text: &str, values: &[(&str, &str)]) -> SqlStr {
        let inbox = if self.0 == "outbox" { "inbox".to_owned() } else { format!("{}_inbox", self.0) };
        let mut text = text.replace("{prefix}", &self.0).replace("{inbox}", &inbox);
        for (name, part) in PARTS {
            text = text.replace(name, &code(part).replace("{prefix}", &self.0));
        }
        for (name, value) in [("{event}", EVENT), ("{facts}", FACTS)].iter().chain(values) {
            text = text.replace(name, value);
        }
        AssertSqlSafe(Arc::<str>::from(text)).into_sql_str()
    }
}

/// A statement with any number of rows, ready for a few numbers of them, so that few statements are kept prepared.
pub(crate) struct ManyRows([(usize, SqlStr); 3]);

impl ManyRows {
    fn new(prefix: &Prefix, text: &str, columns: usize) -> Self {
        let row = format!("({})", vec!["?"; columns].join(", "));
        let sized = |rows: usize| {
            let rows_text = vec![row.as_str(); rows].join(", ");
            (rows, prefix.fill(text, &[("{rows}", &rows_text)]))
        };
        // 64 rows of 27 columns stay far below SQLite's 32,766 bound values.
        Self([64, 8, 1].map(sized))
    }

    /// The rows in chunks, each with a statement for as many.
    pub(crate) fn chunks<'r, T>(&self, mut rows: &'r [T]) -> Vec<(SqlStr, &'r [T])> {
        let mut chunks = Vec::new();
        for (size, sql) in &self.0 {
            while rows.len() >= *size {
                let (chunk, rest) = rows.split_at(*size);
                chunks.push((sql.clone(), chunk));
                rows = rest;
            }
        }
        chunks
    }

    /// The smallest statement that has room for as many rows, and how many rows it has; the largest if none has.
    pub(crate) fn with_room_for(&self, rows: usize) -> (SqlStr, usize) {
        let [largest, ..] = &self.0;
        let (size, sql) = self.0.iter().rev().find(|(size, _)| *size >= rows).unwrap_or(largest);
        (sql.clone(), *size)
    }

    #[cfg(test)]
    pub(crate) fn single(&self) -> SqlStr {
        self.0[2].1.clone()
    }
}

macro_rules! statements {
    ($($name:ident),* $(,)? ; $($many:ident: $columns:expr),* $(,)?) => {
        /// All statements, ready for one prefix. Each is named as its file.
        pub(crate) struct Statements {
            $(pub(crate) $name: SqlStr,)*
            $(pub(crate) $many: ManyRows,)*
        }

        impl Statements {
            pub(crate) fn new(prefix: &Prefix) -> Self {
                Self {
                    $($name: prefix.sql(include_str!(concat!("../sql/", stringify!($name), ".sql"))),)*
                    $($many: ManyRows::new(
                        prefix,
                        include_str!(concat!("../sql/", stringify!($many), ".sql")),
                        $columns,
                    ),)*
                }
            }

            /// Every statement under its name.
            #[cfg(test)]
            pub(crate) fn all(&self) -> Vec<(&'static str, SqlStr)> {
                vec![
                    $((stringify!($name), self.$name.clone()),)*
                    $((stringify!($many), self.$many.single()),)*
                ]
            }
        }
    };
}

statements! {
    advance_job, ahead, audit, cancel_job, census, change_subscription, clear_parked, count_dead, count_jobs,
    create_subscription, dead_groups, dead_letters, dead_looked, dead_span, diagnose_file, diagnose_indexes, doorbell, draw_versions,
    drop_lines, drop_parked, drop_subscription, due_job, edge_dead, edge_parked, edit, enrol, expire_relays,
    extent, find_dead, find_duplicate, find_event, find_ids, find_job, find_lines, find_statistics,
    find_subscription, first_lines, foresee_again, foresee_skipped, forget_samples, forget_statistics,
    has_statistics, holders, is_paused, job_batch, journal_act, journal_dead, journal_delivered,
    journal_failed, journal_of, journal_resolved, keep_as_stored, last_position, latest_jobs, leave,
    list_dead, list_log, list_oldest, list_parked, list_word, meta, names, orphaned_events, orphaned_parked,
    passing_line, position_at, prune_dead, prune_events, prune_jobs, prune_journal, prune_lines, read,
    read_parked, remember_numbers, renew, replay, reset_dead, reset_lines, reset_parked, resolve, select_dead,
    set_meta, set_paused, start_job, status_lanes, status_log, status_minute, status_relays,
    status_subscriptions, statuses, summaries, unpark;
    append_lines: 7, bury: EVENT_COLUMNS + 9, park: EVENT_COLUMNS + 9, publish: EVENT_COLUMNS,
}

impl Statements {
    /// The statements for a prefix, from the cache: a transaction of the application's brings only the prefix with it.
    pub(crate) fn of(prefix: &str) -> Result<Arc<Self>> {
        static READY: LazyLock<Mutex<HashMap<String, Arc<Statements>>>> = LazyLock::new(Mutex::default);
        /// Prefixes come from configuration, so there are few; an application that makes them up pays for it.
        const KEPT: usize = 64;

        let mut ready = READY.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(statements) = ready.get(prefix) {
            return Ok(Arc::clone(statements));
        }
        let statements = Arc::new(Self::new(&Prefix::new(prefix)?));
        if ready.len() < KEPT {
            ready.insert(prefix.to_owned(), Arc::clone(&statements));
        }
        Ok(statements)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_harmless_prefixes_become_sql() {
        for good in ["outbox", "_", "a1_b2", "order", &"x".repeat(41)] {
            assert!(Prefix::new(good).is_ok(), "{good}");
        }
        for bad in ["", "1a", "Outbox", "out box", "a\"b", "a;b", "ü", "sqlite_x", "a.b", &"x".repeat(42)] {
            let error = Prefix::new(bad).unwrap_err();
            assert!(error.to_string().contains("table prefix"), "{error}");
        }
    }

    #[test]
    fn every_file_is_a_statement_without_placeholders_left() {
        let statements = Statements::new(&Prefix::new("shop").unwrap()).all();
        let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/sql")).unwrap().count();

        assert_eq!(statements.len(), files, "each file in sql/ is used");
        for (name, sql) in statements {
            for placeholder in
                ["{prefix}", "{event", "{facts}", "{rows}", "{lanes}", "{inbox}", "{dead_", "{wanted}"]
            {
                assert!(!sql.as_str().contains(placeholder), "{name} still has {placeholder}");
            }
            assert_eq!(
                sql.as_str().matches(';').count() - comments(sql.as_str()).matches(';').count(),
                1,
                "{name}"
            );
        }
    }

    fn comments(sql: &str) -> String {
        sql.lines().filter(|line| line.trim_start().starts_with("--")).collect()
    }

    #[test]
    fn rows_are_cut_into_the_sizes_that_are_ready() {
        let many = ManyRows::new(&Prefix::new("a").unwrap(), "values {rows}", 2);
        let rows = [0; 82];

        let sizes: Vec<usize> = many.chunks(&rows).into_iter().map(|(_, chunk)| chunk.len()).collect();

        assert_eq!(sizes, [64, 8, 8, 1, 1]);
        assert_eq!([1, 2, 8, 9, 64].map(|rows| many.with_room_for(rows).1), [1, 8, 8, 64, 64]);
        assert_eq!(many.single().as_str(), "values (?, ?)");
    }
}
