use std::collections::VecDeque;
use tokio::sync::mpsc;

/// The reading end of a queue. What was taken from it and not sent yet stays
/// here, so that a session that ends between the two loses nothing.
#[derive(Debug)]
pub(super) struct Lane<T> {
    waiting: mpsc::Receiver<T>,
    taken: VecDeque<T>,
}

impl<T> Lane<T> {
    pub(super) fn new(waiting: mpsc::Receiver<T>) -> Self {
        Self { waiting, taken: VecDeque::new() }
    }

    /// Waits until there is something to send, and takes at most `most` where
    /// nothing was left. It is never over with nothing: the desk, which
    /// outlives every session, holds the other end. Cancel-safe.
    pub(super) async fn fill(&mut self, most: usize) {
        if self.taken.is_empty() {
            let mut new = Vec::new();
            self.waiting.recv_many(&mut new, most).await;
            self.taken.extend(new);
        }
    }

    /// Takes all that waits now.
    pub(super) fn fill_now(&mut self) {
        // Counted before, as others may go on to put more in.
        for _ in 0..self.waiting.len() {
            self.taken.extend(self.waiting.try_recv());
        }
    }

    /// What is to be sent next of what was taken.
    pub(super) fn first(&self) -> Option<&T> {
        self.taken.front()
    }

    /// That was sent.
    pub(super) fn pop(&mut self) {
        self.taken.pop_front();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt as _;

    #[test]
    fn what_was_taken_and_not_sent_is_the_first_again() {
        let (tell, waiting) = mpsc::channel(8);
        let mut lane = Lane::new(waiting);
        assert!(lane.fill(2).now_or_never().is_none());
        for n in 1..=4 {
            tell.try_send(n).unwrap();
        }
        lane.fill(2).now_or_never().unwrap();
        lane.pop(); // 1 was sent; then the session ended
        lane.fill(2).now_or_never().unwrap();
        assert_eq!(lane.first(), Some(&2));
        lane.fill_now();
        assert_eq!(lane.taken, [2, 3, 4]);
    }
}
