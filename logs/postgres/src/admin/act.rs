//! What operators do to dead letters and to the pause of a subscription. Each act writes into the journal who did it, in the
//! same transaction.

use posthaste_core::{Edit, Error, EventId, JobKind, OperatorAct, Result, driver::refuse, letters_text};
use sqlx::PgConnection;

use super::is_paused;
use crate::{error::failed, log::Inner, record::json, row::get, statements::Bound, value::Id};

pub(super) async fn act(log: &Inner, act: &OperatorAct, by: &str) -> Result<u64> {
    act.validate()?;
    check_text("who does it", by)?;
    let mut connection = log.desks.writing().await?;
    let mut operator = Operator { log, connection: &mut connection, by };
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
    connection.put_back().await?;
    Ok(concerned)
}

/// Who acts, and in which transaction.
pub(crate) struct Operator<'a> {
    pub(crate) log: &'a Inner,
    pub(crate) connection: &'a mut PgConnection,
    pub(crate) by: &'a str,
}

/// Unresolved dead letters.
struct Selected {
    /// Oldest first.
    ids: Vec<i64>,
    /// A subscription of theirs that is not there any more.
    homeless: Option<String>,
    /// The subscription of all of them, if it is one.
    subscription: Option<String>,
}

/// All or nothing: a dead letter can only be sent again to a subscription that is still there.
pub(crate) fn check_home(homeless: Option<String>) -> Result<()> {
    homeless.map_or(Ok(()), |name| Err(refuse::homeless(&name)))
}

impl Operator<'_> {
    async fn replay(&mut self, ids: &[i64]) -> Result<u64> {
        let selected = self.select(ids).await?;
        check_home(selected.homeless.clone())?;
        self.do_to(JobKind::Replay, &selected.ids).await?;
        self.journal_letters(&selected, "replayed").await
    }

    async fn edit(&mut self, dead_id: i64, edit: &Edit, new_id: EventId) -> Result<u64> {
        let content_type = self.unresolved(dead_id).await?;
        edit.check(&content_type)?;
        let selected = self.select(&[dead_id]).await?;
        check_home(selected.homeless.clone())?;
        self.send_again(&selected.ids).await?;
        let edited = self
            .log
            .query(&self.log.statements.edit)
            .bind(dead_id)
            .bind(Id(new_id))
            .bind(edit.payload.as_deref().map(str::as_bytes))
            .bind(edit.headers.as_ref().map(json))
            .bind(edit.topic.as_deref());
        self.run(edited, "edit").await?;
        self.resolve(&selected.ids, "edited", Some(new_id)).await?;
        self.journal_letters(&selected, "edited").await
    }

    /// The content type of a dead letter that nobody has resolved.
    async fn unresolved(&mut self, dead_id: i64) -> Result<String> {
        let row = self
            .log
            .query(&self.log.statements.find_dead)
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
        self.do_to(JobKind::Discard, &selected.ids).await?;
        self.journal_letters(&selected, "discarded").await
    }

    async fn select(&mut self, ids: &[i64]) -> Result<Selected> {
        let query = self.log.query(&self.log.statements.select_dead).bind(ids);
        let row = query.fetch_one(&mut *self.connection).await.map_err(failed("select dead letters"))?;
        Ok(Selected { ids: get(&row, 0)?, homeless: get(&row, 1)?, subscription: get(&row, 2)? })
    }

    /// Replays or discards unresolved dead letters, all of them or none.
    pub(crate) async fn attempt(&mut self, kind: JobKind, ids: &[i64]) -> Result<()> {
        self.say("savepoint attempt").await?;
        let done = self.do_to(kind, ids).await;
        let end = if done.is_ok() { "release savepoint attempt" } else { "rollback to savepoint attempt" };
        self.say(end).await?;
        done
    }

    async fn say(&mut self, sql: &'static str) -> Result<()> {
        sqlx::raw_sql(sql).execute(&mut *self.connection).await.map_err(failed(sql))?;
        Ok(())
    }

    async fn do_to(&mut self, kind: JobKind, ids: &[i64]) -> Result<()> {
        if kind == JobKind::Replay {
            self.send_again(ids).await?;
        }
        self.resolve(ids, kind.resolution(), None).await
    }

    /// Parks the events of dead letters as new, due now.
    async fn send_again(&mut self, ids: &[i64]) -> Result<()> {
        let cleared = self.log.query(&self.log.statements.clear_parked).bind(ids);
        self.run(cleared, "replay").await?;
        let parked = self.log.query(&self.log.statements.replay).bind(ids).bind(self.log.now());
        self.run(parked, "replay").await?;
        Ok(())
    }

    async fn resolve(&mut self, ids: &[i64], how: &'static str, new_id: Option<EventId>) -> Result<()> {
        let resolved = self
            .log
            .query(&self.log.statements.resolve)
            .bind(ids)
            .bind(how)
            .bind(self.log.now())
            .bind(self.by)
            .bind(new_id.map(Id));
        self.run(resolved, "resolve dead letters").await?;
        let written = self
            .log
            .query(&self.log.statements.journal_resolved)
            .bind(ids)
            .bind(how)
            .bind(self.log.now())
            .bind(self.by)
            .bind(new_id.map(|id| format!("as {id}")));
        self.run(written, "write the journal").await?;
        Ok(())
    }

    async fn set_paused(&mut self, name: &str, paused: bool) -> Result<u64> {
        is_paused(self.log, self.connection, name).await?;
        let set = self.log.query(&self.log.statements.set_paused).bind(name).bind(paused);
        let changed = self.run(set, "pause").await?;
        if changed > 0 {
            self.journal(Some(name), if paused { "paused" } else { "resumed" }, changed, None).await?;
        }
        Ok(changed)
    }

    /// Writes down what was done to dead letters as one act, and answers how many there were.
    async fn journal_letters(&mut self, selected: &Selected, what: &str) -> Result<u64> {
        let concerned = u64::try_from(selected.ids.len()).unwrap_or(u64::MAX);
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
        let written = self
            .log
            .query(&self.log.statements.journal_act)
            .bind(self.log.now())
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

fn check_text(what: &str, text: &str) -> Result<()> {
    if text.contains('\0') {
        return Err(Error::invalid(format!(
            "{what} has a zero byte, which PostgreSQL cannot store in a text"
        )));
    }
    Ok(())
}
