//! Posting to the collector. What it answers is noted here, where the cause of a failure is known. No redirect is followed: the address
//! is the operator's.

use std::{error::Error as StdError, fmt, io, sync::Arc, time::Duration};

use async_trait::async_trait;
use http_body_util::{BodyExt, Full, Limited};
use hyper::{
    HeaderMap, Uri,
    header::{HeaderName, HeaderValue},
};
use hyper_rustls::HttpsConnectorBuilder;
use hyper_util::{
    client::legacy::{
        Client,
        connect::{Connect, HttpConnector},
    },
    rt::TokioExecutor,
};
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use posthaste_core::{Error, ErrorKind, Result};
use tokio::time::timeout;

use crate::{loss::Loss, settings::Settings};

/// How long one try may take.
const TRY_TIME: Duration = Duration::from_secs(10);
/// No answer needs more.
const LONGEST_ANSWER: usize = 64 * 1024;

/// Posts what it is given, with some headers more.
struct Poster<C> {
    client: Client<C, Full<Bytes>>,
    headers: HeaderMap,
    loss: Arc<Loss>,
}

/// Who posts to this address: encrypted with the system's certificates if it says so, which not every machine has.
pub(crate) fn poster(address: &Uri, settings: &Settings, loss: Arc<Loss>) -> Result<Arc<dyn HttpClient>> {
    let headers = headers(&settings.headers)?;
    let executor = TokioExecutor::new();
    Ok(if address.scheme_str() == Some("https") {
        let client = Client::builder(executor).build(encrypted().map_err(|error| {
            let text = "traces cannot be sent encrypted: the system's certificates cannot be read; install them (ca-certificates)";
            Error::new(ErrorKind::Refused, text).with_source(error)
        })?);
        Arc::new(Poster { client, headers, loss })
    } else {
        Arc::new(Poster { client: Client::builder(executor).build(HttpConnector::new()), headers, loss })
    })
}

/// With the same implementation of TLS as the program's other connections.
fn encrypted() -> io::Result<hyper_rustls::HttpsConnector<HttpConnector>> {
    let provider = rustls::crypto::ring::default_provider();
    let builder = HttpsConnectorBuilder::new().with_provider_and_native_roots(provider)?;
    Ok(builder.https_only().enable_http1().build())
}

fn headers(pairs: &[(String, String)]) -> Result<HeaderMap> {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        let header = HeaderName::try_from(name).ok().zip(HeaderValue::try_from(value).ok());
        let Some((name, mut value)) = header else {
            return Err(Error::invalid(format!(
                "traces cannot be sent: the header {name:?} is none; allowed are a name of letters, digits and hyphens, and a \
                 value of visible characters"
            )));
        };
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

#[async_trait]
impl<C: Connect + Clone + Send + Sync + 'static> HttpClient for Poster<C> {
    async fn send_bytes(&self, mut request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        request.headers_mut().extend(self.headers.clone());
        let late = || Err(format!("no answer within {TRY_TIME:?}").into());
        let answer = timeout(TRY_TIME, self.post(request)).await.unwrap_or_else(|_| late());
        match &answer {
            Ok(answer) if answer.status().is_success() => self.loss.taken(),
            Ok(answer) => self.loss.refused(&format!("it answered {}", answer.status())),
            Err(error) => self.loss.refused(&chain(error.as_ref())),
        }
        answer
    }
}

impl<C: Connect + Clone + Send + Sync + 'static> Poster<C> {
    async fn post(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let answer = self.client.request(request.map(Full::new)).await?;
        let (head, body) = answer.into_parts();
        let body = Limited::new(body, LONGEST_ANSWER).collect().await?.to_bytes();
        Ok(Response::from_parts(head, body))
    }
}

/// Without what it knows: headers are secrets.
impl<C> fmt::Debug for Poster<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Poster").finish_non_exhaustive()
    }
}

/// An error with its causes: the outermost of this client only says that there was one.
fn chain(error: &(dyn StdError + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_sensitive_and_what_is_none_is_refused_without_its_value() {
        let pair = |name: &str, value: &str| [(name.to_owned(), value.to_owned())];
        let good = headers(&pair("Authorization", "Bearer hunter2")).unwrap();
        assert!(good["authorization"] == "Bearer hunter2" && !format!("{good:?}").contains("hunter2"));
        for bad in [pair("x y", "hunter2"), pair("", "hunter2"), pair("x", "hunter2\n")] {
            let error = headers(&bad).unwrap_err().to_string();
            assert!(error.contains("the header") && !error.contains("hunter2"), "{error}");
        }
    }
}
