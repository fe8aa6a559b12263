//! A collector: it takes what is posted over HTTP, and keeps it.

use std::{
    convert::Infallible,
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU16, Ordering},
    },
};

use http_body_util::{BodyExt, Empty};
use hyper::{
    HeaderMap, Request, Response,
    body::{Bytes, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest,
    common::v1::{KeyValue, any_value::Value},
    trace::v1::Span,
};
use posthaste_traces::Settings;
use prost::Message;
use tokio::{net::TcpListener, task::JoinSet};

/// A collector on a port of its own. Ends with the test.
pub(crate) struct Collector {
    address: SocketAddr,
    state: Arc<State>,
    _task: JoinSet<()>,
}

#[derive(Default)]
struct State {
    /// What it answers with.
    status: AtomicU16,
    posts: Mutex<Vec<Post>>,
}

/// What was posted.
#[derive(Clone)]
pub(crate) struct Post {
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) request: ExportTraceServiceRequest,
    /// What was answered.
    pub(crate) status: u16,
}

impl Collector {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(State { status: AtomicU16::new(200), ..State::default() });
        let mut task = JoinSet::new();
        task.spawn(serve(listener, Arc::clone(&state)));
        Self { address, state, _task: task }
    }

    /// Answers with this from now on.
    pub(crate) fn answer(&self, status: u16) {
        self.state.status.store(status, Ordering::Relaxed);
    }

    pub(crate) fn settings(&self) -> Settings {
        Settings { endpoint: Some(format!("http://{}", self.address)), ..Settings::default() }
    }

    pub(crate) fn posts(&self) -> Vec<Post> {
        self.state.posts.lock().unwrap().clone()
    }

    /// The spans that it took, in order.
    pub(crate) fn spans(&self) -> Vec<Span> {
        let taken = self.posts().into_iter().filter(|post| post.status == 200);
        let resources = taken.flat_map(|post| post.request.resource_spans);
        resources.flat_map(|resource| resource.scope_spans).flat_map(|scope| scope.spans).collect()
    }
}

async fn serve(listener: TcpListener, state: Arc<State>) {
    let mut connections = JoinSet::new();
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let state = Arc::clone(&state);
        let service = service_fn(move |request| take(request, Arc::clone(&state)));
        connections.spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}

async fn take(request: Request<Incoming>, state: Arc<State>) -> Result<Response<Empty<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let bytes = body.collect().await.unwrap().to_bytes();
    let status = state.status.load(Ordering::Relaxed);
    let request = ExportTraceServiceRequest::decode(bytes).unwrap();
    let post = Post { path: head.uri.path().to_owned(), headers: head.headers, request, status };
    state.posts.lock().unwrap().push(post);
    Ok(Response::builder().status(status).body(Empty::new()).unwrap())
}

/// An attribute as text; empty if it is not there.
pub(crate) fn attribute(attributes: &[KeyValue], name: &str) -> String {
    let found = attributes.iter().find(|attribute| attribute.key == name);
    match found.and_then(|found| found.value.clone()).and_then(|value| value.value) {
        Some(Value::StringValue(text)) => text,
        Some(Value::IntValue(number)) => number.to_string(),
        Some(other) => panic!("{name} is {other:?}"),
        None => String::new(),
    }
}

/// A number of bytes as the headers write it.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
