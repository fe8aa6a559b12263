//! What operators do about dead letters.

use std::collections::BTreeMap;

use axum::{Extension, Json, extract::State};
use posthaste::{Edit, EventId, JobKind, JobRequest, MAX_IDS, OperatorAct};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::{
    Answer,
    dead_letters::{DeadSelection, read_selection},
    subscriptions::{Done, act},
};
use crate::{
    app::App,
    guard::{BODY_LIMIT, Who},
    input::{Body, Input, Path},
    problem::Problem,
};

/// Which dead letters: exactly one of `ids` and `filter`.
#[derive(ToSchema)]
#[expect(dead_code, reason = "the document is made of it; what is read is in read_letters, beside it")]
pub(crate) struct Letters {
    /// These, at most 500: at once.
    #[schema(example = json!([17, 18]), min_items = 1, max_items = 500)]
    ids: Option<Vec<i64>>,
    /// All unresolved ones that fit: as a job, which the relays carry out in batches. `{}` is all of them.
    filter: Option<DeadSelection>,
    /// With a filter: how many a second at most.
    #[schema(minimum = 1, maximum = 1_000_000)]
    per_second: Option<u32>,
    /// Only say how many it would be.
    dry_run: Option<bool>,
}

/// What became of it.
#[derive(Serialize, ToSchema)]
pub(crate) struct Resolved {
    /// Whether nothing was done.
    dry_run: bool,
    /// How many dead letters it concerns.
    concerned: u64,
    /// The job that does it, if it is one.
    job_id: Option<u64>,
}

/// What a caller wants to be done.
struct Wanted {
    act: OperatorAct,
    dry_run: bool,
    is_job: bool,
}

fn read_letters(body: &Input, kind: JobKind) -> Option<Wanted> {
    let ids = body.ids("ids", MAX_IDS);
    let matching = body.object("filter").map(|filter| {
        let matching = read_selection(&filter);
        body.below("filter", filter);
        matching
    });
    let per_second = body.number("per_second", 1..=1_000_000).and_then(|number| u32::try_from(number).ok());
    let dry_run = body.switch("dry_run");
    let act = match (ids, matching) {
        (Some(ids), None) if kind == JobKind::Replay => OperatorAct::Replay(ids),
        (Some(ids), None) => OperatorAct::Discard(ids),
        (None, Some(matching)) => OperatorAct::Start(JobRequest { kind, matching, per_second }),
        (Some(_), Some(_)) => {
            body.wrong("filter", "is there, and ids as well; one of them is allowed");
            return None;
        }
        (None, None) => return None,
    };
    let is_job = matches!(act, OperatorAct::Start(_));
    if per_second.is_some() && !is_job {
        body.wrong("per_second", "is there without a filter; leave it out, only a job has a pace");
    }
    Some(Wanted { act, dry_run, is_job })
}

async fn resolve(app: &App, who: &Who, body: Input, kind: JobKind) -> Answer<Resolved> {
    let wanted = read_letters(&body, kind);
    body.end()?;
    let Some(Wanted { act, dry_run, is_job }) = wanted else {
        return Err(Problem::invalid("one of ids and filter is needed"));
    };
    if dry_run || is_job {
        let concerned = app.admin()?.foresee(&act).await?.concerned;
        let job_id =
            if dry_run { None } else { Some(super::subscriptions::act(app, act, who).await?.concerned) };
        return Ok(Json(Resolved { dry_run, concerned, job_id }));
    }
    let Json(Done { concerned }) = super::subscriptions::act(app, act, who).await?;
    Ok(Json(Resolved { dry_run, concerned, job_id: None }))
}

/// Send dead letters again, to the one subscription in which each died, in their order: some at once, or all that fit as a job.
#[utoipa::path(
    post, path = "/dead-letters/replay", tag = "dead letters", operation_id = "replay_dead_letters", request_body = Letters,
    responses((status = 200, body = Resolved), (status = 404, description = "none fits, or is there"))
)]
pub(crate) async fn replay(
    State(app): State<App>,
    Extension(who): Extension<Who>,
    Body(body): Body,
) -> Answer<Resolved> {
    resolve(&app, &who, body, JobKind::Replay).await
}

/// Give dead letters up for good: some at once, or all that fit as a job. A key that they hold goes on.
#[utoipa::path(
    post, path = "/dead-letters/discard", tag = "dead letters", operation_id = "discard_dead_letters", request_body = Letters,
    responses((status = 200, body = Resolved), (status = 404, description = "none fits, or is there"))
)]
pub(crate) async fn discard(
    State(app): State<App>,
    Extension(who): Extension<Who>,
    Body(body): Body,
) -> Answer<Resolved> {
    resolve(&app, &who, body, JobKind::Discard).await
}

/// What to change of a dead letter: at least one of these.
#[derive(ToSchema)]
#[schema(as = Edit, min_properties = 1)]
#[expect(dead_code, reason = "the document is made of it; what is read is in the handler")]
pub(crate) struct EditView {
    /// The new payload, as text.
    #[schema(example = "{\"order\":7}", max_length = 2_097_152)]
    payload: Option<String>,
    /// The new headers, all of them.
    headers: Option<BTreeMap<String, String>>,
    /// The new topic.
    #[schema(example = "orders")]
    topic: Option<String>,
}

/// A dead letter that was sent again under a new id.
#[derive(Serialize, ToSchema)]
pub(crate) struct Edited {
    /// The new id.
    #[schema(example = "0190163d-8694-739b-aea5-966c26f8ad92")]
    new_id: String,
}

/// Send one dead letter again with another payload, other headers or another topic, under a new id.
#[utoipa::path(
    post, path = "/dead-letters/{dead_id}/edit", tag = "dead letters", operation_id = "edit_dead_letter",
    params(("dead_id" = i64, Path, description = "its number", example = 17)), request_body = EditView,
    responses((status = 200, body = Edited))
)]
pub(crate) async fn edit(
    State(app): State<App>,
    Path(dead_id): Path<i64>,
    Extension(who): Extension<Who>,
    Body(body): Body,
) -> Answer<Edited> {
    let payload = body.any("payload").map(|payload| payload.as_str().map(str::to_owned));
    if payload == Some(None) {
        body.wrong("payload", &format!("is no text; allowed is one of up to {BODY_LIMIT} bytes"));
    }
    let payload = payload.flatten();
    if payload.as_ref().is_some_and(|payload| app.settings.redaction.is_veiled(payload)) {
        body.wrong(
            "payload",
            "has *** where something is hidden; write what belongs there, or leave the payload out",
        );
    }
    let edit = Edit { payload, headers: body.texts("headers"), topic: body.text("topic") };
    body.end()?;
    if edit == Edit::default() {
        return Err(Problem::invalid("nothing is changed; replay it instead"));
    }
    let new_id = EventId::from(Uuid::now_v7());
    _ = act(&app, OperatorAct::Edit { dead_id, edit, new_id }, &who).await?;
    Ok(Json(Edited { new_id: new_id.to_string() }))
}
