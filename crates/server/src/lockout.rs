//! How often an address may send a wrong token. Pure: time is an argument.
//!
//! Nobody guesses 256 random bits. What this bounds is the work and the log that wrong tokens cause. A right token always passes: who
//! shares an address with somebody else, behind a proxy say, must not be locked out by him.

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv6Addr},
    time::Duration,
};

use tokio::time::Instant;

/// How many wrong tokens an address may send in a window.
const MOST: u32 = 10;
/// How long a window is.
const WINDOW: Duration = Duration::from_secs(60);
/// How many addresses are remembered: those that failed last.
const ADDRESSES: usize = 1_024;

/// The addresses that have sent wrong tokens lately.
#[derive(Debug, Default)]
pub(crate) struct Lockout {
    failed: HashMap<IpAddr, Failed>,
}

#[derive(Clone, Copy, Debug)]
struct Failed {
    since: Instant,
    times: u32,
}

impl Lockout {
    /// Notes a wrong token. Answers how long the address has to wait, if it has sent too many.
    pub(crate) fn fail(&mut self, now: Instant, address: IpAddr) -> Option<Duration> {
        let address = network(address);
        if !self.failed.contains_key(&address) {
            self.make_room(now);
        }
        let failed = self.failed.entry(address).or_insert(Failed { since: now, times: 0 });
        if now.duration_since(failed.since) >= WINDOW {
            *failed = Failed { since: now, times: 0 };
        }
        failed.times = failed.times.saturating_add(1);
        (failed.times > MOST).then(|| WINDOW.saturating_sub(now.duration_since(failed.since)))
    }

    /// Forgets windows that are over, and if that is not enough the oldest one.
    fn make_room(&mut self, now: Instant) {
        if self.failed.len() < ADDRESSES {
            return;
        }
        self.failed.retain(|_, failed| now.duration_since(failed.since) < WINDOW);
        if self.failed.len() >= ADDRESSES
            && let Some(oldest) =
                self.failed.iter().min_by_key(|(_, failed)| failed.since).map(|(key, _)| *key)
        {
            self.failed.remove(&oldest);
        }
    }
}

/// Who has one address of IPv6 has the 2^64 of its network.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64)),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    fn address(number: u32) -> IpAddr {
        Ipv4Addr::from_bits(number).into()
    }

    #[test]
    fn the_eleventh_in_a_minute_has_to_wait_for_its_end() {
        let (mut lockout, now) = (Lockout::default(), Instant::now());
        for _ in 0..MOST {
            assert_eq!(lockout.fail(now, address(1)), None);
        }
        let later = now + Duration::from_secs(40);
        assert_eq!(lockout.fail(later, address(1)), Some(Duration::from_secs(20)));
        assert_eq!(lockout.fail(later, address(2)), None, "another address");
        assert_eq!(lockout.fail(now + WINDOW, address(1)), None, "another minute");
    }

    #[test]
    fn a_flood_of_addresses_takes_no_more_memory() {
        let (mut lockout, now) = (Lockout::default(), Instant::now());
        for number in 0..10_000 {
            lockout.fail(now + Duration::from_millis(u64::from(number)), address(number));
            assert!(lockout.failed.len() <= ADDRESSES);
        }
        assert!(lockout.failed.contains_key(&address(9_999)) && !lockout.failed.contains_key(&address(0)));
    }

    #[test]
    fn a_network_of_ipv6_counts_as_one_address() {
        let (mut lockout, now) = (Lockout::default(), Instant::now());
        let mut wait = None;
        for last in 0..=MOST {
            wait = lockout.fail(now, format!("2001:db8::{last:x}").parse().unwrap());
        }
        assert!(wait.is_some());
        assert_eq!(network("::ffff:10.0.0.1".parse().unwrap()), "10.0.0.1".parse::<IpAddr>().unwrap());
    }
}
