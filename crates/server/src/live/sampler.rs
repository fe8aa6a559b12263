//! The loops that ask: the database how the log stands, the destinations whether they answer, and once a second what came of it.

use std::{sync::Arc, time::Duration};

use posthaste::{Admin, Clock, Pulse, RelayId, RelayStatus, Sink, SystemClock};
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
/// How often the tables are looked over.
const DAMAGE_INTERVAL: Duration = Duration::from_secs(60);

/// Asks the database how the log stands, for ever.
pub(crate) async fn ask_database(app: App) {
    let backing = app.backing.wait().await;
    loop {
        let began = Instant::now();
        let answer = match timeout(DATABASE_TIME, backing.admin.status()).await {
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
        app.hub.known().note_database(answer);
        let wait = if app.hub.is_watched() { SECOND } else { UNWATCHED };
        tokio::select! {
            () = tokio::time::sleep(wait.max(took * DATABASE_SHARE).min(LONGEST_WAIT)) => {}
            () = app.hub.joined() => {}
        }
    }
}

/// Looks the tables over for what no relay could go on with, for ever. Nobody but an accident makes such damage, so that it is looked
/// for seldom.
pub(crate) async fn look_for_damage(app: App) {
    let backing = app.backing.wait().await;
    loop {
        if let Ok(Ok(damage)) = timeout(DATABASE_TIME, find_damage(backing.admin.as_ref())).await {
            app.hub.known().damage = Some(damage);
        }
        tokio::time::sleep(DAMAGE_INTERVAL).await;
    }
}

/// Lanes without a line, in words. A subscription that is created while this looks has all its lines at once.
async fn find_damage(admin: &dyn Admin) -> posthaste::Result<Vec<String>> {
    let mut damage = Vec::new();
    for subscription in admin.status().await?.subscriptions {
        // One that was dropped meanwhile has no lanes any more.
        let Ok(lanes) = admin.lanes(&subscription.name).await else { continue };
        let lost: Vec<String> =
            lanes.iter().filter(|lane| lane.n == 0).map(|lane| lane.lane.0.to_string()).collect();
        if !lost.is_empty() {
            damage.push(format!("{} has lost its lines in the lanes {}", subscription.name, lost.join(", ")));
        }
    }
    Ok(damage)
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
    /// Every relay watches, so that any can take over; one speaks.
    fn see(&mut self, sample: &Sample, speaks: impl Fn(&str) -> bool) {
        let alerts = self.watch.see(Instant::now(), sample);
        for alert in alerts.into_iter().filter(|alert| speaks(&alert.subscription)) {
            if let Err(error) = self.alerts.try_send(alert) {
                tracing::error!(%error, "an alert is lost: too many wait to be sent");
            }
        }
    }
}

/// Whether this relay is the one that speaks of a subscription: the first of those that serve it. Where none is known to, or no relay
/// runs here, rather twice than never.
fn is_first(me: Option<&RelayId>, relays: &[RelayStatus], subscription: &str) -> bool {
    let serves = |relay: &&RelayStatus| relay.subscriptions.iter().any(|name| name == subscription);
    let first = relays.iter().filter(serves).map(|relay| &relay.relay.0).min();
    match (me, first) {
        (Some(me), Some(first)) => me.0 == *first,
        _ => true,
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
            let me = app.backing.get().and_then(|backing| backing.pulse.as_ref()).and_then(Pulse::id);
            let relays =
                app.hub.known().status.as_ref().map(|status| status.relays.clone()).unwrap_or_default();
            alarm.see(&sample, |subscription| is_first(me.as_ref(), &relays, subscription));
        }
        self.last = Some(sample);
    }
}

#[cfg(test)]
mod tests {
    use posthaste::Timestamp;

    use super::*;

    fn relay(id: &str, subscriptions: &[&str]) -> RelayStatus {
        RelayStatus {
            relay: RelayId(id.to_owned()),
            host: String::new(),
            version: String::new(),
            subscriptions: subscriptions.iter().map(ToString::to_string).collect(),
            started_at: Timestamp(0),
            held_until: Timestamp(0),
            lanes: 0,
        }
    }

    #[test]
    fn one_of_the_relays_that_serve_a_subscription_speaks_of_it() {
        let relays = [relay("b", &["billing", "audit"]), relay("a", &["audit"]), relay("c", &["billing"])];
        let speaks = |me: &str, subscription| is_first(Some(&RelayId(me.to_owned())), &relays, subscription);
        assert_eq!(["a", "b", "c"].map(|me| speaks(me, "billing")), [false, true, false]);
        assert_eq!(["a", "b", "c"].map(|me| speaks(me, "audit")), [true, false, false]);
        assert!(
            speaks("a", "nobody serves it") && is_first(None, &relays, "billing"),
            "rather twice than never"
        );
    }
}
