use super::soon;
use ovnode::contract::{BootMs, Clock, MonoMs, Now, Timestamp, Token};
use ovnode::link::{
    Inbound, Link, LinkAuth, LinkConfig, LinkHandle, LinkState, LinkTiming,
    LinkTls, Outgoing,
};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

/// A clock that starts at one fixed moment and runs as time does.
pub(crate) struct Ticking(Instant);

impl Ticking {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self(Instant::now()))
    }
}

impl Clock for Ticking {
    fn now(&self) -> Now {
        let passed = u64::try_from(self.0.elapsed().as_millis()).unwrap();
        Now {
            wall: Timestamp(1_800_000_000_000 + passed),
            mono: MonoMs(passed),
            boot: BootMs(passed),
        }
    }
}

/// Intervals that make a test quick.
pub(crate) fn quick() -> LinkTiming {
    let ms = Duration::from_millis;
    LinkTiming {
        ping: ms(1000),
        retry_base: ms(50),
        retry_cap: ms(200),
        refused_base: ms(200),
        refused_cap: ms(1000),
        echo_every: ms(500),
        rival_window: ms(50),
        rival_again: ms(100),
        rival_recheck: ms(500),
        offers_window: ms(200),
        ..LinkTiming::default()
    }
}

/// The configuration of node `n1` with quick intervals.
pub(crate) fn config(server: &str) -> LinkConfig {
    LinkConfig {
        servers: vec![server.to_owned()],
        auth: LinkAuth::None,
        tls: LinkTls::default(),
        prefix: Token::try_from("ov".to_owned()).unwrap(),
        inbox_prefix: None,
        node: Token::try_from("n1".to_owned()).unwrap(),
        instance: "instance-a".to_owned(),
        started: Timestamp(1_800_000_000_000),
        node_name: "a test's node".to_owned(),
        version: "0.1.0".to_owned(),
        timing: quick(),
    }
}

/// A link that ends with the value.
pub(crate) struct Running {
    pub(crate) handle: LinkHandle,
    pub(crate) inbound: Inbound,
    _stop: DropGuard,
}

impl Running {
    pub(crate) fn start(config: LinkConfig) -> Self {
        let stop = CancellationToken::new();
        let (tasks, token) = (TaskTracker::new(), stop.clone());
        let (handle, inbound) =
            Link::start(config, Ticking::new(), &tasks, token);
        Self { handle, inbound, _stop: stop.drop_guard() }
    }

    /// Starts it and waits until it serves.
    pub(crate) async fn serving(config: LinkConfig) -> Self {
        let running = Self::start(config);
        running.until(LinkState::serving).await;
        running
    }

    /// The first state from now on that fits.
    pub(crate) async fn until(
        &self,
        fits: impl FnMut(&LinkState) -> bool,
    ) -> LinkState {
        let mut state = self.handle.state();
        soon(state.wait_for(fits)).await.unwrap().clone()
    }

    /// Queues a frame of this text.
    pub(crate) async fn frame(&self, subject: &str, text: String) {
        let out = Outgoing {
            subject: subject.to_owned(),
            payload: text.into(),
            reasons: Vec::new(),
            message_id: None,
        };
        soon(self.handle.outbox().send(out)).await.unwrap();
    }
}
