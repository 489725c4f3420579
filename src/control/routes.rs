use super::{Backend, BackendError, ControlLimits, Documents, Payload};
use crate::contract::JobId;
use axum::Router;
use axum::body::{Body, HttpBody as _};
use axum::extract::{Path, Query, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use futures::{StreamExt as _, TryStreamExt as _};
use serde::Deserialize;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// No request has a body; one that announces more than a slip is refused.
const BODY_BYTES: u64 = 4096;

pub(super) struct Routes<B> {
    backend: Arc<B>,
    follows: Arc<Semaphore>,
    answer: Duration,
    stop: CancellationToken,
}

// By hand, as a derived one would ask it of `B`.
impl<B> Clone for Routes<B> {
    fn clone(&self) -> Self {
        Self {
            backend: self.backend.clone(),
            follows: self.follows.clone(),
            answer: self.answer,
            stop: self.stop.clone(),
        }
    }
}

impl<B: Backend> Routes<B> {
    pub(super) fn new(
        backend: Arc<B>,
        limits: &ControlLimits,
        stop: CancellationToken,
    ) -> Self {
        let follows = Arc::new(Semaphore::new(limits.follows));
        Self { backend, follows, answer: limits.answer, stop }
    }

    /// The backend's answer, or that it does not come.
    async fn bounded<T>(
        &self,
        answer: impl Future<Output = Result<T, BackendError>>,
    ) -> Result<T, Refused> {
        match tokio::time::timeout(self.answer, answer).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(error.into()),
            Err(_) => Err(Refused::late(self.answer)),
        }
    }

    fn follower(&self) -> Result<OwnedSemaphorePermit, Refused> {
        self.follows.clone().try_acquire_owned().map_err(|_| {
            let text = "too many streams are followed; end one of them";
            BackendError::Busy(text.to_owned()).into()
        })
    }

    /// A body of what comes, until the daemon stops. The place is given back
    /// when the reader is done, or gone.
    fn stream(
        &self,
        documents: Documents,
        place: OwnedSemaphorePermit,
    ) -> Body {
        let stop = self.stop.clone().cancelled_owned();
        Body::from_stream(documents.take_until(stop).inspect(move |_| {
            // Owned by the stream, so it ends with it.
            let _place = &place;
        }))
    }
}

pub(super) fn router<B: Backend>(routes: Routes<B>) -> Router {
    Router::new()
        .route("/v1/status", get(status::<B>))
        .route("/v1/jobs", get(jobs::<B>))
        .route("/v1/jobs/{id}", get(job::<B>))
        .route("/v1/jobs/{id}/logs", get(logs::<B>))
        .route("/v1/jobs/{id}/cancel", post(cancel::<B>))
        .route("/v1/offers", get(offers::<B>))
        .route("/v1/probe", post(probe::<B>))
        .fallback(unknown)
        .method_not_allowed_fallback(wrong_method)
        .layer(middleware::from_fn(no_body))
        .with_state(routes)
}

/// What those hear for whom there was no place.
pub(super) fn full() -> Router {
    Router::new().fallback(async || {
        let text = "too many connections to the local socket";
        Refused::from(BackendError::Busy(text.to_owned()))
    })
}

/// `follow=1` and `follow=true` follow; anything else does not.
#[derive(Deserialize)]
struct Follow {
    #[serde(default)]
    follow: String,
}

impl Follow {
    fn asked(&self) -> bool {
        matches!(self.follow.as_str(), "1" | "true")
    }
}

async fn status<B: Backend>(at: State<Routes<B>>) -> Answered {
    Ok(document(at.bounded(at.backend.status()).await?))
}

async fn jobs<B: Backend>(at: State<Routes<B>>) -> Answered {
    Ok(document(at.bounded(at.backend.jobs()).await?))
}

async fn job<B: Backend>(
    at: State<Routes<B>>,
    Path(id): Path<String>,
) -> Answered {
    let id = job_id(id)?;
    Ok(document(at.bounded(at.backend.job(&id)).await?))
}

async fn logs<B: Backend>(
    at: State<Routes<B>>,
    Path(id): Path<String>,
    Query(follow): Query<Follow>,
) -> Answered {
    let id = job_id(id)?;
    let place = at.follower()?;
    let output = at.backend.logs(&id, follow.asked());
    let output = at.bounded(output).await?;
    let kind = [(header::CONTENT_TYPE, "application/octet-stream")];
    Ok((kind, at.stream(output, place)).into_response())
}

async fn offers<B: Backend>(
    at: State<Routes<B>>,
    Query(follow): Query<Follow>,
) -> Answered {
    if !follow.asked() {
        return Ok(document(at.bounded(at.backend.offers()).await?));
    }
    let place = at.follower()?;
    let offers = at.bounded(at.backend.follow_offers()).await?;
    let lines = offers
        .map_ok(|document| Payload::from([document.as_ref(), b"\n"].concat()));
    let kind = [(header::CONTENT_TYPE, "application/x-ndjson")];
    Ok((kind, at.stream(lines.boxed(), place)).into_response())
}

async fn cancel<B: Backend>(
    at: State<Routes<B>>,
    Path(id): Path<String>,
) -> Answered {
    let id = job_id(id)?;
    at.bounded(at.backend.cancel(&id)).await?;
    Ok(begun())
}

async fn probe<B: Backend>(at: State<Routes<B>>) -> Answered {
    at.bounded(at.backend.probe()).await?;
    Ok(begun())
}

async fn unknown() -> Refused {
    let text = "there is no such path".to_owned();
    Refused { status: StatusCode::NOT_FOUND, text }
}

async fn wrong_method() -> Refused {
    let text = "this path does not have that method".to_owned();
    Refused { status: StatusCode::METHOD_NOT_ALLOWED, text }
}

async fn no_body(request: Request, next: Next) -> Response {
    if request.body().size_hint().lower() > BODY_BYTES {
        let text = format!("a request may hold {BODY_BYTES} bytes");
        let status = StatusCode::PAYLOAD_TOO_LARGE;
        return Refused { status, text }.into_response();
    }
    next.run(request).await
}

fn job_id(raw: String) -> Result<JobId, Refused> {
    JobId::try_from(raw).map_err(|bad| Refused {
        status: StatusCode::BAD_REQUEST,
        text: bad.to_string(),
    })
}

fn document(json: Payload) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], json).into_response()
}

/// It was begun; how it ends is seen elsewhere.
fn begun() -> Response {
    (StatusCode::ACCEPTED, document(Payload::from_static(b"{}")))
        .into_response()
}

type Answered = Result<Response, Refused>;

/// No document, but a status and `{"error": ".."}`.
struct Refused {
    status: StatusCode,
    text: String,
}

impl Refused {
    fn late(after: Duration) -> Self {
        let text = format!("the daemon has no answer after {after:?}");
        Self { status: StatusCode::GATEWAY_TIMEOUT, text }
    }
}

impl From<BackendError> for Refused {
    fn from(error: BackendError) -> Self {
        let text = error.to_string();
        let status = match error {
            BackendError::NotFound(_) => StatusCode::NOT_FOUND,
            BackendError::Busy(_) => StatusCode::TOO_MANY_REQUESTS,
            BackendError::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
        };
        Self { status, text }
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let error = serde_json::json!({"error": self.text}).to_string();
        (self.status, document(error.into())).into_response()
    }
}
