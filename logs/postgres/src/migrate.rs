//! Creating the tables and bringing them up to date, and finding out what a database has.

use std::collections::HashMap;

use posthaste_core::{
    Error, Result,
    driver::{Layout, unusable},
};
use sqlx::{AssertSqlSafe, PgConnection, Row};

use crate::{
    error::failed,
    log::DEFAULT_LANES,
    slot::{Taken, cluster},
    statements::{Place, Statements, once},
};

/// The migrations in order; the schema version is how many of them were applied. Released ones are never edited.
pub(crate) const MIGRATIONS: [&str; 4] = [
    include_str!("../migrations/0001_outbox.sql"),
    include_str!("../migrations/0002_status.sql"),
    include_str!("../migrations/0003_jobs.sql"),
    include_str!("../migrations/0004_groups.sql"),
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
pub(crate) struct Found {
    pub(crate) layout: Layout,
    /// The database cluster in which the cursors mean something.
    pub(crate) cluster: String,
}

impl Found {
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
        let cluster = meta.get("system_identifier").cloned().unwrap_or_default();
        Ok(Some(Self { layout: Layout::of(&meta)?, cluster }))
    }
}

/// Applies what is missing, all of it or nothing, and answers what there is then. Several may try at once: they wait for each
/// other, and the second finds nothing to do.
pub(crate) async fn migrate(connection: &mut Taken<'_>, place: &Place, lanes: u8) -> Result<Found> {
    let statements = Statements::of(place);
    connection.begin().await?;
    let what = format!("migrate {}.{}", place.schema().unwrap_or_default(), place.prefix());
    let locked = once(&statements.lock).bind(what).execute(&mut **connection).await;
    locked.map_err(failed("migrate"))?;
    let Found { layout, cluster } = match Found::find(connection, place).await? {
        Some(found) => found,
        None => Found { layout: Layout { version: 0, lanes }, cluster: cluster(connection).await? },
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
    let found = Found { layout, cluster };
    if !missing.is_empty() {
        record(connection, &statements, &found).await?;
        tracing::info!(
            prefix = place.prefix(),
            version = layout.version,
            lanes = layout.lanes,
            "tables migrated"
        );
    }
    Ok(found)
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

async fn record(connection: &mut PgConnection, statements: &Statements, found: &Found) -> Result<()> {
    let meta = [
        ("schema_version", found.layout.version.to_string()),
        ("lanes", found.layout.lanes.to_string()),
        ("system_identifier", found.cluster.clone()),
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
    unusable(format!("there are no tables with the prefix {place}; run `posthaste migrate`"))
}

#[cfg(test)]
mod tests {
    use sqlx::ConnectOptions;

    use super::*;
    use crate::options::{PostgresOptions, Purpose, Source};

    /// Who waits for the lock has looked before, and a server process remembers that there was nothing.
    #[tokio::test]
    async fn tables_that_somebody_made_meanwhile_are_seen() {
        const SCHEMA: &str = "t_made_meanwhile";
        let place = Place::new(Some(SCHEMA), "outbox").unwrap();
        let source = Source::parse(&posthaste_services::postgres_url(), &PostgresOptions::default()).unwrap();
        let mut looks = source.connect_options(Purpose::Relaying).connect().await.unwrap();
        let mut makes = source.connect_options(Purpose::Relaying).connect().await.unwrap();
        run(&mut makes, format!("drop schema if exists {SCHEMA} cascade")).await.unwrap();

        run(&mut looks, "begin".to_owned()).await.unwrap();
        assert!(!exists(&mut looks, &place).await.unwrap());
        run(&mut makes, format!("create schema {SCHEMA}; create table {SCHEMA}.outbox_meta ()"))
            .await
            .unwrap();
        assert!(exists(&mut looks, &place).await.unwrap());

        run(&mut makes, format!("drop schema {SCHEMA} cascade")).await.unwrap();
    }
}
