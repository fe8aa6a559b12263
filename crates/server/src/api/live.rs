//! Live figures as a stream, and the past of the charts.

use std::{collections::BTreeMap, convert::Infallible, time::Duration};

use axum::{
    Json,
    body::{Body, Bytes},
    extract::State,
    http::header::CONTENT_TYPE,
    response::{IntoResponse, Response},
};
use futures_util::stream;
use serde::Serialize;
use tokio::{sync::broadcast::error::RecvError, time::timeout};
use utoipa::{IntoParams, ToSchema};

use super::Answer;
use crate::{
    app::App,
    input::Query,
    live::{
        Viewer,
        notice::Notice,
        ring::SECONDS,
        sample::{Sample, Second},
    },
    problem::Problem,
    time,
};

/// How often something is sent, so that nobody in between takes the stream for dead.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// One second of every subscription.
#[derive(Serialize)]
pub(crate) struct SampleView<'s> {
    /// When it ended.
    at: String,
    /// Each subscription, by name.
    subscriptions: &'s BTreeMap<String, Second>,
}

impl<'s> SampleView<'s> {
    pub(crate) fn of(sample: &'s Sample) -> Self {
        Self { at: time::text(sample.at), subscriptions: &sample.subscriptions }
    }
}

/// Live figures, as server-sent events: `sample` once a second (`{"at": …, "subscriptions": {NAME: Second}}`), and `notice` (Notice) when
/// something died, was paused or resumed, or a destination went down or came back. The stream ends when the server stops; who is too
/// slow misses seconds.
#[utoipa::path(
    get, path = "/live", tag = "live", operation_id = "watch",
    responses((status = 200, description = "a stream without end", content((String = "text/event-stream"))))
)]
pub(crate) async fn live(State(app): State<App>, Query(query): Query) -> Result<Response, Problem> {
    query.end()?;
    let Some(viewer) = app.hub.join() else {
        return Err(Problem::unavailable("too many are looking already", KEEP_ALIVE));
    };
    let body = Body::from_stream(stream::unfold(viewer, |mut viewer| async {
        let bytes = next(&mut viewer).await?;
        Some((Ok::<_, Infallible>(bytes), viewer))
    }));
    Ok(([(CONTENT_TYPE, "text/event-stream")], body).into_response())
}

/// What is sent next; none at the end.
async fn next(viewer: &mut Viewer) -> Option<Bytes> {
    loop {
        tokio::select! {
            _ = viewer.closing.wait_for(|closing| *closing) => return None,
            news = timeout(KEEP_ALIVE, viewer.news.recv()) => match news {
                Ok(Ok(bytes)) => return Some(bytes),
                Ok(Err(RecvError::Lagged(_))) => {}
                Ok(Err(RecvError::Closed)) => return None,
                Err(_) => return Some(Bytes::from_static(b": still here\n\n")),
            },
        }
    }
}

/// The past of the charts.
#[derive(Serialize, ToSchema)]
pub(crate) struct History {
    /// When each second ended, oldest first.
    times: Vec<String>,
    /// For each subscription as many seconds as there are times; none where it was not there.
    subscriptions: BTreeMap<String, Vec<Option<Second>>>,
}

/// What happened lately.
#[derive(Serialize, ToSchema)]
pub(crate) struct Notices {
    /// The newest first, at most 100, as this server saw them since it was started.
    items: Vec<Notice>,
}

/// What happened lately: what `/live` told of as `notice`.
#[utoipa::path(
    get, path = "/notices", tag = "live", operation_id = "list_notices",
    responses((status = 200, body = Notices))
)]
pub(crate) async fn notices(State(app): State<App>, Query(query): Query) -> Answer<Notices> {
    query.end()?;
    Ok(Json(Notices { items: app.hub.known().notices.iter().rev().cloned().collect() }))
}

/// How much of it.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "the document is made of it")]
pub(crate) struct Span {
    /// How many seconds at most: 1 to 900, 900 unless given.
    #[param(example = 300, minimum = 1, maximum = 900)]
    seconds: Option<u32>,
}

/// The last quarter of an hour, a second each, as this server saw it.
#[utoipa::path(
    get, path = "/history", tag = "live", operation_id = "get_history", params(Span),
    responses((status = 200, body = History))
)]
pub(crate) async fn history(State(app): State<App>, Query(query): Query) -> Answer<History> {
    let most = i64::try_from(SECONDS).unwrap_or(i64::MAX);
    let seconds = query.number("seconds", 1..=most).and_then(|seconds| usize::try_from(seconds).ok());
    query.end()?;
    let (times, subscriptions) = app.hub.known().ring.last(seconds.unwrap_or(SECONDS));
    Ok(Json(History { times: times.into_iter().map(time::text).collect(), subscriptions }))
}
