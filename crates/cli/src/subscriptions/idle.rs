//! Doing what is only possible while nobody delivers: the subscription is paused, its holders settle and give back, and afterwards
//! it goes on if it did before.

use std::time::{Duration, Instant};

use anyhow::bail;
use clap::Args;
use posthaste::{Foreseen, OperatorAct, Status};
use serde_json::json;

use crate::{
    End,
    desk::{self, By, Desk},
    exit::{Coded, REFUSED, code_of},
    screen::{Progress, confirm, remark},
    signals::Signals,
};

/// How often to look whether lanes are given back.
const INTERVAL: Duration = Duration::from_millis(100);

/// A subscription for which something is to be done, and how long relays may take to give it back.
pub(super) struct Idle<'a> {
    pub(super) desk: &'a Desk,
    pub(super) by: &'a By,
    pub(super) name: &'a str,
    pub(super) patience: Duration,
}

/// What is asked of whoever wants such a thing done.
#[derive(Args)]
#[group(skip)]
pub(super) struct Plan {
    #[command(flatten)]
    desk: desk::Options,
    /// Its name
    #[arg(value_name = "NAME")]
    pub(super) name: String,
    /// Only say what it would do
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    patience: Patience,
    #[command(flatten)]
    by: By,
}

/// What the act means for the subscription, in words.
pub(super) struct Words {
    /// What it would do.
    pub(super) would: String,
    /// What is asked first, if it matters.
    pub(super) question: Option<String>,
    /// What it has done.
    pub(super) done: String,
}

impl Plan {
    /// Says what the act would do, or asks and does it.
    pub(super) async fn carry_out(
        self,
        act: OperatorAct,
        words: impl FnOnce(&Status, &Foreseen) -> Words,
    ) -> anyhow::Result<End> {
        let (desk, name) = (self.desk.open().await?, self.name);
        let status = desk.check_subscription(&name).await?;
        let foreseen = desk.foresee(&act).await?;
        let words = words(&status, &foreseen);
        if self.dry_run {
            desk.answer(&told(&name, &foreseen, true), &words.would)?;
            return Ok(End::Fine);
        }
        if let Some(question) = words.question.filter(|_| !self.yes)
            && !confirm(&question)?
        {
            remark("nothing was done\n");
            return Ok(End::Bad);
        }
        let idle = Idle { desk: &desk, by: &self.by, name: &name, patience: self.patience.timeout };
        idle.act(&act).await?;
        desk.answer(&told(&name, &foreseen, false), &words.done)?;
        Ok(End::Fine)
    }
}

/// What an act would do, or has done, for programs.
fn told(name: &str, foreseen: &Foreseen, dry_run: bool) -> serde_json::Value {
    json!({
        "subscription": name,
        "dry_run": dry_run,
        "concerned": foreseen.concerned,
        "again": foreseen.again,
        "skipped": foreseen.skipped,
        "estimated": foreseen.estimated,
    })
}

impl Idle<'_> {
    /// Pauses if that is needed, waits, acts; and resumes if it was not paused before and is still there.
    pub(super) async fn act(&self, act: &OperatorAct) -> anyhow::Result<u64> {
        let was_paused = self.is_paused().await?;
        if !was_paused {
            self.desk.act(&OperatorAct::Pause(self.name.to_owned()), self.by).await?;
        }
        let done = self.attempt(act).await;
        let is_gone = done.is_ok() && matches!(act, OperatorAct::Drop(_));
        if !was_paused && !is_gone {
            self.desk.act(&OperatorAct::Resume(self.name.to_owned()), self.by).await?;
        }
        done
    }

    /// Whether it is paused, by the name that is known to be right.
    async fn is_paused(&self) -> anyhow::Result<bool> {
        let status = self.desk.check_subscription(self.name).await?;
        Ok(status.subscriptions.iter().any(|found| found.name == self.name && found.paused))
    }

    /// A relay may still settle after its lanes are counted as given back; then it is refused, and tried again.
    async fn attempt(&self, act: &OperatorAct) -> anyhow::Result<u64> {
        let deadline = Instant::now() + self.patience;
        // Who stops waiting must not leave it paused.
        let mut signals = Signals::watch()?;
        loop {
            tokio::select! {
                waited = self.wait(deadline) => waited?,
                _ = signals.next() => bail!("interrupted while {} was waited for; nothing was changed", self.name),
            }
            match self.desk.act(act, self.by).await {
                Err(error) if code_of(&error) == REFUSED && Instant::now() < deadline => {
                    tokio::time::sleep(INTERVAL).await;
                }
                done => return done,
            }
        }
    }

    /// Waits until no live relay holds a lane.
    pub(super) async fn wait(&self, deadline: Instant) -> anyhow::Result<()> {
        let mut progress = Progress::new(format!("waiting until {} is given back", self.name));
        let mut told = false;
        loop {
            let held = self.held().await?;
            if held == 0 {
                return Ok(());
            }
            if Instant::now() >= deadline {
                return Err(Coded::refused(format!(
                    "{held} lanes of {} are still held after {:?}; look with `posthaste lanes {}`, or raise --timeout",
                    self.name, self.patience, self.name
                )));
            }
            if !told {
                remark(&format!("waiting until relays give {held} lanes of {} back\n", self.name));
                told = true;
            }
            progress.show(&format!("{held} lanes are held"));
            tokio::time::sleep(INTERVAL).await;
        }
    }

    async fn held(&self) -> anyhow::Result<u64> {
        let status = self.desk.status().await?;
        let found = status.subscriptions.iter().find(|found| found.name == self.name);
        Ok(found.map_or(0, |found| found.lanes_held))
    }
}

/// How long relays may take, as a command line has it.
#[derive(clap::Args)]
#[group(skip)]
pub(super) struct Patience {
    /// How long to wait until relays have given its lanes back
    #[arg(long, value_name = "TIME", default_value = "1m", value_parser = humantime::parse_duration)]
    pub(super) timeout: Duration,
}
