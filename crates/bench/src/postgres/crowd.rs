//! Several relays on one backlog: together they are no slower than one.

use std::{sync::Arc, time::Instant};

use posthaste::{Result, Subscription};
use posthaste_relay::RelayBuilder;

use super::{Plan, report::Crowd, shop::Shop};
use crate::{median, null_sink::Counted};

pub(crate) async fn measure(shop: &Shop, plan: &Plan) -> Result<Vec<Crowd>> {
    let mut rates = [1, 2, 4].map(|relays| (relays, Vec::new()));
    for round in 0..plan.rounds.max(1) {
        for (relays, rates) in &mut rates {
            rates.push(plan.events as f64 / drain(shop, *relays, round, plan.events).await?);
        }
    }
    Ok(rates.into_iter().map(|(relays, rates)| Crowd { relays, rate: median(rates) }).collect())
}

/// Answers in seconds.
async fn drain(shop: &Shop, count: usize, round: usize, events: u64) -> Result<f64> {
    let sink = Counted::null(events);
    let began = Instant::now();
    let mut relays = Vec::with_capacity(count);
    for _ in 0..count {
        let subscription = Subscription::new(format!("crowd-{count}-{round}"));
        let relay = RelayBuilder::new(shop.another().await?).subscribe(subscription, Arc::new(sink.clone()));
        relays.push(relay.start().await?);
    }
    sink.wait().await;
    let took = began.elapsed().as_secs_f64();
    for relay in relays {
        relay.stop().await;
    }
    Ok(took)
}
