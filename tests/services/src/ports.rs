//! Ports that nobody listens on.

use std::net::{Ipv4Addr, TcpListener};

use anyhow::{Result, bail};

/// Below the ports that systems give to outgoing connections. A server that is down keeps its place there: otherwise a
/// connection could take its port, or a client that tries again and again could even connect to itself.
const RANGE: std::ops::Range<u16> = 20_000..32_000;

/// As many different ports of the loopback interface, all free at this moment.
pub(crate) fn free<const N: usize>() -> Result<[u16; N]> {
    // All are held until the last is found, so that none comes twice.
    let mut held = Vec::new();
    for _ in 0..1000 {
        if held.len() == N {
            break;
        }
        held.extend(TcpListener::bind((Ipv4Addr::LOCALHOST, fastrand::u16(RANGE))).ok());
    }
    let mut ports = [0; N];
    if held.len() < N {
        bail!("no free port between {} and {}", RANGE.start, RANGE.end);
    }
    for (port, listener) in ports.iter_mut().zip(&held) {
        *port = listener.local_addr()?.port();
    }
    Ok(ports)
}

#[cfg(test)]
mod tests {
    use std::{thread, time::Duration};

    use super::*;
    use crate::progress::Deadline;

    /// A process that another test is just starting has our sockets until it becomes another program.
    fn can_be_used(port: u16) -> bool {
        let deadline = Deadline::after(Duration::from_secs(60));
        while TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_err() {
            if deadline.is_over() {
                return false;
            }
            // Waits for a condition: the port is free.
            thread::sleep(Duration::from_millis(1));
        }
        true
    }

    #[test]
    fn free_ports_are_different_and_can_be_used() {
        let mut ports = free::<20>().unwrap();

        assert!(ports.iter().all(|port| can_be_used(*port)), "{ports:?}");
        ports.sort_unstable();
        assert!(ports.windows(2).all(|pair| pair[0] < pair[1]), "{ports:?}");
        assert!(ports.iter().all(|port| RANGE.contains(port)));
    }
}
