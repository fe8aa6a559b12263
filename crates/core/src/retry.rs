//! The retry policy: the one pure function that turns a fault into an outcome.

use std::time::Duration;

use crate::{DeadReason, Error, Fault, FaultKind, Result, RetryOverrides};

/// How often and how late a failed event is tried again.
#[derive(Clone, Debug, PartialEq)]
pub struct RetryPolicy {
    /// After this many failures the event is a dead letter.
    pub max_attempts: u32,
    /// The wait after the first failure.
    pub base: Duration,
    /// By how much each wait is longer than the one before.
    pub multiplier: f64,
    /// No wait is longer than this (before jitter).
    pub max: Duration,
    /// Each wait is multiplied by something between these two, so that retries do not march in step.
    pub jitter: (f64, f64),
}

/// What the policy makes of a delivery.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The destination has it.
    Delivered,
    /// Wait and try again.
    Parked {
        /// How many deliveries have failed, this one included.
        attempts: u32,
        /// How long to wait.
        due_in: Duration,
    },
    /// Given up.
    Dead {
        /// How many deliveries have failed, this one included.
        attempts: u32,
        /// Why.
        reason: DeadReason,
    },
    /// It says nothing about the event: the destination is down, or asks to wait. No attempt counts.
    Undecided {
        /// How long the destination asked to wait, if it did.
        retry_after: Option<Duration>,
    },
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            max_attempts: 10,
            base: Duration::from_millis(200),
            multiplier: 2.0,
            max: Duration::from_secs(60),
            jitter: (0.75, 1.25),
        }
    }
}

impl RetryPolicy {
    /// Decides what becomes of an event that has failed `attempts` times before, and now with this fault.
    /// `random` is between 0 and 1 and places the wait within the jitter.
    #[must_use]
    pub fn decide(&self, attempts: u32, fault: &Fault, random: f64) -> Outcome {
        let attempts = match fault.kind {
            FaultKind::Unavailable => return Outcome::Undecided { retry_after: None },
            FaultKind::Throttled { retry_after } => {
                return Outcome::Undecided { retry_after: Some(retry_after) };
            }
            FaultKind::Transient | FaultKind::Permanent => attempts.saturating_add(1),
        };
        if fault.kind == FaultKind::Permanent || attempts >= self.max_attempts {
            return Outcome::Dead { attempts, reason: fault.reason };
        }
        Outcome::Parked { attempts, due_in: self.delay(attempts, random) }
    }

    /// The wait after the failure with this number (1 is the first): `min(max, base × multiplier^(attempt−1)) × jitter`.
    #[must_use]
    pub fn delay(&self, attempt: u32, random: f64) -> Duration {
        // A large exponent gives infinity, which `min` turns into `max`: no attempt number overflows.
        let exponent = f64::from(attempt.saturating_sub(1));
        let grown = self.base.as_secs_f64() * self.multiplier.powf(exponent);
        let capped =
            if grown.is_finite() { grown.min(self.max.as_secs_f64()) } else { self.max.as_secs_f64() };
        let (low, high) = self.jitter;
        Duration::try_from_secs_f64(capped * (low + (high - low) * random.clamp(0.0, 1.0)))
            .unwrap_or(self.max)
    }

    /// The policy for one event, with what it overrides.
    #[must_use]
    pub fn with(&self, overrides: &RetryOverrides) -> RetryPolicy {
        RetryPolicy {
            max_attempts: overrides.max_attempts.unwrap_or(self.max_attempts),
            base: overrides.base.unwrap_or(self.base),
            multiplier: overrides.multiplier.unwrap_or(self.multiplier),
            max: overrides.max.unwrap_or(self.max),
            jitter: self.jitter,
        }
    }

    /// Says everything that is wrong with the policy.
    pub fn validate(&self) -> Result<()> {
        let mut problems = Vec::new();
        if self.max_attempts == 0 {
            problems.push("max_attempts is 0; it must be at least 1".to_owned());
        }
        if self.base.is_zero() || self.max < self.base {
            problems
                .push(format!("base is {:?} and max {:?}; 0 < base <= max is needed", self.base, self.max));
        }
        if !(self.multiplier.is_finite() && self.multiplier >= 1.0) {
            problems.push(format!("multiplier is {}; it must be 1 or more", self.multiplier));
        }
        let (low, high) = self.jitter;
        if !(low >= 0.0 && low <= high && high.is_finite()) {
            problems.push(format!("jitter is {low} to {high}; 0 <= low <= high is needed"));
        }
        if problems.is_empty() {
            Ok(())
        } else {
            Err(Error::invalid(format!("retry policy: {}", problems.join("; "))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(attempt: u32, random: f64) -> u128 {
        RetryPolicy::default().delay(attempt, random).as_millis()
    }

    #[test]
    fn waits_double_up_to_the_maximum_and_spread_by_a_quarter() {
        assert_eq!([1, 2, 3, 4].map(|attempt| millis(attempt, 0.5)), [200, 400, 800, 1_600]);
        assert_eq!(millis(1, 0.0), 150);
        assert_eq!(millis(1, 1.0), 250);
        assert_eq!(millis(30, 0.5), 60_000);
    }

    #[test]
    fn no_attempt_number_overflows_or_leaves_the_bounds() {
        let steep = RetryPolicy { multiplier: f64::MAX, ..RetryPolicy::default() };
        for attempt in [0, 1, 2, 64, 1_024, 1_025, u32::MAX - 1, u32::MAX] {
            for random in [0.0, 0.5, 1.0, 7.0, f64::NAN] {
                for policy in [&RetryPolicy::default(), &steep] {
                    let delay = policy.delay(attempt, random);
                    assert!(delay <= Duration::from_secs(75), "attempt {attempt}: {delay:?}");
                }
            }
        }
    }

    #[test]
    fn only_failures_of_the_event_count_as_attempts() {
        let policy = RetryPolicy::default();
        let wait = Duration::from_secs(3);

        assert_eq!(
            policy.decide(9, &Fault::unavailable("down"), 0.5),
            Outcome::Undecided { retry_after: None }
        );
        assert_eq!(
            policy.decide(9, &Fault::throttled(wait, "slow down"), 0.5),
            Outcome::Undecided { retry_after: Some(wait) }
        );
        assert_eq!(
            policy.decide(0, &Fault::transient("once"), 0.5),
            Outcome::Parked { attempts: 1, due_in: Duration::from_millis(200) }
        );
    }

    #[test]
    fn gives_up_with_the_reason_of_the_fault() {
        let policy = RetryPolicy::default();
        let cases = [
            (9, Fault::transient("again"), DeadReason::MaxRetriesExceeded, 10),
            (9, Fault::timeout("slow"), DeadReason::ProcessingTimeout, 10),
            (0, Fault::permanent("too large"), DeadReason::PermanentFailure, 1),
            (0, Fault::poison("panic"), DeadReason::PoisonMessage, 1),
            (3, Fault::schema("no name"), DeadReason::SchemaValidationFailed, 4),
            (u32::MAX, Fault::transient("for ever"), DeadReason::MaxRetriesExceeded, u32::MAX),
        ];
        for (before, fault, reason, attempts) in cases {
            assert_eq!(policy.decide(before, &fault, 0.5), Outcome::Dead { attempts, reason }, "{fault:?}");
        }
    }

    #[test]
    fn reports_everything_that_is_wrong_at_once() {
        let policy = RetryPolicy {
            max_attempts: 0,
            base: Duration::ZERO,
            multiplier: f64::NAN,
            max: Duration::ZERO,
            jitter: (2.0, 1.0),
        };
        let message = policy.validate().unwrap_err().to_string();

        for key in ["max_attempts", "base", "multiplier", "jitter"] {
            assert!(message.contains(key), "{message}");
        }
        assert!(RetryPolicy::default().validate().is_ok());
    }
}
