//! The least that can be said to a broker: the request for the versions it speaks, which it answers without a login.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use anyhow::{Context, Result, bail};

const PATIENCE: Duration = Duration::from_secs(5);
const CORRELATION: [u8; 4] = *b"post";
/// `ApiVersions` is request 18, here in its version 0: then come the number that the answer repeats, and no name of a client.
const REQUEST: [u8; 14] =
    [0, 0, 0, 10, 0, 18, 0, 0, CORRELATION[0], CORRELATION[1], CORRELATION[2], CORRELATION[3], 0xff, 0xff];

/// Fails unless a Kafka broker answers at this address.
pub(crate) fn greet(address: &str) -> Result<()> {
    let address: SocketAddr = address.parse().with_context(|| format!("{address} is no address"))?;
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE).context("cannot connect")?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(&REQUEST)?;
    let mut answer = [0; 10];
    stream.read_exact(&mut answer).context("no answer")?;
    check(answer)
}

/// An answer begins with its length, the number of the request, and an error code.
fn check(answer: [u8; 10]) -> Result<()> {
    if answer[4..8] != CORRELATION {
        bail!("what answers is not Kafka");
    }
    match i16::from_be_bytes([answer[8], answer[9]]) {
        0 => Ok(()),
        code => bail!("the broker answers with error code {code}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_broker_without_an_error_is_ready() {
        assert!(check(*b"\0\0\0\x06post\0\0").is_ok());
        assert!(check(*b"\0\0\0\x06post\0\x23").is_err());
        assert!(check(*b"HTTP/1.1 4").is_err());
    }
}
