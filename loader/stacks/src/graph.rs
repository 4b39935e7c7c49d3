//! The graph of waits: which thread waits for which.

use std::collections::{HashMap, VecDeque};

use crate::lock::releasing;
use crate::process::{Ending, Frame, Node, Process, Role, State, Thread, ThreadRole};
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
        let first = ranks.min_by_key(|p| (!p.is_in_collective(), !p.is_in_backward()));
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
            Wait::SharedLock { peers, .. } => self.entries(peers, thread),
            Wait::Io { on, .. } => {
                let peers = on.iter().flat_map(|one| one.resource.peers());
                let mut peers: Vec<u32> = peers.copied().collect();
                // The kernel names no process at the other end of a local socket. Those of `multiprocessing` connect relatives.
                let is_local = on.iter().any(|one| one.resource.is_local_socket());
                if is_local && thread.calls_file("/multiprocessing/connection.py") {
                    peers.extend(self.children(process.pid));
                    peers.push(process.parent);
                }
                let peers: Vec<u32> = (peers.into_iter())
                    .flat_map(|pid| self.without_helper(process.pid, pid))
                    .collect();
                self.entries(&peers, thread)
            }
            Wait::Child { pid } => match pid {
                Some(pid) => self.entries(&[*pid], thread),
                None => self.entries(&self.children(process.pid), thread),
            },
            Wait::Running | Wait::Sleep | Wait::PageFault | Wait::Other { .. } => Vec::new(),
        };
        if thread.wait.is_for_other_process() {
            edges.extend(self.dead_relatives(process));
        }
        let missing = self.snapshot.missing_ranks(process, thread);
        edges.extend(self.entries(&missing, thread));
        edges
    }

    fn children(self, pid: u32) -> Vec<u32> {
        let children = self.snapshot.processes.iter().filter(|p| p.parent == pid);
        children.map(|process| process.pid).collect()
    }

    /// Returns a process that `of` waits for. A helper of `multiprocessing` sends no data of the program: a fork server represents its
    /// children, and its parent for one of them.
    fn without_helper(self, of: u32, pid: u32) -> Vec<u32> {
        let process = self.snapshot.process(pid);
        let children = self.children(pid);
        match process.map(|process| process.role) {
            Some(Role::ForkServer) if children.contains(&of) => {
                process.map(|process| process.parent).into_iter().collect()
            }
            Some(Role::ForkServer) => children,
            Some(Role::ResourceTracker) => Vec::new(),
            _ => vec![pid],
        }
    }

    /// Returns the threads that do the work of these processes for a waiting thread.
    fn entries(self, pids: &[u32], waiting: &Thread) -> Vec<Node> {
        let found = pids.iter().filter_map(|pid| self.snapshot.process(*pid));
        found.flat_map(|process| entry(process, waiting)).collect()
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
/// Main threads and queue feeders send tasks and results, so the other Python threads of or for a worker between tasks do not count.
fn entry(process: &Process, waiting: &Thread) -> Vec<Node> {
    let is_over = process.state.is_stopped() || process.state == State::Zombie;
    let main = process.main().filter(|main| main.is_working());
    let works = |thread: &&Thread| match main {
        Some(main) if main.tid == thread.tid => true,
        Some(main) => !main.waits_for_lock() && !thread.is_timed() && thread.is_working(),
        None => thread.is_working(),
    };
    let is_idle = waiting.is_idle_main() || process.main().is_some_and(Thread::is_idle_main);
    let is_sender = |t: &&Thread| t.role != ThreadRole::Python || !is_idle;
    let threads = process.threads.iter().filter(works);
    match nodes(process, threads.filter(is_sender)) {
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

impl Snapshot {
    /// Returns the other ranks that a thread waits for, in a collective operation or in `backward`.
    pub(crate) fn missing_ranks(&self, process: &Process, thread: &Thread) -> Vec<u32> {
        let is_in_backward = |pid: &u32| self.process(*pid).is_some_and(Process::is_in_backward);
        let mut ranks = self.ranks_apart(process.pid);
        match thread.is_in_backward() && process.is_in_backward() {
            _ if thread.is_in_collective() => {}
            true => ranks.retain(|pid| !is_in_backward(pid)),
            false => ranks.clear(),
        }
        ranks
    }
}

impl Process {
    /// Returns true if a thread waits in `backward`, and native threads communicate with other ranks.
    fn is_in_backward(&self) -> bool {
        /// Starts of the names of the threads of Gloo and NCCL.
        const NATIVE: [&str; 2] = ["pt_gloo", "pt_nccl"];
        let is_native = |t: &Thread| NATIVE.iter().any(|start| t.name.starts_with(start));
        self.threads.iter().any(is_native) && self.threads.iter().any(Thread::is_in_backward)
    }

    /// Returns true for a rank that executes no code, outside of the calls of a training step.
    pub(crate) fn is_between_steps(&self) -> bool {
        const STEP: [&str; 4] = [
            "torch/nn/modules/module.py",
            "torch/autograd/__init__.py",
            "torch/optim/optimizer.py",
            "torch/utils/data/dataloader.py",
        ];
        let is_outside = |t: &Thread| !t.is_active && !STEP.iter().any(|file| t.calls_file(file));
        self.main().is_some_and(is_outside)
    }

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

    /// Returns true for a thread that is blocked inside `backward` of PyTorch.
    fn is_in_backward(&self) -> bool {
        let innermost = self.frames.first();
        let is_engine = |f: &Frame| {
            f.is("_engine_run_backward", "torch/autograd/graph.py")
                || f.is("backward", "torch/autograd/__init__.py")
        };
        self.is_blocked_by_lock() && innermost.is_some_and(is_engine)
    }

    /// Returns the function that waits for other ranks.
    pub(crate) fn collective(&self) -> String {
        let innermost = self.frames.first();
        let function = innermost.map(|frame| frame.function.clone());
        match self.is_in_backward() {
            true => "backward".to_owned(),
            false => function.unwrap_or_default(),
        }
    }
}
