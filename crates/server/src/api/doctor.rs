//! What the database says about itself.

use axum::{Json, extract::State};
use posthaste::{Finding, Verdict};
use serde::Serialize;
use utoipa::ToSchema;

use super::Answer;
use crate::{app::App, input::Query};

/// What was found.
#[derive(Serialize, ToSchema)]
pub(crate) struct Diagnosis {
    /// The worst of all: `fine`, `warning` or `failing`.
    #[schema(example = "fine")]
    verdict: &'static str,
    /// Everything that was looked at.
    findings: Vec<FindingView>,
}

/// Something that was looked at.
#[derive(Serialize, ToSchema)]
#[schema(as = Finding)]
pub(crate) struct FindingView {
    /// What, in one or two words.
    #[schema(example = "durability")]
    check: String,
    /// How bad it is: `fine`, `warning` or `failing`.
    #[schema(example = "fine")]
    verdict: &'static str,
    /// What was found.
    #[schema(example = "fsync on, synchronous_commit on")]
    detail: String,
    /// What to do; none if it is fine.
    advice: Option<String>,
}

impl FindingView {
    fn of(finding: Finding) -> Self {
        let Finding { check, verdict, detail, advice } = finding;
        Self { check, verdict: verdict.as_str(), detail, advice }
    }
}

/// Whether the database suits an outbox: version, rights, settings, indexes, size, and what holds its rows. As `posthaste doctor` tells.
#[utoipa::path(
    get, path = "/doctor", tag = "server", operation_id = "diagnose",
    responses((status = 200, body = Diagnosis))
)]
pub(crate) async fn doctor(State(app): State<App>, Query(query): Query) -> Answer<Diagnosis> {
    query.end()?;
    let findings = app.admin()?.diagnose().await?;
    let worst = findings.iter().map(|finding| finding.verdict).max().unwrap_or(Verdict::Fine);
    let findings = findings.into_iter().map(FindingView::of).collect();
    Ok(Json(Diagnosis { verdict: worst.as_str(), findings }))
}
