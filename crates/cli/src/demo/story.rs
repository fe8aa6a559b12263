//! What happens in the demo, in order: do business while things go wrong, wait for the rest, gather the facts.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use posthaste::{
    DeadFilter, OperatorAct, Outbox, Relay, RetryPolicy, Subscription,
    sqlite::{self, SqlitePool},
};
use posthaste_testkit::history::all_dead;

use super::{
    facts::{Facts, SubscriberFacts},
    plan::Plan,
    progress::{Progress, Snapshot, SubscriberProgress},
    receipts::Receipts,
    shop::{Books, Shop, count_orders},
    subscribers::{self, EMAIL, INVOICES, Interrupted, PAYMENTS, Switch, WAREHOUSE},
};

/// How long the rest may take when the shop has closed. Far more than it needs: what is not there then is lost.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often something is looked at that is waited for.
const GLANCE: Duration = Duration::from_millis(10);

/// Everything on stage.
pub(super) struct Story<'p> {
    plan: &'p Plan,
    outbox: Outbox,
    pool: SqlitePool,
    relay: Relay,
    books: Mutex<Books>,
    cast: [(&'static str, Arc<Receipts>); 4],
    down: Arc<Switch>,
    fixed: Arc<Switch>,
    replayed: Switch,
    opened: Instant,
}

impl<'p> Story<'p> {
    pub(super) async fn begin(plan: &'p Plan, path: &Path) -> Result<Self> {
        let url = format!("sqlite://{}", path.display());
        let outbox = Outbox::open(&url).await?;
        let pool = sqlite::pool(&url).await?;
        let cast = [WAREHOUSE, EMAIL, PAYMENTS, INVOICES].map(|name| (name, Arc::new(Receipts::default())));
        let [warehouse, email, payments, invoices] =
            cast.each_ref().map(|(_, receipts)| Arc::clone(receipts));
        let (down, fixed) = (Arc::new(Switch::default()), Arc::new(Switch::default()));
        let soon = RetryPolicy { base: Duration::from_millis(100), ..RetryPolicy::default() };
        let relay = outbox
            .relay()
            .subscribe(Subscription::new(WAREHOUSE), subscribers::healthy(warehouse))
            .subscribe(
                Subscription { retry: soon, ..Subscription::new(EMAIL) },
                subscribers::shaky(email, plan.seed),
            )
            .subscribe(Subscription::new(PAYMENTS), Interrupted::new(payments, Arc::clone(&down)))
            .subscribe(Subscription::new(INVOICES), subscribers::buggy(invoices, Arc::clone(&fixed)))
            .start()
            .await?;
        let (books, replayed, opened) = (Mutex::default(), Switch::default(), Instant::now());
        Ok(Self { plan, outbox, pool, relay, books, cast, down, fixed, replayed, opened })
    }

    /// Plays it to the end and answers with what was seen.
    pub(super) async fn tell(self, mut progress: Progress) -> Result<Facts> {
        tokio::select! {
            played = self.play() => played?,
            error = self.show(&mut progress) => return Err(error),
        }
        progress.finish(&self.snapshot())?;
        self.gather().await
    }

    async fn play(&self) -> Result<()> {
        let shop = Shop::build(&self.outbox, &self.pool, &self.books, self.plan.seed).await?;
        let business = shop.open(self.plan, self.opened.into());
        let outage = async {
            let outage = self.plan.outage();
            self.reach(outage.start).await;
            self.down.set(true);
            self.reach(outage.end).await;
            self.down.set(false);
            Ok(())
        };
        tokio::try_join!(business, outage, self.repair())?;
        self.wait_for_the_rest().await;
        Ok(())
    }

    /// Fixes the bug, and sends what it killed again.
    async fn repair(&self) -> Result<()> {
        self.reach(self.plan.repair()).await;
        self.fixed.set(true);
        let filter = DeadFilter { subscription: Some(INVOICES.to_owned()), ..DeadFilter::default() };
        let deadline = Instant::now() + self.plan.duration + PATIENCE;
        let dead = loop {
            let dead = self.outbox.admin().dead(&filter).await?.items;
            if !dead.is_empty() {
                break dead;
            }
            if Instant::now() > deadline {
                return Ok(());
            }
            tokio::time::sleep(GLANCE).await;
        };
        let act = OperatorAct::Replay(dead.iter().map(|letter| letter.dead_id).collect());
        let replayed =
            self.outbox.admin().act(&act, "demo").await.context("cannot replay the dead letter")?;
        self.replayed.set(replayed > 0);
        Ok(())
    }

    async fn reach(&self, time: Duration) {
        tokio::time::sleep_until((self.opened + time).into()).await;
    }

    /// Until everybody has everything; what is missing then, the summary says.
    async fn wait_for_the_rest(&self) {
        let deadline = Instant::now() + PATIENCE;
        let committed = self.books.lock().unwrap_or_else(PoisonError::into_inner).sold.len();
        while self.cast.iter().any(|(_, receipts)| receipts.arrived() < committed)
            && Instant::now() < deadline
        {
            tokio::time::sleep(GLANCE).await;
        }
    }

    async fn show(&self, progress: &mut Progress) -> anyhow::Error {
        loop {
            tokio::time::sleep(progress.interval()).await;
            if let Err(error) = progress.draw(&self.snapshot()) {
                return error.into();
            }
        }
    }

    fn snapshot(&self) -> Snapshot {
        let books = self.books.lock().unwrap_or_else(PoisonError::into_inner);
        let subscribers = self.cast.each_ref().map(|(name, receipts)| SubscriberProgress {
            name,
            arrived: receipts.arrived() as u64,
            failures: receipts.failures(),
        });
        Snapshot {
            elapsed: self.opened.elapsed(),
            duration: self.plan.duration,
            committed: books.sold.len() as u64,
            rolled_back: books.rolled_back.len() as u64,
            subscribers,
            down: self.down.is_on(),
            replayed: self.replayed.is_on(),
        }
    }

    /// Stops the relay first, so that nothing moves any more.
    async fn gather(self) -> Result<Facts> {
        let took = self.opened.elapsed();
        if self.relay.stop().await != posthaste::Stopped::Cleanly {
            bail!("the relay did not stop in time");
        }
        let admin = self.outbox.admin();
        let mut subscribers = Vec::new();
        for (name, receipts) in &self.cast {
            let seen = receipts.snapshot();
            let dead = all_dead(admin, name).await?;
            let mut attempts_during_outage = 0;
            for id in seen.refused.keys() {
                let items = admin.show(*id).await?.items;
                let counted = items.iter().filter(|item| item.subscription.as_deref() == Some(*name));
                attempts_during_outage += counted.filter(|item| item.what == "failed").count() as u64;
            }
            subscribers.push(SubscriberFacts { name, seen, dead, attempts_during_outage });
        }
        let orders_in_table = count_orders(&self.pool).await?;
        self.pool.close().await;
        let books = self.books.into_inner().unwrap_or_else(PoisonError::into_inner);
        let outage = self.plan.outage();
        let outage = self.opened + outage.start..self.opened + outage.end;
        Ok(Facts { books, subscribers, orders_in_table, outage, took })
    }
}
