//! Waiting for the other end of a channel: first awake, then asleep.
//!
//! To put a thread to sleep and to wake it takes longer than to make a small batch. So a thread that is likely to get
//! something at once looks for it for as long as waking would take, and gives its core to others meanwhile. Where that
//! was in vain the next waits go to sleep right away: slow batches cost nothing but a look now and then.

use std::time::{Duration, Instant};

use super::Receiver;

/// About what it costs to sleep and to be woken.
const AWAKE: Duration = Duration::from_micros(30);
/// After so many waits that were in vain one after the other, the next attempt is 2^most waits away.
const MOST: u32 = 6;

/// How one thread waits at one channel.
#[derive(Debug, Default)]
pub(crate) struct Patience {
    /// Attempts in vain since the last one that paid.
    vain: u32,
    /// Waits to come that go to sleep right away.
    rest: u32,
}

impl Patience {
    /// The next message if it is there or comes within moments; `None`: go to sleep. Also if the channel is closed, which
    /// a thread that goes to sleep there learns.
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
        // Nothing is gained by staying on the core for some moments first: where the other end has no core of its own it needs this one, and
        // where it has one the call returns at once.
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
    fn what_is_there_is_taken() {
        let (tx, rx) = unbounded();
        let mut patience = Patience::default();
        tx.send(7).unwrap();
        assert_eq!(patience.awake(&rx), Some(7));
        assert_eq!((patience.vain, patience.rest), (0, 0));
    }

    #[test]
    fn looking_in_vain_becomes_rare_and_success_brings_it_back() {
        let (tx, rx) = unbounded::<u8>();
        let mut patience = Patience::default();
        let mut waits = |times| {
            let before = Instant::now();
            (0..times).for_each(|_| assert_eq!(patience.awake(&rx), None));
            (before.elapsed(), patience.vain, patience.rest)
        };
        assert_eq!(waits(1).2, 1);
        // 1 rest, then 3, then 7, and so on; never more than 63.
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
