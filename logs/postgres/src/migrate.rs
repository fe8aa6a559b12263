//! Creating the tables and bringing them up to date, and finding out what a database has.

use std::collections::HashMap;

use posthaste_core::{Error, ErrorKind, MAX_LANES, Result};
use sqlx::{AssertSqlSafe, PgConnection, Row};

use crate::{
    error::failed,
    log::DEFAULT_LANES,
    slot::{Taken, cluster},
    statements::{Place, Statements, once},
};

/// The migrations in order; the schema version is how many of them were applied. Released ones are never edited.
pub(crate) const MIGRATIONS: [&str; 3] = [
    include_str!("../migrations/0001_outbox.sql"),
    include_str!("../migrations/0002_status.sql"),
    include_str!("../migrations/0003_jobs.sql"),
];

/// The version of the tables that this program knows.
#[expect(clippy::cast_possible_wrap, reason = "there are few migrations")]
pub(crate) const KNOWN_VERSION: i64 = MIGRATIONS.len() as i64;

/// The migrations as text, for other tools to apply: all of them, in order, ending with what says that they were applied.
pub fn migrations(schema: Option<&str>, prefix: &str, lanes: Option<u8>) -> Result<String> {
    let place = Place::new(schema, prefix)?;
    let lanes = lanes.unwrap_or(DEFAULT_LANES);
    let mut text = String::from("begin;\n\n");
    if let Some(schema) = place.schema() {
        text.push_str(&format!("create schema if not exists \"{schema}\";\n\n"));
    }
    for migration in MIGRATIONS {
        text.push_str(&filled(&place, migration, lanes));
        text.push('\n');
    }
    let meta = place.fill("insert into {meta} (name, value) values\n", &[]);
    text.push_str(&format!(
        "{meta}  ('schema_version', '{KNOWN_VERSION}'),\n  ('lanes', '{lanes}'),\n  ('system_identifier', \
         (select system_identifier::text from pg_control_system()));\n\ncommit;\n"
    ));
    Ok(text)
}

fn filled(place: &Place, migration: &str, lanes: u8) -> String {
    place.fill(migration, &[("{lanes}", &lanes.to_string())])
}

/// What a database has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) version: i64,
    pub(crate) lanes: u8,
    /// The database cluster in which the cursors mean something.
    pub(crate) cluster: String,
}

impl Layout {
    /// Reads what is there; nothing if nothing was ever migrated.
    pub(crate) async fn find(connection: &mut PgConnection, place: &Place) -> Result<Option<Self>> {
        if !exists(connection, place).await? {
            return Ok(None);
        }
        let asked = once(&Statements::of(place).meta).fetch_all(connection).await;
        let rows = asked.map_err(failed("read the layout"))?;
        let meta: HashMap<String, String> = rows
            .iter()
            .map(|row| Ok((row.try_get(0)?, row.try_get(1)?)))
            .collect::<sqlx::Result<_>>()
            .map_err(failed("read the layout"))?;
        let version = number(&meta, "schema_version")?;
        let lanes =
            u8::try_from(number(&meta, "lanes")?).ok().filter(|lanes| (1..=MAX_LANES).contains(lanes));
        let lanes = lanes.ok_or_else(|| schema("the stored number of lanes is not 1 to 64".to_owned()))?;
        let cluster = meta.get("system_identifier").cloned().unwrap_or_default();
        Ok(Some(Self { version, lanes, cluster }))
    }

    /// Whether a migration is missing.
    pub(crate) fn is_old(&self) -> bool {
        self.version < KNOWN_VERSION
    }

    /// Says what has to happen before these tables can be used with these options.
    pub(crate) fn check(self, lanes: Option<u8>) -> Result<Self> {
        if self.version > KNOWN_VERSION {
            return Err(schema(format!(
                "the tables have schema version {}, and this program knows {KNOWN_VERSION}; use a newer program",
                self.version
            )));
        }
        if self.is_old() {
            return Err(schema(format!(
                "the tables have schema version {}, and this program needs {KNOWN_VERSION}; run `posthaste migrate`",
                self.version
            )));
        }
        match lanes {
            Some(lanes) if lanes != self.lanes => Err(schema(format!(
                "the log was created with {} lanes, and {lanes} are configured; the number cannot change, because it \
                 decides where each key is",
                self.lanes
            ))),
            _ => Ok(self),
        }
    }
}

/// Applies what is missing, all of it or nothing, and answers what there is then. Several may try at once: they wait for each
/// other, and the second finds nothing to do.
pub(crate) async fn migrate(connection: &mut Taken<'_>, place: &Place, lanes: u8) -> Result<Layout> {
    let statements = Statements::of(place);
    connection.begin().await?;
    let what = format!("migrate {}.{}", place.schema().unwrap_or_default(), place.prefix());
    let locked = once(&statements.lock).bind(what).execute(&mut **connection).await;
    locked.map_err(failed("migrate"))?;
    let layout = match Layout::find(connection, place).await? {
        Some(layout) => layout,
        None => Layout { version: 0, lanes, cluster: cluster(connection).await? },
    };
    let applied = usize::try_from(layout.version).unwrap_or(usize::MAX);
    let missing = MIGRATIONS.get(applied..).unwrap_or_default();
    if let (Some(schema), 0) = (place.schema(), applied) {
        run(connection, format!("create schema if not exists \"{schema}\"")).await?;
    }
    for migration in missing {
        run(connection, filled(place, migration, layout.lanes)).await?;
    }
    let layout = Layout { version: layout.version.max(KNOWN_VERSION), ..layout };
    if !missing.is_empty() {
        record(connection, &statements, &layout).await?;
        tracing::info!(
            prefix = place.prefix(),
            version = layout.version,
            lanes = layout.lanes,
            "tables migrated"
        );
    }
    Ok(layout)
}

/// Whether there are tables. Asked for without an error, which would end the transaction.
async fn exists(connection: &mut PgConnection, place: &Place) -> Result<bool> {
    let row = once(&Statements::of(place).exists)
        .bind(place.fill("{meta}", &[]))
        .fetch_one(connection)
        .await
        .map_err(failed("look for the tables"))?;
    row.try_get(0).map_err(failed("look for the tables"))
}

async fn run(connection: &mut PgConnection, sql: String) -> Result<()> {
    // Files of this crate, with names that were checked.
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(connection).await.map_err(failed("migrate"))?;
    Ok(())
}

async fn record(connection: &mut PgConnection, statements: &Statements, layout: &Layout) -> Result<()> {
    let meta = [
        ("schema_version", layout.version.to_string()),
        ("lanes", layout.lanes.to_string()),
        ("system_identifier", layout.cluster.clone()),
    ];
    for (name, value) in meta {
        let set = once(&statements.set_meta).bind(name).bind(value);
        set.execute(&mut *connection).await.map_err(failed("migrate"))?;
    }
    Ok(())
}

/// Nothing was ever migrated.
pub(crate) fn nothing_there(place: &Place) -> Error {
    let place = match place.schema() {
        Some(schema) => format!("{:?} in the schema {schema:?}", place.prefix()),
        None => format!("{:?} on the search path", place.prefix()),
    };
    schema(format!("there are no tables with the prefix {place}; run `posthaste migrate`"))
}

fn number(meta: &HashMap<String, String>, name: &str) -> Result<i64> {
    meta.get(name)
        .and_then(|value| value.parse().ok())
        .ok_or_else(|| schema(format!("the layout says no number for {name}; the tables are damaged")))
}

fn schema(message: String) -> Error {
    Error::new(ErrorKind::Schema, message)
}
