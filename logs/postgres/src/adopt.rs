//! Tables that were restored into another database cluster, or came there by an upgrade.
//!
//! Cursors are snapshots, and those mean something only in the cluster in which they were taken: transaction ids begin anew in
//! another. Here every cursor becomes a position again, on a snapshot of the new cluster. Events may come a second time; none is lost.

use posthaste_core::{Error, ErrorKind, Result};
use sqlx::PgConnection;

use crate::{
    PostgresOptions,
    error::failed,
    migrate::{Found, KNOWN_VERSION, nothing_there},
    options::{Purpose, Source},
    row::get,
    slot::{Slot, cluster},
    statements::{Bound, Place, Statements, once},
    subscribe::lock_place,
    value::Time,
};

/// Makes the tables at this address the present cluster's own, and answers how many lanes begin anew: none if nothing had to be done.
///
/// Run it once, while no relay runs. Publishing may go on. What a lane had delivered beyond its first gap comes again; what is parked
/// or dead behind that point begins anew.
pub async fn adopt(url: &str, options: PostgresOptions) -> Result<u64> {
    options.validate()?;
    let place = Place::new(options.schema.as_deref(), &options.prefix)?;
    let source = Source::parse(url, &options)?;
    let statements = Statements::of(&place);
    let slot = Slot::new(&source, Purpose::Relaying, None);
    let mut connection = slot.take().await?;
    connection.begin().await?;
    lock_place(&statements, &place, &mut connection).await?;
    let found = Found::find(&mut connection, &place).await?.ok_or_else(|| nothing_there(&place))?;
    found.layout.check(KNOWN_VERSION, options.lanes)?;
    let here = cluster(&mut connection).await?;
    if here == found.cluster {
        connection.put_back().await?;
        return Ok(0);
    }
    let now = options.clock.as_ref().map(|clock| Time(clock.now()));
    let mut adoption = Adoption { statements: &statements, connection: &mut connection, now };
    adoption.check_idle().await?;
    let lanes = adoption.begin_anew().await?;
    adoption.move_to(&found.cluster, &here).await?;
    connection.put_back().await?;
    tracing::info!(prefix = place.prefix(), lanes, from = found.cluster, to = here, "tables adopted");
    Ok(lanes)
}

struct Adoption<'a> {
    statements: &'a Statements,
    connection: &'a mut PgConnection,
    now: Option<Time>,
}

impl Adoption<'_> {
    async fn check_idle(&mut self) -> Result<()> {
        let rows = once(&self.statements.live_relays)
            .bind(self.now)
            .fetch_all(&mut *self.connection)
            .await
            .map_err(failed("adopt"))?;
        if rows.is_empty() {
            return Ok(());
        }
        let relays: Vec<String> = rows.iter().map(|row| get(row, 0)).collect::<Result<_>>()?;
        let message = format!(
            "the leases of these relays are not over: {}; stop them, or wait for a minute if they ran in the other cluster",
            relays.join(", ")
        );
        Err(Error::new(ErrorKind::Refused, message))
    }

    /// Answers how many lanes there are.
    async fn begin_anew(&mut self) -> Result<u64> {
        let statements = self.statements;
        // Before anything is written, or the transaction could take itself for done.
        let taken = once(&statements.take_snapshot).fetch_one(&mut *self.connection).await;
        let text: String = get(&taken.map_err(failed("take a snapshot"))?, 0)?;
        let kept = once(&statements.keep_snapshot).bind(text).fetch_one(&mut *self.connection).await;
        let number: i64 = get(&kept.map_err(failed("keep a snapshot"))?, 0)?;
        let lanes = self.run(once(&statements.adopt_lines).bind(number).bind(self.now)).await?;
        self.run(once(&statements.adopt_history).bind(number)).await?;
        self.run(once(&statements.adopt_starts)).await?;
        self.run(once(&statements.adopt_events).bind(number)).await?;
        self.run(once(&statements.forget_snapshots).bind(number)).await?;
        self.run(once(&statements.forget_incarnation)).await?;
        Ok(lanes)
    }

    /// What the log will yield again is not parked or dead any more; and the journal says why.
    async fn move_to(&mut self, from: &str, to: &str) -> Result<()> {
        const BY: &str = "adopt";
        let statements = self.statements;
        let names = once(&statements.names).fetch_all(&mut *self.connection).await;
        for row in names.map_err(failed("adopt"))? {
            let name: String = get(&row, 0)?;
            self.run(once(&statements.reset_parked).bind(&name)).await?;
            self.run(once(&statements.reset_dead).bind(&name).bind(self.now).bind(BY)).await?;
            let detail = format!("from database cluster {from} to {to}");
            let journal = once(&statements.journal_act);
            let journal = journal.bind(self.now).bind("reset").bind(&name).bind(detail).bind(BY);
            self.run(journal.bind(1_i64)).await?;
        }
        self.run(once(&statements.set_meta).bind("system_identifier").bind(to)).await?;
        Ok(())
    }

    async fn run(&mut self, query: Bound<'_>) -> Result<u64> {
        Ok(query.execute(&mut *self.connection).await.map_err(failed("adopt"))?.rows_affected())
    }
}
