//! The SQL of the log: one statement a file in `sql/`, made ready once for each place where tables are.
//!
//! This is the only place where text becomes SQL. It takes files of this crate, and puts into them nothing but names that were
//! checked and column lists from below. Values are always bound.

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock, Mutex, PoisonError},
};

use posthaste_core::{Error, Result};
use sqlx::{AssertSqlSafe, SqlSafeStr, SqlStr};

/// The columns of an event wherever one is stored.
const EVENT: &str = "id, key, event_type, event_version, topic, aggregate_type, aggregate_id, version, tenant_id, \
     content_type, headers, correlation_id, idempotency_key, deliver_after, retry, occurred_at, checked, payload, \
     payload_bytes";

/// The same columns, taken from a [`Record`](crate::record::Record) under the name `e`.
const FROM_RECORD: &str = "e.id, e.key, e.event_type, e.event_version, e.topic, e.aggregate_type, e.aggregate_id, e.version, \
     e.tenant_id, e.content_type, e.headers, e.correlation_id, e.idempotency_key, \
     timestamptz 'epoch' + e.deliver_after * interval '1 microsecond', e.retry, \
     timestamptz 'epoch' + e.occurred_at * interval '1 microsecond', e.checked, e.payload, \
     decode(e.payload_base64, 'base64')";

/// The columns of a [`Record`](crate::record::Record) as a definition list.
const RECORD: &str = "id uuid, key text, event_type text, event_version text, topic text, aggregate_type text, \
     aggregate_id text, version bigint, tenant_id text, content_type text, headers text, correlation_id text, \
     idempotency_key text, deliver_after bigint, retry text, occurred_at bigint, checked boolean, payload text, \
     payload_base64 text";

/// The columns of an entry behind its position and lane, of a table or alias `o`, in the order in which [`entry`](crate::row::entry) reads them.
const ENTRY: &str = "o.id, o.key, o.event_type, nullif(o.event_version, '1.0.0'), o.topic, \
     o.aggregate_type, o.aggregate_id, o.version, o.tenant_id, nullif(o.content_type, 'application/json'), o.headers, \
     o.correlation_id, o.idempotency_key, o.deliver_after, o.retry, o.occurred_at, o.checked, {payload}";

/// The payload of a table or alias `o`, in three columns: text, bytes, size. What is over the limit is not loaded, and neither of two.
const PAYLOAD: &str = "case when o.payload_bytes is null and octet_length(o.payload) <= {limit} then o.payload end, \
     case when o.payload_bytes is not null and o.payload = '' and octet_length(o.payload_bytes) <= {limit} then o.payload_bytes end, \
     coalesce(octet_length(o.payload_bytes), octet_length(o.payload))";

/// What several statements have in common.
const PARTS: [(&str, &str); 7] = [
    ("{insert_one}", include_str!("../parts/insert_one.sql")),
    ("{standing_columns}", include_str!("../parts/standing.sql")),
    ("{blocked}", include_str!("../parts/blocked.sql")),
    ("{event_fits}", include_str!("../parts/event_fits.sql")),
    ("{dead_fits}", include_str!("../parts/dead_fits.sql")),
    ("{dead_counted}", include_str!("../parts/dead_counted.sql")),
    ("{dead_look}", include_str!("../parts/dead_look.sql")),
];

/// SQL without its first lines, which say what it is.
fn code(sql: &str) -> String {
    let lines: Vec<&str> = sql.lines().skip_while(|line| line.starts_with("--")).collect();
    lines.join("\n")
}

/// Where the tables of one log are: a schema, or whatever the search path says, and what their names begin with.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    schema: Option<String>,
    prefix: String,
}

impl Place {
    /// Checks that both are harmless inside quotes.
    pub fn new(schema: Option<&str>, prefix: &str) -> Result<Self> {
        let schema = schema.map(|schema| check("schema", schema)).transpose()?;
        Ok(Self { schema, prefix: check("table prefix", prefix)? })
    }

    /// What the names of the tables begin with.
    #[must_use]
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The schema, if one is set.
    #[must_use]
    pub fn schema(&self) -> Option<&str> {
        self.schema.as_deref()
    }

    /// A table, sequence or function of the log, quoted.
    fn name(&self, suffix: &str) -> String {
        let name = match (suffix, self.prefix.as_str()) {
            ("", prefix) => prefix.to_owned(),
            // The default inbox is for everybody to find.
            ("inbox" | "inbox_versions", "outbox") => suffix.to_owned(),
            (suffix, prefix) => format!("{prefix}_{suffix}"),
        };
        match &self.schema {
            Some(schema) => format!("\"{schema}\".\"{name}\""),
            None => format!("\"{name}\""),
        }
    }

    /// A text of this crate as text for these tables.
    pub(crate) fn fill(&self, text: &str, values: &[(&str, &str)]) -> String {
        let mut text = text.to_owned();
        for (name, value) in values {
            text = text.replace(name, value);
        }
        for (name, part) in PARTS {
            text = text.replace(name, &code(part));
        }
        for (name, value) in [
            ("{event}", EVENT),
            ("{from_record}", FROM_RECORD),
            ("{record}", RECORD),
            ("{entry}", ENTRY),
            ("{payload}", PAYLOAD),
        ] {
            text = text.replace(name, value);
        }
        for (name, suffix) in NAMES {
            text = text.replace(name, &self.name(suffix));
        }
        text.replace("{prefix}", &self.prefix).replace("{limit}", "$1")
    }

    /// A text of this crate as SQL for these tables, without what is said about it.
    pub(crate) fn sql(&self, text: &str) -> SqlStr {
        AssertSqlSafe(Arc::<str>::from(self.fill(&code(text), &[]))).into_sql_str()
    }
}

/// How the statements name tables, sequences, views, functions and types, and what their real names end with.
const NAMES: [(&str, &str); 27] = [
    ("{log}", ""),
    ("{positions}", "position_seq"),
    ("{meta}", "meta"),
    ("{snapshots}", "snapshots"),
    ("{snapshot_numbers}", "snapshot_numbers"),
    ("{incarnation}", "incarnation"),
    ("{subscriptions}", "subscriptions"),
    ("{relays}", "relays"),
    ("{lines}", "lines"),
    ("{parked}", "parked"),
    ("{dead}", "dead"),
    ("{dead_open}", "dead_open"),
    ("{journal}", "journal"),
    ("{jobs}", "jobs"),
    ("{sequences}", "sequences"),
    ("{inbox}", "inbox"),
    ("{inbox_versions}", "inbox_versions"),
    ("{cursors}", "cursors"),
    ("{ahead}", "ahead"),
    ("{wanted}", "wanted"),
    ("{standing}", "standing"),
    ("{status}", "status"),
    ("{passed}", "passed"),
    ("{uncheck}", "uncheck"),
    ("{lane}", "lane"),
    ("{new_id}", "new_id"),
    ("{name}", "name"),
];

fn check(what: &str, text: &str) -> Result<String> {
    let allowed = |(index, c): (usize, char)| match c {
        'a'..='z' | '_' => true,
        '0'..='9' => index > 0,
        _ => false,
    };
    // PostgreSQL cuts names at 63 bytes; the longest ending has room behind 40.
    if (1..=40).contains(&text.len()) && text.chars().enumerate().all(allowed) && !text.starts_with("pg_") {
        return Ok(text.to_owned());
    }
    Err(Error::invalid(format!(
        "{what} {text:?} is not allowed; use a lower-case letter or '_', then up to 39 lower-case letters, digits or '_', \
         and not pg_"
    )))
}

/// A statement with values bound to it.
pub(crate) type Bound<'q> = sqlx::query::Query<'q, sqlx::Postgres, sqlx::postgres::PgArguments>;

/// A statement that is not kept ready on its connection, because it is needed seldom.
pub(crate) fn once(sql: &SqlStr) -> Bound<'static> {
    sqlx::query(sql.clone()).persistent(false)
}

macro_rules! statements {
    ($($name:ident),* $(,)?) => {
        /// All statements, ready for one place. Each is named as its file.
        pub(crate) struct Statements {
            $(pub(crate) $name: SqlStr,)*
        }

        impl Statements {
            pub(crate) fn new(place: &Place) -> Self {
                Self { $($name: place.sql(include_str!(concat!("../sql/", stringify!($name), ".sql"))),)* }
            }

            /// Every statement under its name.
            #[cfg(test)]
            pub(crate) fn all(&self) -> Vec<(&'static str, SqlStr)> {
                vec![$((stringify!($name), self.$name.clone()),)*]
            }
        }
    };
}

statements! {
    adopt_events, adopt_history, adopt_lines, adopt_starts, advance_job, ahead, append_lines, audit, batch,
    batch_late, bury, cancel_job, census, change_subscription, clear_parked, count_dead, count_jobs,
    create_subscription, dead_groups, dead_letters, dead_looked, dead_resolution, dead_span, diagnose_holding, diagnose_indexes, diagnose_rights,
    diagnose_settings, diagnose_tables, draw_versions, drop_lines,
    drop_parked, drop_subscription, due_job, edge_dead, edge_parked, edit, enrol, exists, expire_relays, extent,
    find_dead, find_duplicates, find_event, find_ids, find_job, find_lines, find_subscription, first_lines,
    foresee_again, foresee_dead, foresee_skipped, forget_incarnation, forget_snapshots, holders, incarnate,
    is_paused, job_batch, journal_act, journal_of, journal_resolved, keep_snapshot, latest_jobs, leave,
    list_dead, list_log, list_oldest, list_parked, list_pending, list_word, live_relays, lock, lock_lines, meta,
    names, now, open, orphaned_events, orphaned_parked, park, passing_line, position_at, prune_dead,
    prune_events, prune_jobs, prune_journal, prune_lines, prune_snapshots, publish, publish_one, publish_one_and_ask, read_parked,
    remember_numbers, renew, replay, reset_dead, reset_lines, reset_parked, resolve, select_dead, set_meta,
    set_paused, standing, start_job, status_lanes, status_log, status_minute, status_relays,
    status_subscriptions, statuses, summaries, take_snapshot, unpark, wake,
}

impl Statements {
    /// The statements for a place, from the cache: a transaction of the application's brings only the place with it.
    pub(crate) fn of(place: &Place) -> Arc<Self> {
        static READY: LazyLock<Mutex<HashMap<Place, Arc<Statements>>>> = LazyLock::new(Mutex::default);
        /// Places come from configuration, so there are few; an application that makes them up pays for it.
        const KEPT: usize = 64;

        let mut ready = READY.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(statements) = ready.get(place) {
            return Arc::clone(statements);
        }
        let statements = Arc::new(Self::new(place));
        if ready.len() < KEPT {
            ready.insert(place.clone(), Arc::clone(&statements));
        }
        statements
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_harmless_names_become_sql() {
        for good in ["outbox", "_", "a1_b2", "order", &"x".repeat(40)] {
            assert!(Place::new(Some(good), good).is_ok(), "{good}");
        }
        for bad in ["", "1a", "Outbox", "out box", "a\"b", "a;b", "ü", "pg_x", "a.b", &"x".repeat(41)] {
            let error = Place::new(None, bad).unwrap_err();
            assert!(error.to_string().contains("table prefix"), "{error}");
            let error = Place::new(Some(bad), "outbox").unwrap_err();
            assert!(error.to_string().contains("schema"), "{error}");
        }
    }

    #[test]
    fn every_file_is_a_statement_without_placeholders_left() {
        let statements = Statements::new(&Place::new(Some("shop"), "orders").unwrap()).all();
        let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/sql")).unwrap().count();

        assert_eq!(statements.len(), files, "each file in sql/ is used");
        for (name, sql) in statements {
            let code: String =
                sql.as_str().lines().filter(|line| !line.trim_start().starts_with("--")).collect();
            assert!(!code.contains('{'), "{name} still has a placeholder: {code}");
            assert_eq!(code.matches(';').count(), 1, "{name}");
        }
    }
}
