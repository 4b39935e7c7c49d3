//! Locks that no thread of a process can release.

use crate::cause::Cause;
use crate::process::{Node, Process, Thread, ThreadRole};
use crate::wait::Wait;

/// Returns the lock of a process that no other thread of it can release.
pub(crate) fn lock(process: &Process) -> Option<(Node, Cause)> {
    let waiting: Vec<&Thread> = process.threads.iter().filter(|t| t.is_locked()).collect();
    let first = waiting.first()?;
    let others = others(process, &waiting);
    let is_plain = |t: &&&Thread| !t.waits_for_event();
    // Waits without a time limit are equal if their locks are.
    let is_one_lock = waiting.iter().all(|t| t.wait == first.wait);
    // A thread in a timed wait can notify a condition, but seldom holds a lock during the wait.
    let is_apart = |t: &&Thread| matches!(t.wait, Wait::Lock { timed: true, .. });
    let are_apart = waiting.iter().filter(is_plain).count() > 1 && others.iter().all(is_apart);
    let tids = |threads: &[&Thread]| threads.iter().map(|thread| thread.tid).collect();
    let cause = match is_one_lock {
        true if others.is_empty() => Cause::UnreleasedLock {
            is_event: first.waits_for_event(),
            is_forked: process.is_forked,
        },
        false if others.is_empty() || are_apart => Cause::Deadlock {
            tids: tids(&waiting),
            others: tids(&others),
        },
        true | false => return None,
    };
    let (pid, tid) = (process.pid, first.tid);
    Some((Node { pid, tid }, cause))
}

/// Returns the threads that do not wait for these threads, and can release their locks.
fn others<'p>(process: &'p Process, waiting: &[&Thread]) -> Vec<&'p Thread> {
    let is_other = |t: &&Thread| {
        let is_waiting = waiting.iter().any(|one| one.tid == t.tid);
        let is_for_one = waiting.iter().any(|one| t.waits_for(one));
        // A native thread that waits for anything else, such as a socket of a collective, can release the lock later.
        let is_native = t.role == ThreadRole::Native && !t.is_blocked_by_lock();
        !is_waiting && !is_for_one && (t.is_working() || is_native)
    };
    process.threads.iter().filter(is_other).collect()
}
