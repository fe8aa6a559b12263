//! A door in front of a server, which can be shut: for whoever connects through it the server is away then.

use std::{
    io,
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

/// Stands at an address of its own, shut at first.
pub(crate) struct Proxy {
    address: SocketAddr,
    server: String,
    open: Option<Open>,
}

/// An open door, and who went through.
struct Open {
    shut: Arc<AtomicBool>,
    passing: Arc<Mutex<Vec<TcpStream>>>,
}

impl Proxy {
    /// A door to a server, shut.
    pub(crate) fn shut(server: String) -> Self {
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        Self { address, server, open: None }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Lets everybody through from now on.
    pub(crate) fn open(&mut self) {
        let listener = TcpListener::bind(self.address).unwrap();
        let (shut, passing) = (Arc::new(AtomicBool::new(false)), Arc::default());
        self.open = Some(Open { shut: Arc::clone(&shut), passing: Arc::clone(&passing) });
        let server = self.server.clone();
        thread::spawn(move || {
            for client in listener.incoming() {
                if shut.load(Ordering::SeqCst) {
                    return;
                }
                // Somebody who cannot be served is nobody's loss: the door is for tests of exactly that.
                _ = client.and_then(|client| pass(client, &server, &passing));
            }
        });
    }

    /// Throws everybody out, and lets nobody in.
    pub(crate) fn close(&mut self) {
        let Some(Open { shut, passing }) = self.open.take() else { return };
        shut.store(true, Ordering::SeqCst);
        // Wakes the thread that waits for clients, so that it lets go of the address.
        _ = TcpStream::connect(self.address);
        for stream in passing.lock().unwrap().drain(..) {
            _ = stream.shutdown(Shutdown::Both);
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.close();
    }
}

/// Carries bytes both ways until one side ends.
fn pass(client: TcpStream, server: &str, passing: &Mutex<Vec<TcpStream>>) -> io::Result<()> {
    let server = TcpStream::connect(server)?;
    passing.lock().unwrap().extend([client.try_clone()?, server.try_clone()?]);
    for (mut from, mut to) in [(client.try_clone()?, server.try_clone()?), (server, client)] {
        thread::spawn(move || {
            _ = io::copy(&mut from, &mut to);
            _ = to.shutdown(Shutdown::Both);
        });
    }
    Ok(())
}
