use crate::clock;
use crate::fault::Fault;
use crate::link::Link;
use crate::poll;
use ovnode::init::{FromInit, Orders, Phase, ToInit};
use std::time::Duration;

/// The daemon listens before it makes the sandbox. On a machine under load it
/// may be slow, but not as slow as this.
const FIRST_CONTACT: Duration = Duration::from_secs(30);
/// A daemon that was here and left is being restarted or replaced. A sandbox
/// that nobody has given a job holds memory for nobody after that.
const ALONE: Duration = Duration::from_secs(600);

/// What a sandbox was asked to do.
pub(crate) enum Asked {
    Run(Box<Orders>),
    /// Cancelled before there was anything to run.
    Cancel,
    Malformed(String),
}

/// Waits for the one order.
pub(crate) fn await_orders(link: &mut Link) -> Result<Asked, Fault> {
    let mut alone_until = Some(clock::mono().saturating_add(FIRST_CONTACT));
    loop {
        let now = clock::mono();
        if link.tick(now) {
            alone_until = None;
            link.say(&FromInit::Ready { phase: Phase::Waiting });
        }
        let wish = link.wish();
        if wish.is_none() {
            let until = *alone_until.get_or_insert(now.saturating_add(ALONE));
            if until <= now {
                return Err(Fault::NoDaemon);
            }
        }
        let ready = poll::wait(wish.as_slice(), link.due())?;
        if ready.is_empty() {
            continue;
        }
        link.flush();
        if let Some(first) = link.hear().into_iter().next() {
            return Ok(match first {
                Ok(ToInit::Run(orders)) => Asked::Run(orders),
                Ok(ToInit::Cancel { .. }) => Asked::Cancel,
                Err(reason) => Asked::Malformed(reason),
            });
        }
    }
}
