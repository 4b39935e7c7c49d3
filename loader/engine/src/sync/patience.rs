//! Waiting at a channel: first spinning, then blocked.
//!
//! Blocking and waking a thread takes longer than making a small batch. A thread that is likely to get a message soon
//! therefore polls for about the time of a wake-up, and yields its core meanwhile. After a failed attempt, the next
//! waits block at once. With slow batches, only an occasional poll is wasted.

use std::time::{Duration, Instant};

use super::Receiver;

/// Approximate time of blocking and waking a thread.
const AWAKE: Duration = Duration::from_micros(30);
/// Maximum number of counted failures. After this many, the next attempt is 2^`MOST` waits away.
const MOST: u32 = 6;

/// State of a thread's waits at a channel.
#[derive(Debug, Default)]
pub(crate) struct Patience {
    /// Number of failed attempts since the last success.
    vain: u32,
    /// Number of further waits that block at once.
    rest: u32,
}

impl Patience {
    /// Returns the next message if it is there or arrives soon. `None` means that the thread should block.
    ///
    /// Also `None` if the channel is closed, which the blocking call detects.
    pub fn awake<T>(&mut self, channel: &Receiver<T>) -> Option<T> {
        if let Ok(message) = channel.try_recv() {
            return Some(message);
        }
        if let Some(rest) = self.rest.checked_sub(1) {
            self.rest = rest;
            return None;
        }
        let found = look(channel);
        self.vain = match found {
            Some(_) => 0,
            None => (self.vain + 1).min(MOST),
        };
        self.rest = (1 << self.vain) - 1;
        found
    }
}

fn look<T>(channel: &Receiver<T>) -> Option<T> {
    let start = Instant::now();
    while start.elapsed() < AWAKE {
        // Yields at once. If the other end has no core of its own, it needs this one. If it has one, the call returns at once.
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
        let mut patience = Patience::default();
        tx.send(7).unwrap();
        assert_eq!(patience.awake(&rx), Some(7));
        assert_eq!((patience.vain, patience.rest), (0, 0));
    }

    #[test]
    fn failed_polls_become_rare_until_one_succeeds() {
        let (tx, rx) = unbounded::<u8>();
        let mut patience = Patience::default();
        let mut waits = |times| {
            let before = Instant::now();
            (0..times).for_each(|_| assert_eq!(patience.awake(&rx), None));
            (before.elapsed(), patience.vain, patience.rest)
        };
        assert_eq!(waits(1).2, 1);
        // 1 wait without an attempt, then 3, then 7, and so on, up to 63.
        waits(1 + 1 + 3 + 1 + 7 + 1 + 15 + 1 + 31 + 1);
        let (_, vain, rest) = waits(0);
        assert_eq!((vain, rest), (MOST, 63));
        waits(63);
        tx.send(1).unwrap();
        assert_eq!(patience.awake(&rx), Some(1));
        assert_eq!(patience.rest, 0, "the next wait looks again");
        drop(tx);
        assert_eq!(patience.awake(&rx), None, "closed");
    }
}
