//! What the threads of this process had of the processor, as the system counts it. Nothing is known but on Linux.

use std::collections::BTreeMap;
use std::fs;

/// Nanoseconds that each thread had so far, by its number.
#[derive(Clone, Debug, Default)]
pub struct Processor(BTreeMap<u64, u64>);

impl Processor {
    /// Of all threads that there are now.
    pub fn now() -> Self {
        let threads = fs::read_dir("/proc/self/task").into_iter().flatten();
        let one = |thread: fs::DirEntry| {
            let number = thread.file_name().to_str()?.parse().ok()?;
            let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
            let had = text.split_whitespace().next()?.parse().ok()?;
            Some((number, had))
        };
        Self(threads.flatten().filter_map(one).collect())
    }

    /// What the threads had since `before`, nanoseconds: that with the number `apart`, and all others.
    pub fn since(&self, before: &Self, apart: u64) -> (u64, u64) {
        let (mut one, mut others) = (0, 0);
        for (number, had) in &self.0 {
            let had = had.saturating_sub(before.0.get(number).copied().unwrap_or(0));
            match *number == apart {
                true => one += had,
                false => others += had,
            }
        }
        (one, others)
    }
}

/// The number of the calling thread; 0 where it has none.
pub fn own() -> u64 {
    let link = fs::read_link("/proc/thread-self").ok();
    let name = link.as_deref().and_then(|link| link.file_name()?.to_str());
    name.and_then(|name| name.parse().ok()).unwrap_or(0)
}
