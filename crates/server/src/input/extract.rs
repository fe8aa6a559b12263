//! How handlers get what a caller sent: whatever is wrong with it is a problem like any other.

use axum::{
    body::Bytes,
    extract::{FromRequest, FromRequestParts, Request},
    http::{StatusCode, request::Parts},
};

use super::{Input, LONGEST, is_text};
use crate::{guard::BODY_LIMIT, problem::Problem};

/// The parameters of a request.
pub(crate) struct Query(pub(crate) Input);

impl<S: Sync> FromRequestParts<S> for Query {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        Input::of_query(parts.uri.query().unwrap_or_default()).map(Self)
    }
}

/// The body of a request, as fields. Parameters are not known then.
pub(crate) struct Body(pub(crate) Input);

impl<S: Send + Sync> FromRequest<S> for Body {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        Input::of_query(request.uri().query().unwrap_or_default())?.end()?;
        read_body(request, state).await.map(Self)
    }
}

/// The parameters of a request that changes something. A body is not known then: some proxies lose that of a `DELETE`, and what was to
/// be a dry run would be done.
pub(crate) struct Parameters(pub(crate) Input);

impl<S: Send + Sync> FromRequest<S> for Parameters {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let parameters = Input::of_query(request.uri().query().unwrap_or_default())?;
        read_body(request, state).await?.end()?;
        Ok(Self(parameters))
    }
}

async fn read_body<S: Send + Sync>(request: Request, state: &S) -> Result<Input, Problem> {
    let headers = request.headers().clone();
    let body = Bytes::from_request(request, state).await.map_err(|error| {
        if error.status() == StatusCode::PAYLOAD_TOO_LARGE {
            Problem::too_large(BODY_LIMIT)
        } else {
            Problem::invalid("the body could not be read")
        }
    })?;
    Input::of_body(&headers, &body)
}

/// A text out of the path.
pub(crate) struct Path<T>(pub(crate) T);

impl<S: Send + Sync> FromRequestParts<S> for Path<String> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let path = axum::extract::Path::<String>::from_request_parts(parts, state).await;
        let text = path.ok().map(|axum::extract::Path(text)| text);
        let good = text.filter(|text| is_text(text));
        let wrong = || {
            let detail =
                format!("the path names no text; allowed is one of 1 to {LONGEST} characters in UTF-8");
            Problem::invalid(detail)
        };
        good.map(Self).ok_or_else(wrong)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Path<i64> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Path(text) = Path::<String>::from_request_parts(parts, state).await?;
        let number = text.parse().ok().filter(|number| *number > 0);
        number.map(Self).ok_or_else(|| Problem::not_found("ids are whole numbers from 1"))
    }
}
