//! Creating the tables and bringing them up to date, and finding out what a file has.

use std::collections::HashMap;

use posthaste_core::{
    Error, Result,
    driver::{Layout, unusable},
};
use sqlx::{Row, SqliteConnection};

use crate::{
    error::{failed, is_missing},
    slot::Taken,
    statements::{Prefix, Statements},
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

/// How the tables are laid out; another layout under the same names is for another program.
const LAYOUT: &str = "sqlite";

/// Reads what a file has; nothing if nothing was ever migrated.
pub(crate) async fn find_layout(
    connection: &mut SqliteConnection,
    statements: &Statements,
) -> Result<Option<Layout>> {
    let rows = match sqlx::query(statements.meta.clone()).fetch_all(connection).await {
        Ok(rows) => rows,
        Err(sqlx::Error::Database(error)) if is_missing(error.message()) => return Ok(None),
        Err(error) => return Err(failed("read the layout")(error)),
    };
    let meta: HashMap<String, String> = rows
        .iter()
        .map(|row| Ok((row.try_get(0)?, row.try_get(1)?)))
        .collect::<sqlx::Result<_>>()
        .map_err(failed("read the layout"))?;
    if let Some(layout) = meta.get("layout").filter(|layout| *layout != LAYOUT) {
        return Err(unusable(format!(
            "the tables are laid out as {layout:?}; this program knows {LAYOUT:?}"
        )));
    }
    Layout::of(&meta).map(Some)
}

/// Applies what is missing, all of it or nothing, and answers what there is then. Several may try at once: they wait for each
/// other, and the second finds nothing to do.
pub(crate) async fn migrate(connection: &mut Taken<'_>, prefix: &Prefix, lanes: u8) -> Result<Layout> {
    let statements = Statements::of(prefix.as_str())?;
    let mut tx = connection.begin_immediate().await?;
    let found = find_layout(&mut tx, &statements).await?;
    let layout = found.unwrap_or(Layout { version: 0, lanes });
    let applied = usize::try_from(layout.version).unwrap_or(usize::MAX);
    let missing = MIGRATIONS.get(applied..).unwrap_or_default();
    if missing.is_empty() {
        return Ok(layout);
    }
    for migration in missing {
        let sql = prefix.fill(migration, &[("{lanes}", &layout.lanes.to_string())]);
        sqlx::raw_sql(sql).execute(&mut *tx).await.map_err(failed("migrate"))?;
    }
    let layout = Layout { version: KNOWN_VERSION, ..layout };
    let meta = [
        ("schema_version", layout.version.to_string()),
        ("lanes", layout.lanes.to_string()),
        ("layout", LAYOUT.to_owned()),
    ];
    for (name, value) in meta {
        let set = sqlx::query(statements.set_meta.clone()).bind(name).bind(value);
        set.execute(&mut *tx).await.map_err(failed("migrate"))?;
    }
    tx.commit().await?;
    tracing::info!(
        prefix = prefix.as_str(),
        version = layout.version,
        lanes = layout.lanes,
        "tables migrated"
    );
    Ok(layout)
}

/// Nothing was ever migrated.
pub(crate) fn nothing_there(prefix: &Prefix) -> Error {
    unusable(format!("there are no tables with the prefix {:?}; run `posthaste migrate`", prefix.as_str()))
}
