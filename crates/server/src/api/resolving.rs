//! What operators do about dead letters.

use std::collections::BTreeMap;

use axum::{Extension, Json, extract::State};
use posthaste::{Edit, EventId, OperatorAct, Selection};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::{
    Answer,
    subscriptions::{Done, act},
};
use crate::{
    app::App,
    guard::{BODY_LIMIT, Who},
    input::{Body, Path},
    problem::Problem,
};

/// How many dead letters can be named at once.
const MAX_IDS: usize = 500;

/// These dead letters.
#[derive(ToSchema)]
#[expect(dead_code, reason = "the document is made of it")]
pub(crate) struct Letters {
    /// Their numbers, at most 500.
    #[schema(example = json!([17, 18]))]
    ids: Vec<i64>,
}

/// Send these dead letters again, to the one subscription in which each died, in their order.
#[utoipa::path(
    post, path = "/dead-letters/replay", tag = "dead letters", operation_id = "replay_dead_letters", request_body = Letters,
    responses((status = 200, body = Done))
)]
pub(crate) async fn replay(
    State(app): State<App>,
    Extension(who): Extension<Who>,
    Body(body): Body,
) -> Answer<Done> {
    body.demand("ids", "a list of dead letters");
    let ids = body.ids("ids", MAX_IDS);
    body.end()?;
    act(&app, OperatorAct::Replay(Selection::Ids(ids.unwrap_or_default())), &who).await
}

/// Give these dead letters up for good. A key that they hold goes on.
#[utoipa::path(
    post, path = "/dead-letters/discard", tag = "dead letters", operation_id = "discard_dead_letters", request_body = Letters,
    responses((status = 200, body = Done))
)]
pub(crate) async fn discard(
    State(app): State<App>,
    Extension(who): Extension<Who>,
    Body(body): Body,
) -> Answer<Done> {
    body.demand("ids", "a list of dead letters");
    let ids = body.ids("ids", MAX_IDS);
    body.end()?;
    act(&app, OperatorAct::Discard(Selection::Ids(ids.unwrap_or_default())), &who).await
}

/// What to change of a dead letter.
#[derive(ToSchema)]
#[schema(as = Edit)]
#[expect(dead_code, reason = "the document is made of it; what is read is in the handler")]
pub(crate) struct EditView {
    /// The new payload, as text.
    #[schema(example = "{\"order\":7}")]
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
