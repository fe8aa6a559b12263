//! The director: sets the stage, has it disturbed, waits until everything has arrived, and tells the verdict.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::Result;
use clap::Args;
use fastrand::Rng;
use posthaste_core::MAX_LANES;

use crate::{
    chaos,
    chaos::Done,
    record::End,
    relay::BATCH,
    stage::Stage,
    verdict::{Books, Facts, judge},
};

/// How long the last events may take to arrive when nothing disturbs any more.
const PATIENCE: Duration = Duration::from_secs(120);

#[derive(Args)]
pub(crate) struct Options {
    /// The program `posthaste`
    #[arg(long)]
    program: PathBuf,
    /// Where fetched files of servers are kept
    #[arg(long)]
    cache: PathBuf,
    /// For how many seconds to disturb
    #[arg(long, default_value_t = 40)]
    seconds: u64,
    /// Repeats the same choices, though not the same timing
    #[arg(long)]
    seed: Option<u64>,
    /// Keep the folder with all logs and books, also if all is well
    #[arg(long)]
    keep: bool,
}

/// Answers whether everything was in order.
pub(crate) async fn run(options: &Options) -> Result<bool> {
    let seed = options.seed.unwrap_or_else(|| fastrand::u64(..));
    let folder = tempfile::Builder::new().prefix("posthaste-prove").tempdir()?;
    open_for_servers(folder.path())?;
    println!("proving with seed {seed} for {} s, in {}", options.seconds, folder.path().display());
    let time = Duration::from_secs(options.seconds);
    let mut stage = Stage::set(&options.program, &options.cache, folder.path(), seed, time / 3).await?;
    let done = chaos::run(&mut stage, time, &mut Rng::with_seed(seed)).await?;
    let fine = conclude(&mut stage, &done).await?;
    drop(stage);
    if options.keep || !fine {
        println!("everything is kept in {}", folder.keep().display());
    }
    Ok(fine)
}

/// Servers may run as another user.
fn open_for_servers(folder: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    Ok(std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755))?)
}

async fn conclude(stage: &mut Stage, done: &Done) -> Result<bool> {
    let books = Books::read(&stage.publishers.finish()?)?;
    let facts = Facts::gather(&stage.postgres.url()).await?;
    println!("waiting until {} committed events have arrived", facts.committed.len());
    let arrived = wait_for_all(stage, &facts).await;
    let facts = Facts::gather(&stage.postgres.url()).await?;
    let ended = stage.relays.iter_mut().filter_map(|relay| relay.has_ended().then_some(())).count();
    let received = stage.consumer.received();
    // A relay repeats at most one batch for each lane it held; all relays together hold every lane once.
    let allowed = done.repeating() * u64::from(MAX_LANES) * BATCH;
    let report = judge(&facts, &books, &received.messages, allowed)?;
    println!("{done}");
    println!(
        "{} transactions committed, {} rolled back, {} with an unknown end; {} events committed",
        books.count(End::Committed),
        books.count(End::RolledBack),
        books.count(End::Unknown),
        facts.committed.len()
    );
    println!(
        "{} messages received, {} of them repeats ({allowed} are allowed); {} dead letters, {} parked, {} attempts spent",
        received.messages.len(),
        received.repeats(),
        facts.dead,
        facts.parked,
        facts.failed_attempts
    );
    let mut problems: Vec<String> =
        report.breaches.iter().map(|breach| format!("{:?}: {}", breach.rule, breach.text)).collect();
    let mut demand = |count: u64, what: &str| {
        if count > 0 {
            problems.push(format!("{count} {what}"));
        }
    };
    demand(u64::from(!arrived), "deadline passed before everything had arrived");
    demand(books.missing(&facts)? as u64, "events that PostgreSQL had confirmed and does not have");
    demand(u64::try_from(facts.dead).unwrap_or(0), "dead letters, though every event was good");
    demand(u64::try_from(facts.failed_attempts).unwrap_or(0), "attempts spent, though no event was at fault");
    demand(received.strangers, "messages that are none of ours");
    demand(ended as u64, "relays that ended by themselves");
    tell(&problems);
    Ok(problems.is_empty())
}

/// Prints the first problems.
fn tell(problems: &[String]) {
    const SHOWN: usize = 20;
    if problems.is_empty() {
        println!("nothing lost, nothing made up, nothing out of order");
    }
    for problem in problems.iter().take(SHOWN) {
        println!("BROKEN  {problem}");
    }
    if problems.len() > SHOWN {
        println!("… and {} more", problems.len() - SHOWN);
    }
}

/// Whether everything arrived in time.
async fn wait_for_all(stage: &Stage, facts: &Facts) -> bool {
    let (ids, began) = (facts.ids(), Instant::now());
    while began.elapsed() < PATIENCE {
        if stage.consumer.received().has_all(&ids) {
            return true;
        }
        // Waits for a condition, with a deadline: the last message.
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    false
}
