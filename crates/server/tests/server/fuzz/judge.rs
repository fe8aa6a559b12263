//! Judges an answer: by the document, by who asked, and by what no answer may ever have.

use serde_json::Value;

use super::{
    attempt::Attempt,
    contract::{Contract, Place},
};
use crate::{
    caller::{Answer, Caller},
    fixture::{OPERATOR, VIEWER},
};

/// What somebody may do, as far as the test knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum May {
    Nothing,
    Look,
    Act,
}

/// What only a server has that failed, or one that tells what is none of the caller's business. No value that is sent has one of them.
const LEAKS: [&str; 16] = [
    "panicked",
    "backtrace",
    "thread '",
    ".rs:",
    "unwrap()",
    "sqlx",
    "select ",
    "insert into",
    "syntax error",
    "no such column",
    "no such table",
    "unrecognized token",
    "error returned from database",
    "invalid byte sequence",
    "constraint failed",
    "/rustc/",
];
/// What says to a caller what he can do about a field.
const ADVICE: [&str; 7] =
    ["allowed", "known are", "needed is", "name one", "leave it out", "together", "write "];
/// A refusal is for people to read.
const LONGEST_PROBLEM: usize = 32 << 10;

/// What is wrong with an answer, if something is.
pub(super) fn judge(
    contract: &Contract,
    caller: &Caller,
    attempt: &Attempt,
    answer: &Answer,
) -> Result<(), String> {
    if is_of_http(attempt, answer) {
        return Ok(());
    }
    check_head(answer)?;
    let place = contract.place(&attempt.method, &attempt.path());
    let may = match caller.token.as_deref() {
        Some(OPERATOR) => May::Act,
        Some(VIEWER) => May::Look,
        _ => May::Nothing,
    };
    let closed = match &place {
        Place::Operation(operation) => !operation.is_public(),
        Place::WrongMethod { closed } => *closed,
        Place::Nowhere => attempt.path().starts_with("/api"),
    };
    if closed && (may == May::Nothing || (may == May::Look && !attempt.reads())) {
        let refusals: &[u16] = if may == May::Look { &[403] } else { &[401, 429] };
        return expect(refusals, answer).and_then(|()| check_problem(contract, attempt, answer));
    }
    match place {
        // What is not the API's may be a page of the dashboard.
        Place::Nowhere if !closed => return Ok(()),
        // A name of nothing at all may be found wanting before its path is.
        Place::Nowhere => expect(&[400, 404, 405], answer)?,
        Place::WrongMethod { .. } => {
            expect(&[405], answer)?;
            answer.header("allow").ok_or("it is not told which methods are allowed")?;
        }
        Place::Operation(operation) => {
            let kind = answer.header("content-type").unwrap_or_default();
            let schema = contract.answer(operation, answer.status, kind)?;
            let may_be_full = operation.value["operationId"] == "watch";
            if answer.status == 503 && kind.contains("problem") && !may_be_full {
                return Err("it cannot be answered".to_owned());
            }
            if answer.status < 400 && !attempt.wrong.is_empty() {
                return Err("it is taken for good".to_owned());
            }
            if kind.contains("json") && attempt.method != "HEAD" {
                let body = body(answer)?;
                contract.wrong(schema, &body).map_or(Ok(()), Err)?;
            }
        }
    }
    check_problem(contract, attempt, answer)
}

/// Whether it was refused before anybody looked at it, because it is no HTTP or its head is too long.
fn is_of_http(attempt: &Attempt, answer: &Answer) -> bool {
    let is_strange = attempt.is_raw || attempt.target.len() > 50_000;
    is_strange && answer.body.is_empty() && [400, 414, 431].contains(&answer.status)
}

fn expect(statuses: &[u16], answer: &Answer) -> Result<(), String> {
    if statuses.contains(&answer.status) { Ok(()) } else { Err(format!("one of {statuses:?} is expected")) }
}

/// What holds for every answer.
fn check_head(answer: &Answer) -> Result<(), String> {
    if answer.status == 0 {
        return Err("there is no answer".to_owned());
    }
    if answer.status == 500 {
        return Err("the server failed".to_owned());
    }
    for name in ["content-security-policy", "x-frame-options", "referrer-policy", "cache-control"] {
        answer.header(name).ok_or(format!("{name} is missing"))?;
    }
    if answer.header("x-content-type-options") != Some("nosniff") {
        return Err("browsers may guess what it is".to_owned());
    }
    if answer.header("x-injected").is_some() || answer.header("set-cookie").is_some() {
        return Err("a header that nobody wrote".to_owned());
    }
    Ok(())
}

fn body(answer: &Answer) -> Result<Value, String> {
    serde_json::from_slice(&answer.body).map_err(|error| format!("the body is not JSON: {error}"))
}

/// A refusal is a problem that says what to do, and nothing of the inside of the server.
fn check_problem(contract: &Contract, attempt: &Attempt, answer: &Answer) -> Result<(), String> {
    let is_problem = answer.header("content-type") == Some("application/problem+json");
    if answer.status < 400 || (answer.status == 503 && !is_problem) {
        return Ok(());
    }
    if !is_problem {
        return Err("it is no problem".to_owned());
    }
    for (status, header) in [(401, "www-authenticate"), (429, "retry-after"), (503, "retry-after")] {
        if answer.status == status && answer.header(header).is_none() {
            return Err(format!("{header} is missing"));
        }
    }
    if attempt.method == "HEAD" {
        return Ok(());
    }
    let problem = body(answer)?;
    let schema = serde_json::json!({ "$ref": "#/components/schemas/Problem" });
    contract.wrong(&schema, &problem).map_or(Ok(()), Err)?;
    if problem["status"] != answer.status || problem["detail"] == "" {
        return Err("the problem is not the one that it says".to_owned());
    }
    for wrong in problem["errors"].as_array().into_iter().flatten() {
        let detail = wrong["detail"].as_str().unwrap_or_default();
        if !ADVICE.iter().any(|advice| detail.contains(advice)) {
            return Err(format!("{detail:?} does not say what to do"));
        }
    }
    let text = problem.to_string();
    if text.len() > LONGEST_PROBLEM {
        return Err(format!("the problem has {} bytes", text.len()));
    }
    match LEAKS.iter().find(|leak| text.contains(*leak)) {
        Some(leak) => Err(format!("{leak:?} is nobody's business")),
        None => Ok(()),
    }
}
