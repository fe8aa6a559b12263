//! What operators did.

use axum::{Json, extract::State};
use posthaste::{AuditEntry, AuditFilter};
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

use super::{Answer, page::Page};
use crate::{app::App, cursor::Listing, input::Query, time};

/// Something that an operator did.
#[derive(Serialize, ToSchema)]
#[schema(as = Audit)]
pub(crate) struct AuditView {
    /// Its own number.
    number: i64,
    /// When.
    #[schema(example = "2026-03-01T12:00:00.000000Z", format = DateTime)]
    at: String,
    /// Who: the name of a token, or of whoever used the command line.
    #[schema(example = "ada")]
    by: String,
    /// What: `replayed`, `edited`, `discarded`, `paused`, `resumed`, `reset`, `dropped`, `tuned`; and of jobs `started`, `cancelled`, `finished`.
    #[schema(example = "replayed")]
    what: String,
    /// In which subscription; none if in several, or in any.
    #[schema(example = "billing")]
    subscription: Option<String>,
    /// How many dead letters, subscriptions or lanes it concerned.
    concerned: u64,
    /// More about it.
    detail: Option<String>,
}

impl AuditView {
    fn of(entry: AuditEntry) -> Self {
        let AuditEntry { number, at, by, what, subscription, concerned, detail } = entry;
        Self { number, at: time::text(at), by, what, subscription, concerned, detail }
    }
}

/// Which acts.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "the document is made of it; what is read is in the handler")]
pub(crate) struct Acts {
    /// Only by this operator.
    #[param(example = "ada")]
    by: Option<String>,
    /// Only such acts: a word of `what`.
    #[param(example = "replayed")]
    what: Option<String>,
    /// Only what concerned this subscription.
    #[param(example = "billing")]
    subscription: Option<String>,
    /// `next` of the page before.
    #[param(example = "YQAAAAAAAAAq", pattern = "^Y[Q-X][A-Za-z0-9_-]{10}$")]
    cursor: Option<String>,
    /// How many at most: 1 to 1000, 50 unless given.
    #[param(example = 50, minimum = 1, maximum = 1000)]
    limit: Option<u32>,
}

/// What operators did, newest first.
#[utoipa::path(
    get, path = "/audit", tag = "audit", operation_id = "list_audit", params(Acts),
    responses((status = 200, body = Page<AuditView>))
)]
pub(crate) async fn list(State(app): State<App>, Query(query): Query) -> Answer<Page<AuditView>> {
    let filter = AuditFilter {
        by: query.text("by"),
        what: query.text("what"),
        subscription: query.text("subscription"),
        cursor: query.cursor(Listing::Audit),
        limit: query.limit(),
    };
    query.end()?;
    let page = app.admin()?.audit(&filter).await?;
    Ok(Json(Page::of(Listing::Audit, page, AuditView::of)))
}
