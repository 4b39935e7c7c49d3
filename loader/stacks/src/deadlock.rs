//! Locks that no thread of a process can release.

use crate::cause::Cause;
use crate::process::{Node, Process, Thread, ThreadRole};
use crate::wait::Wait;

/// Returns the lock of a process that no other thread of it can release.
pub(crate) fn lock(process: &Process) -> Option<(Node, Cause)> {
    let waiting: Vec<&Thread> = process.threads.iter().filter(|t| t.is_locked()).collect();
    // A wait for another thread has its cause in that thread.
    let first =
        (waiting.iter()).min_by_key(|t| (!t.waits_for_plain_lock(), t.waits_for_thread()))?;
    let others = others(process, &waiting);
    let plain = waiting.iter().filter(|t| t.waits_for_plain_lock());
    // Waits without a time limit are equal if their locks are.
    let is_deadlock = plain.clone().any(|t| t.wait != first.wait);
    let cause = match is_deadlock {
        true if others.iter().all(|t| is_apart(t)) => Cause::Deadlock {
            tids: plain.map(|thread| thread.tid).collect(),
            others: others.iter().map(|thread| thread.tid).collect(),
        },
        false if others.is_empty() => Cause::UnreleasedLock {
            is_event: first.waits_for_event(),
            is_forked: process.is_forked,
        },
        true | false => return None,
    };
    let (pid, tid) = (process.pid, first.tid);
    Some((Node { pid, tid }, cause))
}

/// Returns true for a thread that can notify a condition, but seldom holds a lock: in a timed wait, or between tasks.
fn is_apart(thread: &Thread) -> bool {
    matches!(thread.wait, Wait::Lock { timed: true, .. }) || thread.is_idle_main()
}

/// Returns the threads that do not wait for these threads, and can release their locks.
fn others<'p>(process: &'p Process, waiting: &[&Thread]) -> Vec<&'p Thread> {
    // A task needs the queue feeder thread for its result.
    let are_feeders = waiting.iter().any(|t| t.role == ThreadRole::QueueFeeder);
    let is_other = |t: &&Thread| {
        let is_waiting = waiting.iter().any(|one| one.tid == t.tid);
        let is_for_one = waiting.iter().any(|one| t.waits_for(one));
        // A native thread that waits for anything else, such as a socket of a collective, can release the lock later.
        let is_native = t.role == ThreadRole::Native && !t.is_blocked_by_lock();
        !is_waiting
            && !is_for_one
            && (t.is_working() || is_native || t.is_idle_main() && !are_feeders)
    };
    process.threads.iter().filter(is_other).collect()
}
