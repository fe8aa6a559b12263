//! Connections: accepted up to a bound, cut off if their caller is slow to ask, ended in peace.

use std::{convert::Infallible, future::Future, pin::pin, time::Duration};

use axum::{Router, body::Body, extract::Request};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinSet,
};
use tower_service::Service;

use crate::guard::Peer;

/// How many callers may be connected. More of them wait until one has gone.
const CONNECTIONS: usize = 256;
/// How long a caller may take to send the head of a request, also the next one on the same connection.
const HEAD_TIME: Duration = Duration::from_secs(15);
/// The largest head of a request.
const HEAD_LIMIT: usize = 64 << 10;
/// How long requests that are being answered may take once the server has been told to stop.
const GRACE: Duration = Duration::from_secs(5);
/// The pause after a connection could not be accepted: there may be too many files open.
const PAUSE: Duration = Duration::from_millis(50);

/// Answers on this listener until `shutdown`, and then finishes what is under way.
pub(crate) async fn serve(listener: TcpListener, router: Router, shutdown: impl Future<Output = ()>) {
    let mut shutdown = pin!(shutdown);
    let (stop, stopped) = watch::channel(());
    let mut open = JoinSet::new();
    loop {
        tokio::select! {
            () = &mut shutdown => break,
            Some(_) = open.join_next() => {}
            accepted = listener.accept(), if open.len() < CONNECTIONS => match accepted {
                Ok((stream, peer)) => {
                    open.spawn(answer(stream, Peer(peer), router.clone(), stopped.clone()));
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(PAUSE).await;
                }
            },
        }
    }
    drop(stop);
    drop(listener);
    let ended = async { while open.join_next().await.is_some() {} };
    // Whoever is not done by then is cut off as the set is dropped.
    _ = tokio::time::timeout(GRACE, ended).await;
}

/// Answers the requests of one connection.
async fn answer(stream: TcpStream, peer: Peer, router: Router, mut stopped: watch::Receiver<()>) {
    _ = stream.set_nodelay(true);
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let mut request: Request = request.map(Body::new);
        request.extensions_mut().insert(peer);
        let mut router = router.clone();
        async move {
            Ok::<_, Infallible>(
                Service::call(&mut router, request).await.unwrap_or_else(|never| match never {}),
            )
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(HEAD_LIMIT)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    tokio::select! {
        // A caller that went away, or sent what is not HTTP, is nothing to tell of.
        _ = &mut connection => {}
        _ = stopped.changed() => {
            connection.as_mut().graceful_shutdown();
            _ = connection.await;
        }
    }
}
