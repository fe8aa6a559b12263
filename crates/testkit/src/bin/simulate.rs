//! Runs simulated schedules and says which broke a rule. `--seed S` reruns exactly one.

use std::{
    process::ExitCode,
    sync::atomic::{AtomicU64, Ordering},
    time::Instant,
};

use clap::Parser;
use posthaste_testkit::simulation::{self, Run};

#[derive(Parser)]
#[command(about = "Runs the engine in made-up worlds and judges what happened")]
struct Arguments {
    /// How many schedules to run.
    #[arg(long, default_value_t = 3_000)]
    schedules: u64,
    /// The first seed; with `--seed` alone, only this one is run.
    #[arg(long)]
    seed: Option<u64>,
}

#[expect(clippy::print_stdout, reason = "this is a program")]
fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let (first, count) = match arguments.seed {
        Some(seed) => (seed, 1),
        None => (1, arguments.schedules),
    };
    let began = Instant::now();
    let runs = run_all(first, count);
    let broken: Vec<&Run> = runs.iter().filter(|run| !run.breaches.is_empty()).collect();
    for run in broken.iter().take(10) {
        println!("seed {} broke:", run.seed);
        for breach in run.breaches.iter().take(5) {
            println!("  {breach}");
        }
    }
    let sum = |field: fn(&Run) -> u64| runs.iter().map(field).sum::<u64>();
    println!(
        "{} schedules in {:.1} s: {} events, {} deliveries, {} repeats, {} crashes, {} steps",
        runs.len(),
        began.elapsed().as_secs_f64(),
        sum(|run| run.events),
        sum(|run| run.deliveries),
        sum(|run| run.repeats),
        sum(|run| run.crashes),
        sum(|run| run.steps),
    );
    println!("{} passed, {} failed", runs.len() - broken.len(), broken.len());
    if broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// So many broken schedules say enough; a fault that breaks most of them should not take long to find.
const ENOUGH: u64 = 10;

fn run_all(first: u64, count: u64) -> Vec<Run> {
    let (next, broken) = (AtomicU64::new(0), AtomicU64::new(0));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let work = || {
        let mut runs = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count || broken.load(Ordering::Relaxed) >= ENOUGH {
                return runs;
            }
            let run = simulation::run(first + index);
            broken.fetch_add(u64::from(!run.breaches.is_empty()), Ordering::Relaxed);
            runs.push(run);
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a schedule never panics")).collect()
    })
}
