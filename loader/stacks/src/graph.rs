//! The graph of waits: which thread waits for which.

use std::collections::{HashMap, VecDeque};

use crate::lock::releasing;
use crate::process::{Ending, Node, Process, Role, State, Thread, ThreadRole};
use crate::snapshot::Snapshot;
use crate::wait::{Direction, Wait};

/// Nodes that can be reached from a start.
#[derive(Debug, Default)]
pub(crate) struct Reached {
    /// Nodes in the order of their distance.
    pub nodes: Vec<Node>,
    before: HashMap<Node, Node>,
}

impl Reached {
    /// Returns the shortest path from the start to a node.
    pub fn path(&self, to: Node) -> Vec<Node> {
        let mut path = vec![to];
        let mut at = to;
        while let Some(before) = self.before.get(&at) {
            path.push(*before);
            at = *before;
        }
        path.reverse();
        path
    }
}

/// Waits of a snapshot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Graph<'a> {
    snapshot: &'a Snapshot,
}

impl<'a> Graph<'a> {
    pub fn of(snapshot: &'a Snapshot) -> Self {
        Self { snapshot }
    }

    /// Returns the main thread of the root process. A launcher only supervises its ranks, so then it is a rank in a collective, or any rank.
    pub fn start(self) -> Node {
        let is_rank = |p: &&Process| matches!(p.role, Role::Rank(_));
        let ranks = self.snapshot.processes.iter().filter(is_rank);
        let first = ranks.min_by_key(|process| !process.is_in_collective());
        Node::main(first.map_or(self.snapshot.root, |process| process.pid))
    }

    /// Returns all nodes that the start waits for, directly and indirectly.
    pub fn reached(self, start: Node) -> Reached {
        let mut reached = Reached {
            nodes: vec![start],
            before: HashMap::new(),
        };
        let mut queue = VecDeque::from([start]);
        while let Some(from) = queue.pop_front() {
            for to in self.edges(from) {
                if !reached.nodes.contains(&to) {
                    reached.before.insert(to, from);
                    reached.nodes.push(to);
                    queue.push_back(to);
                }
            }
        }
        reached
    }

    /// Returns the nodes that a node waits for.
    pub fn edges(self, node: Node) -> Vec<Node> {
        let process = self.snapshot.process(node.pid);
        let (Some(process), Some(thread)) = (process, self.snapshot.thread(node)) else {
            return Vec::new();
        };
        if process.state.is_stopped() || process.state == State::Zombie {
            return Vec::new();
        }
        let mut edges: Vec<Node> = match &thread.wait {
            Wait::Lock { .. } => nodes(process, releasing(process, thread).into_iter()),
            Wait::Gil => {
                let holders = process.threads.iter().filter(|thread| thread.holds_gil);
                nodes(process, holders)
            }
            Wait::SharedLock { peers, .. } => self.entries(peers),
            Wait::Io { on, .. } => {
                let peers = on.iter().flat_map(|one| one.resource.peers());
                let mut peers: Vec<u32> = peers.copied().collect();
                // The kernel names no process at the other end of a local socket. Those of `multiprocessing` connect relatives.
                let is_local = on.iter().any(|one| one.resource.is_local_socket());
                if is_local && thread.calls_file("/multiprocessing/connection.py") {
                    peers.extend(self.children(process.pid));
                    peers.push(process.parent);
                }
                self.entries(&peers)
            }
            Wait::Child { pid } => match pid {
                Some(pid) => self.entries(&[*pid]),
                None => self.entries(&self.children(process.pid)),
            },
            Wait::Running | Wait::Sleep | Wait::PageFault | Wait::Other { .. } => Vec::new(),
        };
        if thread.wait.is_for_other_process() {
            edges.extend(self.dead_relatives(process));
        }
        if thread.is_in_collective() {
            edges.extend(self.entries(&self.snapshot.ranks_apart(process.pid)));
        }
        edges
    }

    fn children(self, pid: u32) -> Vec<u32> {
        let children = self.snapshot.processes.iter().filter(|p| p.parent == pid);
        children.map(|process| process.pid).collect()
    }

    /// Returns the nodes of processes whose threads do the work of these processes.
    fn entries(self, pids: &[u32]) -> Vec<Node> {
        let found = pids.iter().filter_map(|pid| self.snapshot.process(*pid));
        found.flat_map(entry).collect()
    }

    /// Returns failed children and siblings of a process: an item or a lock can be lost with them.
    fn dead_relatives(self, process: &Process) -> Vec<Node> {
        let is_relative = |p: &&Process| {
            p.parent == process.pid || p.parent == process.parent && p.pid != process.pid
        };
        let relatives = self.snapshot.processes.iter().filter(is_relative);
        let failed = relatives.filter(|p| p.has_failed() && p.can_share_with(process));
        failed.map(|p| Node::main(p.pid)).collect()
    }
}

fn nodes<'t>(process: &Process, threads: impl Iterator<Item = &'t Thread>) -> Vec<Node> {
    let pid = process.pid;
    let tids = threads.map(|thread| thread.tid);
    tids.map(|tid| Node { pid, tid }).collect()
}

/// Returns the threads that do the work of a process, the main thread first, or the main thread if all are idle. If the main thread
/// works, a thread in a timed wait, such as a heartbeat, does not count. A main thread that waits for a lock leads to the others.
fn entry(process: &Process) -> Vec<Node> {
    let is_over = process.state.is_stopped() || process.state == State::Zombie;
    let main = process.main().filter(|main| main.is_working());
    let works = |thread: &&Thread| match main {
        Some(main) if main.tid == thread.tid => true,
        Some(main) => !main.waits_for_lock() && !thread.is_timed() && thread.is_working(),
        None => thread.is_working(),
    };
    match nodes(process, process.threads.iter().filter(works)) {
        working if !is_over && !working.is_empty() => working,
        _ => vec![Node::main(process.pid)],
    }
}

impl Wait {
    /// Returns true for a wait that only another process can end.
    fn is_for_other_process(&self) -> bool {
        match self {
            Self::SharedLock { .. } => true,
            Self::Io { on, .. } => on.iter().any(|one| one.direction == Direction::Read),
            Self::Running | Self::Lock { .. } | Self::Gil | Self::Child { .. } => false,
            Self::Sleep | Self::PageFault | Self::Other { .. } => false,
        }
    }
}

impl Process {
    /// Returns true if a thread is inside a collective operation of `torch.distributed`.
    pub(crate) fn is_in_collective(&self) -> bool {
        self.threads.iter().any(Thread::is_in_collective)
    }

    /// Returns true for a process that ended with a signal or an error code.
    pub(crate) fn has_failed(&self) -> bool {
        self.ended.is_some_and(|ending| ending != Ending::Code(0))
    }

    /// Returns true for an ended process that can have had a queue or a lock of a relative: a fork, a Python process, or one that was killed.
    /// A command that failed, such as `git`, has none.
    fn can_share_with(&self, relative: &Self) -> bool {
        /// Starts of the names of Python processes. PyTorch names its processes `pt_main_thread` and `pt_data_worker`.
        const PYTHON: [&str; 2] = ["python", "pt_"];
        let is_killed = matches!(self.ended, Some(Ending::Signal(_)));
        let is_python =
            self.name == relative.name || PYTHON.iter().any(|p| self.name.starts_with(p));
        is_killed || self.is_forked || is_python
    }
}

impl Thread {
    /// Returns true for a Python thread that is not idle.
    pub(crate) fn is_working(&self) -> bool {
        self.role != ThreadRole::Native && !self.is_idle()
    }

    /// Returns true inside a collective operation of `torch.distributed`.
    pub(crate) fn is_in_collective(&self) -> bool {
        self.calls_file("torch/distributed/distributed_c10d.py")
    }
}
