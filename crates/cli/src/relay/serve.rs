//! A relay from its start to its end.

use std::{convert::Infallible, sync::Arc};

use posthaste::{Outbox, Relay, Status, Stopped};
use tokio::sync::Notify;
use tracing::{info, warn};

use super::{
    answer, idle,
    job::{Job, Patience},
    operate::{self, Operating},
    start::{Started, start},
    tap::Tap,
    traces::Tracing,
    tune::{self, Controls},
};
use crate::{
    End,
    exit::{Coded, REFUSED},
    signals::{Hangups, Signals},
};

/// Why a relay stops.
enum Reason {
    Signal(&'static str),
    NothingLeft,
    NobodyReads,
}

/// Delivers until it is told to stop, or until nothing is left if it shall run once.
pub(super) async fn serve(
    job: Job,
    (mut signals, mut hangups): (Signals, Hangups),
    once: bool,
) -> anyhow::Result<End> {
    let abandoned = Arc::new(Notify::new());
    let tracing = Tracing::start(&job).map_err(|error| Coded::new(REFUSED, error))?;
    let taps = open(&job, tracing.as_ref(), &abandoned)?;
    let exporter = operate::record(&job)?;
    let operating =
        operate::start(&job, &taps, exporter).await.map_err(|error| Coded::new(REFUSED, error))?;
    let started = tokio::select! {
        started = start(&job, &taps, operating.as_ref()) => started?,
        signal = signals.next() => {
            info!(signal, "stopped before it began");
            return Ok(End::Fine);
        }
    };
    tell(&job, &started.outbox);
    let (Started { outbox, relay }, controls) = take_up(&job, &taps, started, operating.as_ref()).await?;
    let asking = answer::watch(&job, &taps);

    let reason = tokio::select! {
        signal = signals.next() => Reason::Signal(signal),
        () = abandoned.notified() => Reason::NobodyReads,
        () = idle::wait(&outbox, &job), if once => Reason::NothingLeft,
        never = heed(&mut hangups, &controls, &outbox) => match never {},
    };
    let end = announce(&reason);
    drop(asking);
    let stopped = stop(relay, &mut signals).await;
    if let Some(tracing) = tracing {
        tracing.stop().await;
    }
    // Last, so that until then it can be seen how the relay stops.
    if let Some(operating) = operating {
        operating.stop().await;
    }
    summarise(&outbox, &job, &taps).await;
    Ok(match stopped {
        Stopped::Cleanly => end,
        Stopped::InTheMiddle => {
            warn!("stopped in the middle; what was under way is delivered again when the lease has ended");
            End::Bad
        }
    })
}

/// Reads the file again whenever that is asked for.
async fn heed(hangups: &mut Hangups, controls: &Controls, outbox: &Outbox) -> Infallible {
    loop {
        hangups.next().await;
        controls.read_again(outbox.admin()).await;
    }
}

/// Does what a relay that has started is to do besides: pauses what the file wants paused, and serves the API if that is configured. If
/// it cannot, the relay stops in peace, so that its lanes are free for whoever is started next.
async fn take_up(
    job: &Job,
    taps: &[Tap],
    started: Started,
    operating: Option<&Operating>,
) -> anyhow::Result<(Started, Controls)> {
    let file = job.file.clone().zip(job.config.clone());
    let taps = job.names().map(str::to_owned).zip(taps.iter().cloned()).collect();
    let controls = Controls::new(started.relay.tuner(), taps, file);
    tune::pause_at_start(started.outbox.admin(), &job.subscriptions).await;
    if let Some(operating) = operating
        && let Err(error) = operating.open(job, &started, controls.clone()).await
    {
        started.relay.stop().await;
        return Err(Coded::new(REFUSED, error).into());
    }
    Ok((started, controls))
}

/// Opens every destination.
fn open(job: &Job, tracing: Option<&Tracing>, abandoned: &Arc<Notify>) -> anyhow::Result<Vec<Tap>> {
    let open = |served: &posthaste_config::Served| Tap::open(served, tracing, abandoned);
    let taps: Result<_, posthaste::Error> = job.subscriptions.iter().map(open).collect();
    taps.map_err(|error| match job.patience {
        Patience::None => error.into(),
        Patience::Endless => Coded::new(REFUSED, error).into(),
    })
}

/// What is served, a line each.
fn tell(job: &Job, outbox: &Outbox) {
    let lanes = outbox.driver().capabilities().lanes;
    info!(database = %job.database.address, prefix = job.database.prefix, lanes, "relay started");
    for served in &job.subscriptions {
        let subscription = &served.subscription;
        let patterns = |patterns: &[posthaste::Pattern]| {
            patterns.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
        };
        let (types, topics) = (patterns(&subscription.filter.types), patterns(&subscription.filter.topics));
        let any = |text: String| if text.is_empty() { "*".to_owned() } else { text };
        info!(
            subscription = subscription.name,
            sink = %served.destination,
            types = any(types),
            topics = any(topics),
            order = %subscription.order,
            "serving"
        );
    }
}

fn announce(reason: &Reason) -> End {
    match reason {
        Reason::Signal(signal) => info!(signal, "stopping"),
        Reason::NothingLeft => info!("nothing is pending; stopping"),
        Reason::NobodyReads => {
            warn!("standard output is closed; stopping");
            return End::Bad;
        }
    }
    End::Fine
}

/// Stops in peace; a second signal ends that.
async fn stop(relay: Relay, signals: &mut Signals) -> Stopped {
    tokio::select! {
        stopped = relay.stop() => stopped,
        _ = signals.next() => Stopped::InTheMiddle,
    }
}

/// The last lines of the log: what came of it, and what a person should look at.
async fn summarise(outbox: &Outbox, job: &Job, taps: &[Tap]) {
    let status = outbox.admin().status().await.unwrap_or_default();
    for (name, tap) in job.names().zip(taps) {
        let delivered = tap.delivered();
        match found(&status, name) {
            Some((pending, delayed, dead)) => {
                info!(subscription = name, delivered, pending, delayed, dead, "served");
            }
            None => info!(subscription = name, delivered, "served"),
        }
    }
    info!("relay stopped");
}

/// What is pending, delayed and dead in a subscription, if that is known.
fn found(status: &Status, name: &str) -> Option<(u64, u64, u64)> {
    let found = status.subscriptions.iter().find(|found| found.name == name)?;
    Some((found.pending + found.failed, found.delayed, found.dead))
}
