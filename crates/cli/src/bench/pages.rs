//! `posthaste bench --only pages`: how long it takes to answer the pages of the dashboard while the log is very large. The server of the program answers, over
//! HTTP, in this process.

use std::{
    fmt,
    net::{Ipv4Addr, SocketAddr},
    time::{Duration, Instant},
};

use anyhow::{Context, bail};
use posthaste::metric;
use posthaste_bench::pages::Stock;
use posthaste_server::{Exporter, Server, Settings};
use serde::Serialize;
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::oneshot,
    task::JoinSet,
};

use super::questions::{Question, questions};
use crate::screen::grouped;

/// What a page may take.
const AIM: Duration = Duration::from_millis(50);

/// What was measured.
#[derive(Serialize)]
pub(super) struct Report {
    database: &'static str,
    events: u64,
    dead_letters: u64,
    /// How often each page was opened.
    times: usize,
    aim_ms: f64,
    pages: Vec<Page>,
}

/// A page, or one part of it.
#[derive(Serialize)]
struct Page {
    page: &'static str,
    what: &'static str,
    /// Steps one after the other, and the paths of one step together.
    asked: Vec<Vec<String>>,
    p50_ms: f64,
    worst_ms: f64,
    /// Whether the worst was over the aim.
    missed: bool,
}

impl Report {
    /// Whether every page was answered in time, every time.
    pub(super) fn is_fine(&self) -> bool {
        self.pages.iter().all(|page| !page.missed)
    }
}

/// Fills a log, in this PostgreSQL database or in a temporary file of SQLite's, and opens every page so many times.
pub(super) async fn measure(
    database: Option<&str>,
    events: u64,
    times: usize,
    mut tell: impl FnMut(&str),
) -> anyhow::Result<Report> {
    let exporter = Exporter::install(metric::DEFAULT_PREFIX)?;
    let stock = Stock::open(database).await?;
    stock.fill(events, &mut tell).await?;
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let settings = Settings { listen, open: true, ..Settings::default() };
    let server = Server::new(settings, stock.admin()).exporter(exporter).bind().await?;
    let caller = Caller(server.address());
    let (stop, stopped) = oneshot::channel::<()>();
    let mut serving = JoinSet::new();
    serving.spawn(server.run(async move {
        // Also if nobody says so, because the questions failed.
        _ = stopped.await;
    }));
    tell(&format!("opening every page {times} times"));
    let pages = open_all(&caller, times).await;
    drop(stop);
    serving.join_all().await;
    stock.close().await?;
    Ok(Report {
        database: if database.is_some() { "PostgreSQL" } else { "SQLite" },
        events,
        dead_letters: events / 100,
        times,
        aim_ms: milliseconds(AIM),
        pages: pages?,
    })
}

/// In turns, so that no page finds what it needs just asked for by itself.
async fn open_all(caller: &Caller, times: usize) -> anyhow::Result<Vec<Page>> {
    let questions = questions(caller).await?;
    let mut took = vec![Vec::with_capacity(times); questions.len()];
    for _ in 0..times {
        for (question, took) in questions.iter().zip(&mut took) {
            let began = Instant::now();
            for step in &question.steps {
                caller.get_all(step).await?;
            }
            took.push(began.elapsed());
        }
    }
    Ok(questions.into_iter().zip(took).map(|(question, took)| Page::of(question, took)).collect())
}

impl Page {
    fn of(question: Question, mut took: Vec<Duration>) -> Self {
        took.sort_unstable();
        let at = |index: usize| took.get(index).copied().unwrap_or_default();
        let worst = at(took.len().saturating_sub(1));
        Self {
            page: question.page,
            what: question.what,
            asked: question.steps,
            p50_ms: milliseconds(at(took.len() / 2)),
            worst_ms: milliseconds(worst),
            missed: worst > AIM,
        }
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

/// Somebody who asks the server.
#[derive(Clone, Copy)]
pub(super) struct Caller(SocketAddr);

impl Caller {
    /// Asks, and answers what is answered.
    pub(super) async fn get(&self, path: &str) -> anyhow::Result<Vec<u8>> {
        let mut stream = TcpStream::connect(self.0).await.context("cannot reach the server")?;
        let request = format!("GET {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", self.0);
        stream.write_all(request.as_bytes()).await.context("cannot ask the server")?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.context("the server does not answer")?;
        let head = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or(answer.len());
        let body = answer.get(head + 4..).unwrap_or_default();
        if !answer.starts_with(b"HTTP/1.1 200 ") {
            bail!("{path} was answered with {}", String::from_utf8_lossy(&answer));
        }
        Ok(body.to_vec())
    }

    /// Asks for all of these at once, and waits for the last answer.
    async fn get_all(self, paths: &[String]) -> anyhow::Result<()> {
        let mut asking = JoinSet::new();
        for path in paths {
            let path = path.clone();
            asking.spawn(async move { self.get(&path).await });
        }
        while let Some(answer) = asking.join_next().await {
            answer??;
        }
        Ok(())
    }

    /// Asks for JSON. Its length is told, so that the body is nothing else.
    pub(super) async fn json(&self, path: &str) -> anyhow::Result<Value> {
        serde_json::from_slice(&self.get(path).await?)
            .with_context(|| format!("{path} is answered without JSON"))
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { database, events, dead_letters, times, aim_ms, pages } = self;
        writeln!(
            f,
            "{database}, {} events, {} dead letters; every page {times} times, under {aim_ms} ms",
            grouped(*events),
            grouped(*dead_letters)
        )?;
        for Page { page, what, p50_ms, worst_ms, missed, .. } in pages {
            let mark = if *missed { "  MISSED" } else { "" };
            writeln!(f, "{page:<13} {what:<44} {p50_ms:>7.1} ms p50 {worst_ms:>7.1} ms worst{mark}")?;
        }
        let missed = pages.iter().filter(|page| page.missed).count();
        writeln!(f, "{missed} of {} missed", pages.len())
    }
}
