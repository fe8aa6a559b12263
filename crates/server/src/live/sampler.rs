//! The loops that ask: the database how the log stands, the destinations whether they answer, and once a second what came of it.

use std::{sync::Arc, time::Duration};

use posthaste::{Clock, Sink, SystemClock};
use tokio::{
    sync::mpsc,
    time::{Instant, MissedTickBehavior, timeout},
};

use super::{
    known::Asked,
    notice::notices,
    reading::{self, Reading},
    sample::{Interval, Sample, sample},
};
use crate::{
    alert::{Alert, Watch},
    api::live::SampleView,
    app::App,
};

/// How often it is sampled.
const SECOND: Duration = Duration::from_secs(1);
/// How often the database is asked while nobody looks: for health, alerts and the past of the charts.
const UNWATCHED: Duration = Duration::from_secs(5);
/// How long the database may take to answer.
const DATABASE_TIME: Duration = Duration::from_secs(10);
/// Asking a large log takes a while. The wait is at least so many times as long, so that it never costs much.
const DATABASE_SHARE: u32 = 20;
/// But never longer than this: what is older says nothing about health.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// How often destinations are asked, and how long they may take to answer.
const SINK_INTERVAL: Duration = Duration::from_secs(15);
const SINK_TIME: Duration = Duration::from_secs(5);

/// Asks the database how the log stands, for ever.
pub(crate) async fn ask_database(app: App) {
    loop {
        let began = Instant::now();
        let answer = match timeout(DATABASE_TIME, app.admin.status()).await {
            Ok(Ok(status)) => {
                let mut known = app.hub.known();
                let known = &mut *known;
                known.progress.see(Instant::now(), &status, &known.reading);
                known.status = Some(status);
                Ok(began.elapsed())
            }
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err(format!("no answer within {DATABASE_TIME:?}")),
        };
        let took = began.elapsed();
        app.hub.known().database = Some(Asked { at: Instant::now(), answer });
        let wait = if app.hub.is_watched() { SECOND } else { UNWATCHED };
        tokio::select! {
            () = tokio::time::sleep(wait.max(took * DATABASE_SHARE).min(LONGEST_WAIT)) => {}
            () = app.hub.joined() => {}
        }
    }
}

/// Asks a destination whether it answers, for ever.
pub(crate) async fn ask_sink(app: App, subscription: String, sink: Arc<dyn Sink>) {
    loop {
        let began = Instant::now();
        let answer = match timeout(SINK_TIME, sink.ping()).await {
            Ok(Ok(())) => Ok(began.elapsed()),
            Ok(Err(fault)) => Err(fault.to_string()),
            Err(_) => Err(format!("no answer within {SINK_TIME:?}")),
        };
        app.hub.known().sinks.insert(subscription.clone(), Asked { at: Instant::now(), answer });
        tokio::time::sleep(SINK_INTERVAL).await;
    }
}

/// Samples once a second, for ever.
pub(crate) async fn run(app: App, alarm: Option<Alarm>) {
    let mut ticks = tokio::time::interval(SECOND);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut sampler = Sampler { before: Reading::default(), at: Instant::now(), last: None, alarm };
    loop {
        ticks.tick().await;
        sampler.step(&app);
    }
}

/// Who is told of what is bad.
pub(crate) struct Alarm {
    pub(crate) watch: Watch,
    pub(crate) alerts: mpsc::Sender<Alert>,
}

impl Alarm {
    fn see(&mut self, sample: &Sample) {
        for alert in self.watch.see(Instant::now(), sample) {
            if let Err(error) = self.alerts.try_send(alert) {
                tracing::error!(%error, "an alert is lost: too many wait to be sent");
            }
        }
    }
}

struct Sampler {
    before: Reading,
    at: Instant,
    last: Option<Sample>,
    alarm: Option<Alarm>,
}

impl Sampler {
    fn step(&mut self, app: &App) {
        let now = Instant::now();
        let reading = app
            .exporter
            .as_ref()
            .map_or_else(Reading::default, |exporter| reading::read(&exporter.render(), &exporter.prefix));
        let seconds = now.duration_since(self.at).as_secs_f64();
        let made = {
            let mut known = app.hub.known();
            known.reading = reading.clone();
            let interval = known.status.as_ref().map(|status| {
                let interval = Interval { status, before: &self.before, now: &reading, seconds };
                sample(SystemClock.now(), &interval)
            });
            if let Some(sample) = &interval {
                known.ring.push(sample);
            }
            interval
        };
        (self.before, self.at) = (reading, now);
        if let Some(sample) = made {
            self.tell(app, sample);
        }
    }

    fn tell(&mut self, app: &App, sample: Sample) {
        app.hub.tell("sample", &SampleView::of(&sample));
        if let Some(last) = &self.last {
            for notice in notices(last, &sample) {
                app.hub.known().note(notice.clone());
                app.hub.tell("notice", &notice);
            }
        }
        if let Some(alarm) = &mut self.alarm {
            alarm.see(&sample);
        }
        self.last = Some(sample);
    }
}
