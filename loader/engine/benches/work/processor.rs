//! CPU time of the threads of this process, as counted by the system. Available only on Linux.

use std::collections::BTreeMap;
use std::fs;

/// CPU time of each thread by ID, ns.
#[derive(Clone, Debug, Default)]
pub struct Processor(BTreeMap<u64, u64>);

impl Processor {
    /// Returns the times of all current threads.
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

    /// Returns the CPU time since `before`, ns: of the thread `apart`, and of all others.
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

/// Returns the ID of the calling thread, or 0 if unknown.
pub fn current_thread_id() -> u64 {
    let link = fs::read_link("/proc/thread-self").ok();
    let name = link.as_deref().and_then(|link| link.file_name()?.to_str());
    name.and_then(|name| name.parse().ok()).unwrap_or(0)
}
