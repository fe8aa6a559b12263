//! What operators do to dead letters and to the pause of a subscription. Each act writes into the journal who did it, in the
//! same transaction.

use posthaste_core::{Edit, EventId, JobKind, OperatorAct, Result, Timestamp, driver::refuse, letters_text};
use sqlx::SqliteConnection;

use super::is_paused;
use crate::{
    bind::{Bound, json},
    error::failed,
    log::Inner,
    row::get,
};

pub(super) async fn act(log: &Inner, act: &OperatorAct, by: &str) -> Result<u64> {
    act.validate()?;
    let mut connection = log.admin.take().await?;
    let mut tx = connection.begin_immediate().await?;
    let mut operator = Operator { log, connection: &mut tx, now: log.now(), by };
    let concerned = match act {
        OperatorAct::Replay(ids) => operator.replay(ids).await?,
        OperatorAct::Edit { dead_id, edit, new_id } => operator.edit(*dead_id, edit, *new_id).await?,
        OperatorAct::Discard(ids) => operator.discard(ids).await?,
        OperatorAct::Start(request) => operator.start(request).await?,
        OperatorAct::Cancel(job_id) => operator.cancel(*job_id).await?,
        OperatorAct::Pause(name) => operator.set_paused(name, true).await?,
        OperatorAct::Resume(name) => operator.set_paused(name, false).await?,
        OperatorAct::Reset { subscription, to } => operator.reset(subscription, *to).await?,
        OperatorAct::Drop(name) => operator.drop_subscription(name).await?,
        OperatorAct::Tune(detail) => {
            operator.journal(None, "tuned", 1, Some(detail.clone())).await.map(|()| 1)?
        }
    };
    tx.commit().await?;
    connection.put_back();
    Ok(concerned)
}

/// Who acts, when, and in which transaction.
pub(crate) struct Operator<'a> {
    pub(crate) log: &'a Inner,
    pub(crate) connection: &'a mut SqliteConnection,
    pub(crate) now: Timestamp,
    pub(crate) by: &'a str,
}

/// Unresolved dead letters.
pub(super) struct Selected {
    /// Their ids, oldest first.
    ids: Vec<i64>,
    /// A subscription of theirs that is not there any more.
    pub(super) homeless: Option<String>,
    /// The subscription of all of them, if it is one.
    subscription: Option<String>,
}

impl Selected {
    pub(super) fn count(&self) -> u64 {
        u64::try_from(self.ids.len()).unwrap_or(u64::MAX)
    }
}

/// All or nothing: a dead letter can only be sent again to a subscription that is still there.
pub(crate) fn check_home(homeless: Option<String>) -> Result<()> {
    homeless.map_or(Ok(()), |name| Err(refuse::homeless(&name)))
}

impl Operator<'_> {
    async fn replay(&mut self, ids: &[i64]) -> Result<u64> {
        let selected = self.select(ids).await?;
        check_home(selected.homeless.clone())?;
        self.do_to(JobKind::Replay, &json(&selected.ids)).await?;
        self.journal_letters(&selected, "replayed").await
    }

    async fn edit(&mut self, dead_id: i64, edit: &Edit, new_id: EventId) -> Result<u64> {
        let content_type = self.unresolved(dead_id).await?;
        edit.check(&content_type)?;
        let selected = self.select(&[dead_id]).await?;
        check_home(selected.homeless.clone())?;
        let ids = json(&selected.ids);
        self.send_again(&ids).await?;
        let edited = sqlx::query(self.log.statements.edit.clone())
            .bind(dead_id)
            .bind(new_id.as_bytes().as_slice())
            .bind(edit.payload.as_deref())
            .bind(edit.headers.as_ref().map(json))
            .bind(edit.topic.as_deref());
        self.run(edited, "edit").await?;
        self.resolve(&ids, "edited", Some(new_id)).await?;
        self.journal_letters(&selected, "edited").await
    }

    /// The content type of a dead letter that nobody has resolved.
    pub(super) async fn unresolved(&mut self, dead_id: i64) -> Result<String> {
        let row = sqlx::query(self.log.statements.find_dead.clone())
            .bind(dead_id)
            .fetch_optional(&mut *self.connection)
            .await
            .map_err(failed("edit"))?;
        let row = row.ok_or_else(|| refuse::no_dead_letter(dead_id))?;
        if let Some(resolution) = get::<Option<&str>>(&row, 0)? {
            return Err(refuse::resolved(dead_id, resolution, get(&row, 1)?));
        }
        get(&row, 2)
    }

    async fn discard(&mut self, ids: &[i64]) -> Result<u64> {
        let selected = self.select(ids).await?;
        self.do_to(JobKind::Discard, &json(&selected.ids)).await?;
        self.journal_letters(&selected, "discarded").await
    }

    pub(super) async fn select(&mut self, ids: &[i64]) -> Result<Selected> {
        let row = sqlx::query(self.log.statements.select_dead.clone())
            .bind(json(&ids))
            .fetch_one(&mut *self.connection)
            .await
            .map_err(failed("select dead letters"))?;
        let ids = serde_json::from_str(get(&row, 0)?).unwrap_or_default();
        Ok(Selected { ids, homeless: get(&row, 2)?, subscription: get(&row, 3)? })
    }

    /// Replays or discards unresolved dead letters, all of them or none.
    pub(crate) async fn attempt(&mut self, kind: JobKind, ids: &str) -> Result<()> {
        self.run(sqlx::query("savepoint attempt"), "begin").await?;
        let done = self.do_to(kind, ids).await;
        if done.is_err() {
            self.run(sqlx::query("rollback to attempt"), "roll back").await?;
        }
        self.run(sqlx::query("release attempt"), "end").await?;
        done
    }

    async fn do_to(&mut self, kind: JobKind, ids: &str) -> Result<()> {
        if kind == JobKind::Replay {
            self.send_again(ids).await?;
        }
        self.resolve(ids, kind.resolution(), None).await
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
            self.journal(Some(name), if paused { "paused" } else { "resumed" }, changed, None).await?;
        }
        Ok(changed)
    }

    /// Writes down what was done to dead letters as one act, and answers how many there were.
    async fn journal_letters(&mut self, selected: &Selected, what: &str) -> Result<u64> {
        let concerned = selected.count();
        if concerned > 0 {
            let detail = letters_text(&selected.ids);
            self.journal(selected.subscription.as_deref(), what, concerned, Some(detail)).await?;
        }
        Ok(concerned)
    }

    pub(super) async fn journal(
        &mut self,
        subscription: Option<&str>,
        what: &str,
        concerned: u64,
        detail: Option<String>,
    ) -> Result<()> {
        let written = sqlx::query(self.log.statements.journal_act.clone())
            .bind(self.now.0)
            .bind(what)
            .bind(subscription)
            .bind(detail)
            .bind(self.by)
            .bind(i64::try_from(concerned).unwrap_or(i64::MAX));
        self.run(written, "write the journal").await?;
        Ok(())
    }

    /// How many rows the statement changed.
    pub(crate) async fn run(&mut self, query: Bound<'_>, operation: &'static str) -> Result<u64> {
        let done = query.execute(&mut *self.connection).await.map_err(failed(operation))?;
        Ok(done.rows_affected())
    }
}
