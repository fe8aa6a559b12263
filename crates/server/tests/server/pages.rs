//! The dashboard's files.

use posthaste_server::Settings;

use crate::fixture::{Fixture, serve, settings};

#[tokio::test]
async fn pages_are_served_to_everybody_and_only_if_they_changed() {
    let fixture = Fixture::new().await;
    let running = fixture.serve().await;

    for (path, kind) in [
        ("/", "text/html; charset=utf-8"),
        ("/index.html", "text/html; charset=utf-8"),
        ("/event?id=0190163d-8694-739b-aea5-966c26f8ad91", "text/html; charset=utf-8"),
        ("/app.js", "text/javascript; charset=utf-8"),
        ("/pages/overview.js", "text/javascript; charset=utf-8"),
        ("/base.css", "text/css; charset=utf-8"),
        ("/icon.svg", "image/svg+xml"),
    ] {
        let answer = running.stranger.get(path).await;
        assert_eq!((answer.status, answer.header("content-type")), (200, Some(kind)), "{path}");
        let tag = answer.header("etag").unwrap();
        let again = running.stranger.send("GET", path, &[("if-none-match", tag)], b"").await;
        assert_eq!((again.status, again.body.len()), (304, 0), "{path}");
    }
    for path in [
        "/nothing.js",
        "/events/nothing",
        "/../Cargo.toml",
        "/%2e%2e/Cargo.toml",
        "/dashboard/../../Cargo.toml",
    ] {
        running.stranger.get(path).await.problem(404);
    }
    running.stranger.send("POST", "/", &[], b"").await.problem(405);
}

#[tokio::test]
async fn without_a_dashboard_there_are_no_pages() {
    let fixture = Fixture::new().await;
    let running = serve(fixture.server(Settings { dashboard: false, ..settings() })).await;
    running.stranger.get("/").await.problem(404);
    running.stranger.get("/app.js").await.problem(404);
    assert_eq!(running.stranger.get("/health/live").await.status, 200);
}
