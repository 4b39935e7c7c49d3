//! Waits at a channel: first spinning, then blocked.
//!
//! Blocking and waking a thread takes longer than making a small batch. A thread that is likely to get a message soon
//! therefore polls for about the time of a wake-up, and yields its core meanwhile. After a failed attempt, the next
//! waits block at once. With slow batches, only an occasional poll is wasted.

use std::time::{Duration, Instant};

use super::Receiver;

/// Approximate time of blocking and waking a thread.
const SPIN_TIME: Duration = Duration::from_micros(30);
/// Maximum number of counted failures. After this many, the next attempt is 2^`MAX_FAILURES` waits away.
const MAX_FAILURES: u32 = 6;

/// State of a thread's waits at a channel.
#[derive(Debug, Default)]
pub(crate) struct SpinWait {
    /// Number of failed attempts since the last success.
    failures: u32,
    /// Number of further waits that block at once.
    skips: u32,
}

impl SpinWait {
    /// Returns the next message if it is there or arrives soon. Returns `None` if the thread should block.
    ///
    /// Also returns `None` if the channel is closed, which the blocking call detects.
    pub fn poll<T>(&mut self, channel: &Receiver<T>) -> Option<T> {
        if let Ok(message) = channel.try_recv() {
            return Some(message);
        }
        if let Some(skips) = self.skips.checked_sub(1) {
            self.skips = skips;
            return None;
        }
        let found = spin(channel);
        self.failures = match found {
            Some(_) => 0,
            None => (self.failures + 1).min(MAX_FAILURES),
        };
        self.skips = (1 << self.failures) - 1;
        found
    }
}

fn spin<T>(channel: &Receiver<T>) -> Option<T> {
    let start = Instant::now();
    while start.elapsed() < SPIN_TIME {
        // The thread yields at once. If the other end has no core of its own, it needs this one. Otherwise the call returns at once.
        std::thread::yield_now();
        if let Ok(message) = channel.try_recv() {
            return Some(message);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::unbounded;

    #[test]
    fn a_ready_message_is_taken_at_once() {
        let (tx, rx) = unbounded();
        let mut spin_wait = SpinWait::default();
        tx.send(7).unwrap();
        assert_eq!(spin_wait.poll(&rx), Some(7));
        assert_eq!((spin_wait.failures, spin_wait.skips), (0, 0));
    }

    #[test]
    fn failed_polls_become_rare_until_one_succeeds() {
        let (tx, rx) = unbounded::<u8>();
        let mut spin_wait = SpinWait::default();
        let mut waits = |times| {
            let before = Instant::now();
            (0..times).for_each(|_| assert_eq!(spin_wait.poll(&rx), None));
            (before.elapsed(), spin_wait.failures, spin_wait.skips)
        };
        assert_eq!(waits(1).2, 1);
        // 1 wait without an attempt, then 3, then 7, and so on, up to 63.
        waits(1 + 1 + 3 + 1 + 7 + 1 + 15 + 1 + 31 + 1);
        let (_, failures, skips) = waits(0);
        assert_eq!((failures, skips), (MAX_FAILURES, 63));
        waits(63);
        tx.send(1).unwrap();
        assert_eq!(spin_wait.poll(&rx), Some(1));
        assert_eq!(spin_wait.skips, 0, "the next wait looks again");
        drop(tx);
        assert_eq!(spin_wait.poll(&rx), None, "closed");
    }
}
