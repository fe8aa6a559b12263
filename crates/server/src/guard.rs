//! What every request passes before it is answered: is it meant for this host, does it come from this site, who is it, may he?

use std::{net::SocketAddr, sync::PoisonError};

use axum::{
    extract::{Request, State},
    http::{
        HeaderMap, HeaderName, HeaderValue, Method,
        header::{
            AUTHORIZATION, CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, ORIGIN, REFERRER_POLICY,
            X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
        },
    },
    middleware::Next,
    response::{IntoResponse, Response},
};
use tokio::time::Instant;

use crate::{
    app::App,
    problem::Problem,
    settings::{REQUEST_TIME, Settings},
    token::{self, Role},
};

/// The largest body: an event of the largest payload, and some room.
pub(crate) const BODY_LIMIT: usize = 2 << 20;

/// Where a request comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub(crate) SocketAddr);

/// Who a request comes from.
#[derive(Clone, Debug)]
pub(crate) struct Who {
    pub(crate) name: String,
    pub(crate) role: Role,
}

/// Who everybody is where the server is open.
const ANYBODY: &str = "anybody";

/// Adds what browsers have to know. There is no inline script or style, nothing comes from elsewhere, nobody may frame it.
pub(crate) async fn harden(request: Request, next: Next) -> Response {
    const HEADERS: [(HeaderName, &str); 6] = [
        (
            CONTENT_SECURITY_POLICY,
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; \
             form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
        ),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    let mut response = next.run(request).await;
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    // Only the files of the dashboard say otherwise.
    response.headers_mut().entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// Refuses what was meant for another host, and what another site makes a browser send.
///
/// A site can let its own name point to a loopback address and then talk to whatever listens there; the name in the header gives it
/// away. Where the server is open this is all that stands between it and the operator's browser.
pub(crate) async fn check_site(State(app): State<App>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    let host = text(headers, &HOST);
    if !host.is_some_and(|host| is_ours(&app.settings, host)) {
        let detail = "the header host names another host; set server.public_url if the server has this name";
        return Problem::misdirected(detail).into_response();
    }
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    let foreign = headers.contains_key(ORIGIN)
        && !text(headers, &ORIGIN)
            .and_then(authority)
            .is_some_and(|origin| Some(origin) == host || is_public(&app.settings, origin));
    if foreign && !reads {
        return Problem::forbidden("the request comes from another site").into_response();
    }
    next.run(request).await
}

fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// Whether the server answers to this name. One that others can reach may have any: its name is the network's to know.
fn is_ours(settings: &Settings, host: &str) -> bool {
    if !settings.listen.ip().is_loopback() || is_public(settings, host) {
        return true;
    }
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.chars().all(|c| c.is_ascii_digit()) => name,
        _ => host,
    };
    let address = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost")
        || address.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Whether this is the name under which people reach the server.
fn is_public(settings: &Settings, host: &str) -> bool {
    settings.public_url.as_deref().and_then(authority).is_some_and(|public| public.eq_ignore_ascii_case(host))
}

/// The host and the port of an address.
fn authority(url: &str) -> Option<&str> {
    url.split_once("://").and_then(|(_, rest)| rest.split('/').next())
}

/// Finds out who it is. Whoever is not an operator may only read: that is decided by the method, so that no route can forget it.
pub(crate) async fn authenticate(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let who = match identify(&app, &request) {
        Ok(who) => who,
        Err(problem) => return problem.into_response(),
    };
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    if !reads && who.role != Role::Operator {
        let detail = format!("{} is a viewer, and only operators may do this", who.name);
        return Problem::forbidden(detail).into_response();
    }
    request.extensions_mut().insert(who);
    next.run(request).await
}

/// Who it is.
pub(crate) fn identify(app: &App, request: &Request) -> Result<Who, Problem> {
    let Some(given) = request.headers().get(AUTHORIZATION) else {
        return without_token(&app.settings);
    };
    let bearer = given.to_str().ok().and_then(|text| {
        let (scheme, token) = text.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
    });
    if let Some(found) = bearer.and_then(|given| token::find(&app.settings.tokens, given)) {
        return Ok(Who { name: found.name.clone(), role: found.role });
    }
    if app.settings.open {
        return without_token(&app.settings);
    }
    let Some(Peer(peer)) = request.extensions().get::<Peer>() else {
        return Err(Problem::unauthorized("the token is not known"));
    };
    let mut lockout = app.lockout.lock().unwrap_or_else(PoisonError::into_inner);
    match lockout.fail(Instant::now(), peer.ip()) {
        Some(wait) => Err(Problem::too_many(wait)),
        None => {
            tracing::warn!(peer = %peer.ip(), "a wrong token");
            Err(Problem::unauthorized("the token is not known"))
        }
    }
}

fn without_token(settings: &Settings) -> Result<Who, Problem> {
    if settings.open {
        return Ok(Who { name: ANYBODY.to_owned(), role: Role::Operator });
    }
    Err(Problem::unauthorized(if settings.tokens.is_empty() {
        "no token is configured, so that nobody can log in; add one under server.tokens, or set server.open to true for a server \
         that only this machine can reach"
    } else {
        "send the header `authorization: Bearer TOKEN`"
    }))
}

/// Answers in time, and does not take on more than it can.
pub(crate) async fn bound(State(app): State<App>, request: Request, next: Next) -> Response {
    let Ok(_permit) = app.requests.try_acquire() else {
        return Problem::unavailable("too many requests at once", std::time::Duration::from_secs(1))
            .into_response();
    };
    match tokio::time::timeout(REQUEST_TIME, next.run(request)).await {
        Ok(response) => response,
        Err(_) => {
            let detail = "the answer took too long; what was asked for may still have been done";
            Problem::unavailable(detail, REQUEST_TIME).into_response()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn on_a_loopback_address_only_names_of_this_machine_are_ours() {
        let settings =
            Settings { public_url: Some("https://outbox.example/x".to_owned()), ..Settings::default() };
        for ours in [
            "localhost",
            "localhost:8025",
            "LOCALHOST:1",
            "127.0.0.1",
            "127.0.0.1:80",
            "[::1]:80",
            "[::1]",
            "outbox.example",
        ] {
            assert!(is_ours(&settings, ours), "{ours}");
        }
        for other in [
            "",
            "evil.example",
            "evil.example:8025",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "10.0.0.1",
            "outbox.example:1",
            "localhost:x",
        ] {
            assert!(!is_ours(&settings, other), "{other}");
        }
        let reachable = Settings { listen: "0.0.0.0:80".parse().unwrap(), ..Settings::default() };
        assert!(is_ours(&reachable, "outbox.internal"));
    }
}
