//! What operators do to dead letters and to the pause of a subscription. Each act writes into the journal who did it, in the
//! same transaction.

use posthaste_core::{Edit, Error, ErrorKind, EventId, OperatorAct, Result, Selection, Timestamp};
use serde::de::IgnoredAny;
use sqlx::SqliteConnection;

use super::is_paused;
use crate::{
    bind::{Bound, json},
    error::failed,
    log::Inner,
    row::{JSON, get},
};

pub(super) async fn act(log: &Inner, act: &OperatorAct, by: &str) -> Result<u64> {
    let mut connection = log.admin.take().await?;
    let mut tx = connection.begin_immediate().await?;
    let mut operator = Operator { log, connection: &mut tx, now: log.now(), by };
    let concerned = match act {
        OperatorAct::Replay(selection) => operator.replay(selection).await?,
        OperatorAct::Edit { dead_id, edit, new_id } => operator.edit(*dead_id, edit, *new_id).await?,
        OperatorAct::Discard(selection) => operator.discard(selection).await?,
        OperatorAct::Pause(name) => operator.set_paused(name, true).await?,
        OperatorAct::Resume(name) => operator.set_paused(name, false).await?,
        OperatorAct::Reset { subscription, to } => operator.reset(subscription, *to).await?,
        OperatorAct::Drop(name) => operator.drop_subscription(name).await?,
    };
    tx.commit().await?;
    connection.put_back();
    Ok(concerned)
}

/// Who acts, when, and in which transaction.
pub(super) struct Operator<'a> {
    pub(super) log: &'a Inner,
    pub(super) connection: &'a mut SqliteConnection,
    pub(super) now: Timestamp,
    pub(super) by: &'a str,
}

/// Unresolved dead letters.
struct Selected {
    /// Their ids as a JSON array, oldest first.
    ids: String,
    count: u64,
    /// A subscription of theirs that is not there any more.
    homeless: Option<String>,
}

impl Selected {
    /// All or nothing: a dead letter can only be sent again to a subscription that is still there.
    fn check_home(&self) -> Result<()> {
        let Some(name) = &self.homeless else { return Ok(()) };
        let message =
            format!("subscription {name:?} was dropped; create it again before its dead letters are sent");
        Err(Error::new(ErrorKind::Refused, message))
    }
}

impl Operator<'_> {
    async fn replay(&mut self, selection: &Selection) -> Result<u64> {
        let selected = self.select(selection).await?;
        selected.check_home()?;
        self.send_again(&selected.ids).await?;
        self.resolve(&selected.ids, "replayed", None).await?;
        Ok(selected.count)
    }

    async fn edit(&mut self, dead_id: i64, edit: &Edit, new_id: EventId) -> Result<u64> {
        let content_type = self.unresolved(dead_id).await?;
        check_edit(edit, &content_type)?;
        let selected = self.select(&Selection::Ids(vec![dead_id])).await?;
        selected.check_home()?;
        self.send_again(&selected.ids).await?;
        let edited = sqlx::query(self.log.statements.edit.clone())
            .bind(dead_id)
            .bind(new_id.as_bytes().as_slice())
            .bind(edit.payload.as_deref())
            .bind(edit.headers.as_ref().map(json))
            .bind(edit.topic.as_deref());
        self.run(edited, "edit").await?;
        self.resolve(&selected.ids, "edited", Some(new_id)).await?;
        Ok(1)
    }

    /// The content type of a dead letter that nobody has resolved.
    async fn unresolved(&mut self, dead_id: i64) -> Result<String> {
        let row = sqlx::query(self.log.statements.find_dead.clone())
            .bind(dead_id)
            .fetch_optional(&mut *self.connection)
            .await
            .map_err(failed("edit"))?;
        let row =
            row.ok_or_else(|| Error::new(ErrorKind::NotFound, format!("there is no dead letter {dead_id}")))?;
        if let Some(resolution) = get::<Option<&str>>(&row, 0)? {
            let by: Option<&str> = get(&row, 1)?;
            let by = by.unwrap_or("nobody");
            let message = format!("dead letter {dead_id} was {resolution} already, by {by}");
            return Err(Error::new(ErrorKind::Refused, message));
        }
        get(&row, 2)
    }

    async fn discard(&mut self, selection: &Selection) -> Result<u64> {
        let selected = self.select(selection).await?;
        self.resolve(&selected.ids, "discarded", None).await?;
        Ok(selected.count)
    }

    async fn select(&mut self, selection: &Selection) -> Result<Selected> {
        let query = match selection {
            Selection::Ids(ids) => sqlx::query(self.log.statements.select_dead.clone()).bind(json(ids)),
            Selection::Matching(filter) => sqlx::query(self.log.statements.match_dead.clone())
                .bind(filter.subscription.as_deref())
                .bind(filter.reason.map(posthaste_core::DeadReason::as_str))
                .bind(filter.event_type.as_deref())
                .bind(filter.key.as_deref()),
        };
        let row = query.fetch_one(&mut *self.connection).await.map_err(failed("select dead letters"))?;
        Ok(Selected { ids: get(&row, 0)?, count: get(&row, 1)?, homeless: get(&row, 2)? })
    }

    /// Parks the events of dead letters as new, due now.
    async fn send_again(&mut self, ids: &str) -> Result<()> {
        let cleared = sqlx::query(self.log.statements.clear_parked.clone()).bind(ids);
        self.run(cleared, "replay").await?;
        let parked = sqlx::query(self.log.statements.replay.clone()).bind(ids).bind(self.now.0);
        self.run(parked, "replay").await?;
        Ok(())
    }

    async fn resolve(&mut self, ids: &str, how: &'static str, new_id: Option<EventId>) -> Result<()> {
        let resolved = sqlx::query(self.log.statements.resolve.clone())
            .bind(ids)
            .bind(how)
            .bind(self.now.0)
            .bind(self.by)
            .bind(new_id.map(|id| id.as_bytes().to_vec()));
        self.run(resolved, "resolve dead letters").await?;
        let written = sqlx::query(self.log.statements.journal_resolved.clone())
            .bind(ids)
            .bind(how)
            .bind(self.now.0)
            .bind(self.by)
            .bind(new_id.map(|id| format!("as {id}")));
        self.run(written, "write the journal").await?;
        Ok(())
    }

    async fn set_paused(&mut self, name: &str, paused: bool) -> Result<u64> {
        is_paused(self.log, self.connection, name).await?;
        let set = sqlx::query(self.log.statements.set_paused.clone()).bind(name).bind(paused);
        let changed = self.run(set, "pause").await?;
        if changed > 0 {
            self.journal(name, if paused { "paused" } else { "resumed" }, None).await?;
        }
        Ok(changed)
    }

    pub(super) async fn journal(&mut self, name: &str, what: &str, detail: Option<String>) -> Result<()> {
        let written = sqlx::query(self.log.statements.journal_act.clone())
            .bind(self.now.0)
            .bind(what)
            .bind(name)
            .bind(detail)
            .bind(self.by);
        self.run(written, "write the journal").await?;
        Ok(())
    }

    /// How many rows the statement changed.
    pub(super) async fn run(&mut self, query: Bound<'_>, operation: &'static str) -> Result<u64> {
        let done = query.execute(&mut *self.connection).await.map_err(failed(operation))?;
        Ok(done.rows_affected())
    }
}

/// A payload that was JSON must be JSON again, and an event has a topic.
fn check_edit(edit: &Edit, content_type: &str) -> Result<()> {
    if let Some(text) = edit.payload.as_deref().filter(|_| content_type == JSON) {
        serde_json::from_str::<IgnoredAny>(text)
            .map_err(|error| Error::invalid("the edited payload is not JSON").with_source(error))?;
    }
    match edit.topic.as_deref() {
        Some("") => Err(Error::invalid("the edited topic is empty")),
        _ => Ok(()),
    }
}
