//! The causes of a hang in a snapshot, and the chain of waits that leads to them.

use loadscope_words::say;
use serde::Serialize;

use crate::cause::{Cause, Finding};
use crate::deadlock::lock;
use crate::graph::{Graph, Reached};
use crate::process::{Ending, Node, Process, SIGBUS, State, Thread, ThreadRole};
use crate::snapshot::{SharedMemory, Snapshot};
use crate::wait::{Direction, Resource, Wait, is_served};
use crate::wording::{node_text, releasing_text};

/// Files of `multiprocessing` that send items between processes.
const TRANSPORT: [&str; 2] = [
    "/multiprocessing/queues.py",
    "/multiprocessing/connection.py",
];

/// Causes and the chain of waits.
#[derive(Clone, Debug, Serialize)]
pub struct Analysis {
    /// The main thread, then each time the thread that the one before waits for.
    pub chain: Vec<Node>,
    /// Causes, the most important first.
    pub findings: Vec<Finding>,
}

impl Analysis {
    /// Finds the causes in a snapshot.
    pub fn of(snapshot: &Snapshot) -> Self {
        let graph = Graph::of(snapshot);
        let reached = graph.reached(graph.start());
        let mut findings: Vec<Finding> = Vec::new();
        for process in &snapshot.processes {
            for (at, cause) in causes(snapshot, process) {
                let is_on_chain = reached.nodes.contains(&at);
                findings.push(Finding {
                    cause,
                    at,
                    is_on_chain,
                });
            }
        }
        if !findings.iter().any(|finding| finding.is_on_chain) {
            let lost = lost_item(snapshot, graph, &reached);
            findings.extend(lost.or_else(|| cycle(snapshot, graph, &reached)));
        }
        let place = |at: &Node| reached.nodes.iter().position(|node| node == at);
        findings.sort_by_key(|f| (!f.is_on_chain, f.cause.rank(), place(&f.at)));
        let chain = match findings.first().filter(|finding| finding.is_on_chain) {
            // The chain continues to the ranks that are missing.
            Some(finding) if !matches!(finding.cause, Cause::Collective { .. }) => {
                reached.path(finding.at)
            }
            _ => end(snapshot, graph, &reached),
        };
        Self { chain, findings }
    }

    /// Returns the cause of the hang: one that the main thread waits for, or one that is certain while the main thread is inactive.
    pub fn conclusion(&self, snapshot: &Snapshot) -> Option<&Finding> {
        let first = self.findings.first()?;
        let is_inactive = (self.chain.first())
            .and_then(|node| snapshot.thread(*node))
            .is_some_and(|thread| !thread.is_active);
        (first.is_on_chain || first.cause.is_certain() && is_inactive).then_some(first)
    }

    /// Returns the sentence of the conclusion. Without a cause, it contains the end of the chain.
    pub fn text(&self, snapshot: &Snapshot) -> String {
        match (self.conclusion(snapshot), self.chain.last()) {
            (Some(found), _) => found.text(snapshot),
            (None, Some(last)) => {
                let text = node_text(snapshot, *last);
                let releasing = releasing_text(snapshot, *last);
                say!("No cause of a hang found: {text}.{releasing}")
            }
            (None, None) => say!("No cause of a hang found.").to_owned(),
        }
    }
}

/// Returns the path to the nearest thread that waits for no other. It ends before a thread that can release a lock: the holder is unknown.
/// A thread in a timed wait that is no main thread, such as a heartbeat, is the last choice.
fn end(snapshot: &Snapshot, graph: Graph<'_>, reached: &Reached) -> Vec<Node> {
    let is_apart = |node: &Node| {
        let thread = snapshot.thread(*node);
        thread.is_some_and(|thread| thread.is_timed() && thread.role != ThreadRole::Main)
    };
    let has_user_frame = |node: &&Node| {
        let thread = snapshot.thread(**node);
        thread.is_some_and(|thread| thread.user_frame().is_some())
    };
    let nodes = reached.nodes.iter();
    let ends = nodes.filter(|node| graph.edges(**node).is_empty());
    let last = (ends.min_by_key(|node| is_apart(node)))
        // All threads wait for one another.
        .or_else(|| reached.nodes.iter().rev().find(has_user_frame))
        .or(reached.nodes.first());
    let mut path = last.map(|node| reached.path(*node)).unwrap_or_default();
    if let [.., before, last] = path[..]
        && before.pid == last.pid
        && let (Some(before), Some(last)) = (snapshot.thread(before), snapshot.thread(last))
        && before.waits_for_lock()
        && !before.waits_for(last)
    {
        path.pop();
    }
    path
}

/// Returns the finding that an item is possibly lost, if `/dev/shm` is small and the threads of a chain execute no code. A thread of
/// the first process waits for an item of another.
fn lost_item(snapshot: &Snapshot, graph: Graph<'_>, reached: &Reached) -> Option<Finding> {
    let memory = snapshot.shared_memory.filter(|memory| memory.is_small())?;
    let at = graph.start();
    let thread = |node: &Node| snapshot.thread(*node);
    let is_inactive = |node: &Node| thread(node).is_none_or(|thread| !thread.is_active);
    let waits = |node: &Node| {
        thread(node)
            .filter(|_| node.pid == at.pid)
            .is_some_and(|thread| {
                let is_shared = matches!(thread.wait, Wait::SharedLock { .. } | Wait::Io { .. });
                is_shared && TRANSPORT.iter().any(|file| thread.calls_file(file))
            })
    };
    let cause = Cause::SharedMemorySmall {
        size: memory.size,
        has_died: false,
    };
    let is_lost = reached.nodes.iter().any(waits) && reached.nodes.iter().all(is_inactive);
    is_lost.then_some(Finding {
        cause,
        at,
        is_on_chain: true,
    })
}

/// Returns the finding that all threads of a chain wait for one another. A thread of the program that waits for a fixed time can
/// send an item.
fn cycle(snapshot: &Snapshot, graph: Graph<'_>, reached: &Reached) -> Option<Finding> {
    let waits = |node: &Node| {
        let thread = snapshot.thread(*node);
        thread.is_some_and(|thread| !thread.is_active) && !graph.edges(*node).is_empty()
    };
    if !reached.nodes.iter().all(waits) {
        return None;
    }
    let mut pids: Vec<u32> = Vec::new();
    for node in &reached.nodes {
        if !pids.contains(&node.pid) {
            pids.push(node.pid);
        }
    }
    let is_open = pids.iter().any(|pid| {
        let threads = snapshot.process(*pid).map(|process| &process.threads);
        threads.into_iter().flatten().any(|thread| {
            let (pid, tid) = (*pid, thread.tid);
            let is_outside = !reached.nodes.contains(&Node { pid, tid });
            is_outside && thread.is_timed() && thread.user_frame().is_some()
        })
    });
    // One process has other causes, such as a deadlock.
    if pids.len() < 2 || is_open {
        return None;
    }
    Some(Finding {
        cause: Cause::Cycle { pids },
        at: *reached.nodes.last()?,
        is_on_chain: true,
    })
}

/// Returns the causes in one process.
fn causes(snapshot: &Snapshot, process: &Process) -> Vec<(Node, Cause)> {
    let pid = process.pid;
    let main = Node::main(pid);
    if process.state.is_stopped() {
        let by_debugger = process.state == State::Traced;
        return vec![(main, Cause::Stopped { by_debugger })];
    }
    if let Some(ending) = process.ended {
        return dead(snapshot, process, ending).into_iter().collect();
    }
    let mut found: Vec<(Node, Cause)> = Vec::new();
    found.extend(gil(process));
    found.extend(lock(process));
    let waiting = |thread: &&Thread| !thread.is_active && !thread.is_idle();
    for thread in process.threads.iter().filter(waiting) {
        let tid = thread.tid;
        let at = Node { pid, tid };
        let cause = blocked(snapshot, process, thread);
        found.extend(cause.map(|cause| (at, cause)));
        let missing = snapshot.missing_ranks(process, thread);
        // A wait in `backward` can also be for a rank that is slower.
        let is_left = |pid: &u32| {
            let rank = snapshot.process(*pid);
            rank.is_some_and(Process::is_between_steps)
        };
        if thread.is_in_collective() || missing.iter().any(is_left) {
            let function = thread.collective();
            found.push((at, Cause::Collective { function, missing }));
        }
    }
    found
}

fn dead(snapshot: &Snapshot, process: &Process, ending: Ending) -> Option<(Node, Cause)> {
    let memory = (snapshot.shared_memory).filter(|_| ending == Ending::Signal(SIGBUS));
    let cause = match memory {
        Some(SharedMemory { free, .. }) if memory.is_some_and(SharedMemory::is_full) => {
            Cause::SharedMemoryFull { free }
        }
        Some(SharedMemory { size, .. }) if memory.is_some_and(SharedMemory::is_small) => {
            Cause::SharedMemorySmall {
                size,
                has_died: true,
            }
        }
        _ => Cause::Died { ending },
    };
    let at = Node::main(process.pid);
    process.has_failed().then_some((at, cause))
}

/// Returns a thread that holds the interpreter lock without executing Python code.
fn gil(process: &Process) -> Option<(Node, Cause)> {
    let holder = process.threads.iter().find(|thread| thread.holds_gil)?;
    let waiting = |thread: &&Thread| thread.wait == Wait::Gil;
    let waiting = process.threads.iter().filter(waiting).count();
    let is_blocked = !matches!(holder.wait, Wait::Running | Wait::Gil);
    let (pid, tid) = (process.pid, holder.tid);
    let cause = Cause::GilHeld { waiting };
    // Functions of Python release the lock before a system call that can block.
    (is_blocked && !holder.is_active).then_some((Node { pid, tid }, cause))
}

/// Returns the cause in the wait of one thread.
fn blocked(snapshot: &Snapshot, process: &Process, thread: &Thread) -> Option<Cause> {
    let puts = thread.calls("put", "/multiprocessing/queues.py");
    match &thread.wait {
        Wait::SharedLock { timed: false, .. } if puts => return Some(Cause::FullQueue),
        Wait::PageFault => return Some(Cause::Storage { file: None }),
        _ => {}
    }
    let all = thread.wait.descriptors();
    all.iter()
        .find_map(|one| match (&one.resource, one.direction) {
            (Resource::Pipe { peers, id }, Direction::Write) => {
                let is_read = peers.iter().any(|peer| reads(snapshot, *peer, id));
                let peers = peers.clone();
                (!is_read).then(|| full_pipe(snapshot, one.fd, peers))?
            }
            (Resource::Pipe { peers, .. }, Direction::Read) => {
                let is_other = |t: &Thread| t.is_working() && t.tid != thread.tid;
                let is_alone = !process.threads.iter().any(is_other);
                let is_only = peers.is_empty() && is_alone && all.len() == 1;
                is_only.then_some(Cause::NoWriter)
            }
            (Resource::Fifo { path, peers }, _) => {
                let (path, peers) = (path.clone(), peers.clone());
                Some(Cause::Fifo { path, peers })
            }
            (Resource::File { path, file_system }, _) => {
                let is_blocked = thread.state == State::Blocked || is_served(file_system);
                let file = Some((path.clone(), file_system.clone()));
                is_blocked.then_some(Cause::Storage { file })
            }
            (Resource::FileLock { path, holder }, _) => {
                let (path, holder) = (path.clone(), *holder);
                Some(Cause::FileLocked { path, holder })
            }
            (Resource::Socket { remote }, Direction::Read) => {
                let remote = remote.clone()?;
                Some(Cause::Network { remote })
            }
            (Resource::Socket { .. } | Resource::Other { .. }, _) => None,
        })
}

/// Returns the cause of a full pipe that no known thread reads. A process outside of the snapshot can read a pipe slowly.
fn full_pipe(snapshot: &Snapshot, fd: Option<u64>, peers: Vec<u32>) -> Option<Cause> {
    // The threads of a process that did not answer are unknown.
    let is_known = |pid: &u32| {
        snapshot
            .process(*pid)
            .is_some_and(|p| !p.threads.is_empty())
    };
    let is_outside = |pid: &u32| snapshot.process(*pid).is_none();
    // The standard output of a container has its reader in another PID namespace.
    let is_output = matches!(fd, Some(1 | 2)) && peers.iter().all(is_outside);
    match is_output {
        true => Some(Cause::FullOutput { peers }),
        false => (peers.iter().all(is_known)).then_some(Cause::FullPipe { peers }),
    }
}

/// Returns true if a thread of the process reads from this pipe.
fn reads(snapshot: &Snapshot, pid: u32, pipe: &str) -> bool {
    let threads = snapshot.process(pid).map(|process| &process.threads);
    let threads = threads.into_iter().flatten();
    let mut all = threads.flat_map(|thread| thread.wait.descriptors());
    all.any(|one| {
        let is_same = matches!(&one.resource, Resource::Pipe { id, .. } if id == pipe);
        one.direction == Direction::Read && is_same
    })
}
