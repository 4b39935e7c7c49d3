//! The thread that samples.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;
use std::{io, mem};

use rustix::time::{ClockId, clock_gettime};

use super::record::Record;
use super::samples::Samples;
use super::targets::Targets;
use super::tree::StackTree;
use super::walk::Sample;

/// Running thread. Dropping it ends the thread.
pub struct SamplerThread {
    shared: Arc<Shared>,
    handle: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// Notified about new processes and the end.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Processes that the thread has not taken yet.
    pids: Option<Vec<u32>>,
    is_over: bool,
    record: Record,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SamplerThread {
    pub fn start(rate: u32) -> io::Result<Self> {
        let period = 1_000_000_000 / u64::from(rate.max(1));
        let shared = Arc::new(Shared::default());
        let own = Arc::clone(&shared);
        let thread = Builder::new().name("sampler".to_owned());
        let handle = thread.spawn(move || run(&own, period.max(1)))?;
        Ok(Self {
            shared,
            handle: Some(handle),
        })
    }

    pub fn set_processes(&self, pids: Vec<u32>) {
        self.shared.state().pids = Some(pids);
        self.shared.changed.notify_all();
    }

    pub fn take(&self) -> Samples {
        self.shared.state().record.take()
    }
}

impl Drop for SamplerThread {
    fn drop(&mut self) {
        self.shared.state().is_over = true;
        self.shared.changed.notify_all();
        if let Some(handle) = self.handle.take() {
            let _ = handle.join();
        }
    }
}

/// Returns the monotonic clock, ns.
fn clock() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    let part = |value: i64| u64::try_from(value).unwrap_or(0);
    part(now.tv_sec) * 1_000_000_000 + part(now.tv_nsec)
}

/// Samples in a fixed grid of time. A late sample moves no other.
fn run(shared: &Shared, period: u64) {
    let mut targets = Targets::default();
    let mut tree = StackTree::default();
    let mut next = clock();
    while wait(shared, &mut targets, next) {
        let now = clock();
        targets.search(now);
        let mut samples = Vec::new();
        let mut skipped = 0;
        targets.sample(clock, &mut tree, |pid, at, sample| match sample {
            Sample::At(node) => samples.push((pid, at, node)),
            Sample::Torn => skipped += 1,
            Sample::Idle | Sample::Gone => {}
        });
        let mut state = shared.state();
        for (pid, at, node) in samples {
            state.record.add(period, pid, at, node);
        }
        let taken = &mut state.record.samples;
        taken.nodes.append(&mut tree.take_new());
        taken.refused.append(&mut targets.take_refused());
        taken.skipped += skipped;
        drop(state);
        let missed = clock().saturating_sub(next) / period;
        next = next.saturating_add(period.saturating_mul(missed + 1));
    }
}

/// Waits for a time, and without processes until there are some. Returns false at the end.
fn wait(shared: &Shared, targets: &mut Targets, time: u64) -> bool {
    let mut state = shared.state();
    loop {
        if state.is_over {
            return false;
        }
        let now = clock();
        if let Some(pids) = mem::take(&mut state.pids) {
            targets.set(pids, now);
        }
        let changed = &shared.changed;
        let left = time.saturating_sub(now);
        state = if targets.is_empty() {
            changed.wait(state).unwrap_or_else(PoisonError::into_inner)
        } else if left > 0 {
            let waited = changed.wait_timeout(state, Duration::from_nanos(left));
            waited.unwrap_or_else(PoisonError::into_inner).0
        } else {
            return true;
        };
    }
}
