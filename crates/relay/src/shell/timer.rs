//! The one place where the engine's moments and the machine's clock meet.

use std::time::{Duration, Instant};

use crate::Moment;

/// Counts from when the relay began.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timer {
    began: tokio::time::Instant,
}

impl Timer {
    pub(super) fn start() -> Self {
        Self { began: tokio::time::Instant::now() }
    }

    pub(super) fn now(self) -> Moment {
        Moment::after(self.began.elapsed())
    }

    pub(super) fn instant(self, moment: Moment) -> Instant {
        self.at(moment).into_std()
    }

    /// Waits until the moment, or for ever.
    pub(super) async fn wait(self, until: Option<Moment>) {
        match until {
            Some(moment) => tokio::time::sleep_until(self.at(moment)).await,
            None => std::future::pending().await,
        }
    }

    fn at(self, moment: Moment) -> tokio::time::Instant {
        /// Beyond this a moment is as good as never, and would overflow the platform's clock.
        const FAR: Duration = Duration::from_secs(365 * 24 * 3600);
        self.began + moment.elapsed().min(FAR)
    }
}
