use std::collections::VecDeque;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::Instant;

/// Messages to ourselves that are on their way. The server handles what one
/// connection sends in order, so one that comes back proves that everything
/// before it has reached the server.
#[derive(Debug, Default)]
pub(super) struct Echoes {
    last: u64,
    waiting: VecDeque<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    number: u64,
    sent: Instant,
    told: Option<oneshot::Sender<()>>,
}

impl Echoes {
    /// Counts one more on its way; `told` hears when it is back.
    pub(super) fn sent(
        &mut self,
        at: Instant,
        told: Option<oneshot::Sender<()>>,
    ) -> u64 {
        self.last += 1;
        let waiting = Waiting { number: self.last, sent: at, told };
        self.waiting.push_back(waiting);
        self.last
    }

    /// One is back: so are all before it. Gives its round trip.
    pub(super) fn back(
        &mut self,
        number: u64,
        at: Instant,
    ) -> Option<Duration> {
        let mut took = None;
        while let Some(first) = self.waiting.front() {
            if first.number > number {
                break;
            }
            if let Some(done) = self.waiting.pop_front() {
                took = Some(at.saturating_duration_since(done.sent));
                if let Some(told) = done.told {
                    // Whoever asked may have stopped waiting.
                    told.send(()).ok();
                }
            }
        }
        took
    }

    /// When the oldest one was sent.
    pub(super) fn oldest(&self) -> Option<Instant> {
        self.waiting.front().map(|first| first.sent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_echo_confirms_all_that_were_sent_before_it() {
        let mut echoes = Echoes::default();
        let start = Instant::now();
        let (told, mut heard) = oneshot::channel();
        echoes.sent(start, Some(told));
        let second = echoes.sent(start + Duration::from_millis(1), None);
        let third = echoes.sent(start + Duration::from_millis(2), None);
        let took = echoes.back(second, start + Duration::from_millis(5));
        assert_eq!(took, Some(Duration::from_millis(4)));
        assert_eq!(heard.try_recv(), Ok(()));
        assert_eq!(echoes.oldest(), Some(start + Duration::from_millis(2)));
        echoes.back(third, start + Duration::from_millis(6));
        assert_eq!(echoes.oldest(), None);
        assert_eq!(echoes.back(third, start), None);
    }
}
