//! Stacks as a tree: a node is a frame of one caller.

use std::collections::HashMap;
use std::sync::Arc;

use super::samples::{NodeId, StackNode};
use crate::process::Frame;

/// Largest number of nodes. Further stacks have the deepest node that exists.
const MAX_NODES: usize = 200_000;

/// Number of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FunctionId(u32);

/// Part of a function in a wait for work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// Start of a child process. Its callers belong to the parent.
    Start,
    /// Function that waits for the tasks or results of a `DataLoader`.
    Loader,
    /// Takes an item from a queue.
    Get,
    /// Other code of queues.
    Transport,
    /// Code that the interpreter adds.
    Internal,
    Other,
}

/// Wait for work of a stack, from the outermost frame to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wait {
    None,
    /// The last frame is one that waits for work.
    Caller,
    /// The frames after it only wait.
    Waiting,
}

/// All stacks of a sampler.
#[derive(Default)]
pub struct StackTree {
    functions: Vec<(String, String, Part)>,
    numbers: HashMap<(String, String), FunctionId>,
    frames: HashMap<(FunctionId, u32), Arc<Frame>>,
    nodes: Vec<Wait>,
    children: HashMap<(Option<NodeId>, FunctionId, u32), NodeId>,
    new: Vec<StackNode>,
}

impl StackTree {
    /// Returns the number of a function. `None` beyond the limit.
    pub fn function(&mut self, name: String, file: String) -> Option<FunctionId> {
        let key = (name, file);
        if let Some(known) = self.numbers.get(&key) {
            return Some(*known);
        }
        let count = Some(self.functions.len()).filter(|count| *count < MAX_NODES);
        let number = FunctionId(u32::try_from(count?).ok()?);
        let (name, file) = key.clone();
        self.functions.push((name, file, Part::of(&key.0, &key.1)));
        self.numbers.insert(key, number);
        Some(number)
    }

    /// Returns the node of a stack, the innermost function first, each with its line. `None` for a wait for work.
    pub fn node(&mut self, stack: &[(Option<FunctionId>, u32)]) -> Option<NodeId> {
        let mut own = Vec::with_capacity(stack.len());
        for (function, line) in stack {
            let part = function.map_or(Part::Other, |one| self.part(one));
            if part != Part::Internal {
                own.push((*function, *line, part));
            }
            if part == Part::Start {
                break;
            }
        }
        let (mut node, mut wait) = (None, Wait::None);
        for (function, line, part) in own.into_iter().rev() {
            let Some(child) = function.and_then(|f| self.child(node, f, line, wait.then(part)))
            else {
                break;
            };
            node = Some(child);
            wait = self.nodes.get(child.0 as usize).copied().unwrap_or(wait);
        }
        node.filter(|_| wait != Wait::Waiting)
    }

    /// Returns the node of a system call in the innermost function of a node. Beyond the limit, returns that node.
    pub fn system_call(&mut self, node: NodeId, name: String, object: &str) -> NodeId {
        let function = self.function(name, format!("<{object}>"));
        let child = function.and_then(|call| self.child(Some(node), call, 0, Wait::None));
        child.unwrap_or(node)
    }

    /// Returns the node of a call. `None` if a new one is beyond the limit.
    fn child(
        &mut self,
        parent: Option<NodeId>,
        function: FunctionId,
        line: u32,
        wait: Wait,
    ) -> Option<NodeId> {
        let key = (parent, function, line);
        if let Some(known) = self.children.get(&key) {
            return Some(*known);
        }
        let count = Some(self.nodes.len()).filter(|count| *count < MAX_NODES);
        let node = NodeId(u32::try_from(count?).ok()?);
        let (name, file, _) = self.functions.get(function.0 as usize)?;
        let new = || Arc::new(Frame::new(name.clone(), file.clone(), line));
        let frame = self.frames.entry((function, line)).or_insert_with(new);
        self.new.push(StackNode {
            parent,
            frame: Arc::clone(frame),
        });
        self.nodes.push(wait);
        self.children.insert(key, node);
        Some(node)
    }

    fn part(&self, function: FunctionId) -> Part {
        let found = self.functions.get(function.0 as usize);
        found.map_or(Part::Other, |(_, _, part)| *part)
    }

    /// Returns the nodes created since the previous call.
    pub fn take_new(&mut self) -> Vec<StackNode> {
        std::mem::take(&mut self.new)
    }
}

impl Wait {
    /// Returns the wait after one more frame.
    fn then(self, next: Part) -> Self {
        match (self, next) {
            (_, Part::Loader) => Self::Caller,
            (Self::Caller, Part::Get) | (Self::Waiting, Part::Get | Part::Transport) => {
                Self::Waiting
            }
            (Self::None | Self::Caller | Self::Waiting, _) => Self::None,
        }
    }
}

impl Part {
    fn of(name: &str, file: &str) -> Self {
        /// Copy of PyTorch's loader in torchdata.
        const STATEFUL: &str = "torchdata/stateful_dataloader/stateful_dataloader.py";
        const LOADERS: [(&str, &str); 8] = [
            ("_worker_loop", "torch/utils/data/_utils/worker.py"),
            ("_worker_loop", "torchdata/stateful_dataloader/worker.py"),
            ("_next_data", STATEFUL),
            ("_get_data", STATEFUL),
            ("_try_get_data", STATEFUL),
            ("_next_data", "torch/utils/data/dataloader.py"),
            ("_get_data", "torch/utils/data/dataloader.py"),
            ("_try_get_data", "torch/utils/data/dataloader.py"),
        ];
        const QUEUES: [&str; 2] = ["/multiprocessing/queues.py", "/queue.py"];
        const TRANSPORT: [&str; 4] = [
            "/multiprocessing/connection.py",
            "/multiprocessing/synchronize.py",
            "/selectors.py",
            "/threading.py",
        ];
        let frame = Frame::new(name.to_owned(), file.to_owned(), 0);
        if file.is_empty() || file == "<shim>" {
            Self::Internal
        } else if frame.is("_bootstrap", "/multiprocessing/process.py") {
            Self::Start
        } else if LOADERS.iter().any(|(name, file)| frame.is(name, file)) {
            Self::Loader
        } else if QUEUES.iter().any(|file| frame.is("get", file)) {
            Self::Get
        } else if QUEUES
            .iter()
            .chain(&TRANSPORT)
            .any(|one| file.ends_with(one))
        {
            Self::Transport
        } else {
            Self::Other
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORKER: (&str, &str) = ("_worker_loop", "/torch/utils/data/_utils/worker.py");
    const NEXT: (&str, &str) = ("I._next_data", "/torch/utils/data/dataloader.py");
    const TRY: (&str, &str) = ("I._try_get_data", "/torch/utils/data/dataloader.py");
    const GET: (&str, &str) = ("Queue.get", "/lib/multiprocessing/queues.py");
    const POLL: (&str, &str) = ("Connection.poll", "/lib/multiprocessing/connection.py");
    const FETCH: (&str, &str) = ("fetch", "/torch/utils/data/_utils/fetch.py");
    const REBUILD: (&str, &str) = ("rebuild", "/torch/multiprocessing/reductions.py");

    /// Returns the node of a stack, the outermost function first.
    fn node(tree: &mut StackTree, stack: &[(&str, &str)]) -> Option<NodeId> {
        let frames = stack.iter().rev().map(|(name, file)| {
            let function = tree.function((*name).to_owned(), (*file).to_owned());
            (function, 7)
        });
        let frames: Vec<_> = frames.collect();
        tree.node(&frames)
    }

    #[test]
    fn a_wait_for_work_is_no_sample() {
        let mut tree = StackTree::default();
        let mut is_kept = |stack: &[(&str, &str)]| node(&mut tree, stack).is_some();
        let main = ("<module>", "train.py");
        assert!(!is_kept(&[WORKER, GET, POLL]));
        assert!(!is_kept(&[WORKER, GET]));
        let stateful = ("_worker_loop", "/torchdata/stateful_dataloader/worker.py");
        assert!(!is_kept(&[stateful, GET, POLL]));
        assert!(!is_kept(&[main, NEXT, TRY, GET, POLL]));
        assert!(!is_kept(&[
            main,
            NEXT,
            TRY,
            ("get", "/lib/queue.py"),
            ("wait", "/lib/threading.py")
        ]));
        assert!(is_kept(&[WORKER]));
        assert!(is_kept(&[WORKER, FETCH, GET, POLL]));
        assert!(is_kept(&[
            WORKER,
            ("put", "/lib/multiprocessing/queues.py")
        ]));
        assert!(is_kept(&[main, NEXT, FETCH]));
        assert!(is_kept(&[main, NEXT, TRY, GET, REBUILD, POLL]));
        assert!(is_kept(&[main, GET, POLL]));
    }

    #[test]
    fn equal_stacks_have_one_node_and_a_child_process_has_only_its_own_frames() {
        let mut tree = StackTree::default();
        let main = ("<module>", "train.py");
        let start = ("BaseProcess._bootstrap", "/lib/multiprocessing/process.py");
        let shim = ("<interpreter trampoline>", "<shim>");
        let one = node(&mut tree, &[main, start, shim, FETCH]);
        assert_eq!(one, Some(NodeId(1)));
        assert_eq!(node(&mut tree, &[start, FETCH]), one);
        assert_eq!(node(&mut tree, &[main, FETCH]), Some(NodeId(3)));
        let nodes = tree.take_new();
        let parents: Vec<_> = nodes.iter().map(|node| node.parent).collect();
        assert_eq!(parents, [None, Some(NodeId(0)), None, Some(NodeId(2))]);
        assert!(Arc::ptr_eq(&nodes[1].frame, &nodes[3].frame));
        assert!(tree.take_new().is_empty());
    }

    #[test]
    fn the_number_of_nodes_has_a_limit() {
        let mut tree = StackTree::default();
        let function = tree.function("f".to_owned(), "a.py".to_owned());
        let limit = u32::try_from(MAX_NODES).expect("it is small");
        for line in 0..limit + 10 {
            let node = tree.node(&[(function, line), (function, 0)]);
            let wanted = if line < limit - 1 { line + 1 } else { 0 };
            assert_eq!(node, Some(NodeId(wanted)));
        }
        assert_eq!(tree.take_new().len(), MAX_NODES);
    }
}
