//! Samples of a sampler.

use std::sync::Arc;

use crate::process::Frame;

/// Number of a stack node. A sampler counts them from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// Frame of a stack, with its caller.
#[derive(Clone, Debug)]
pub struct StackNode {
    /// Caller. `None` for the outermost frame.
    pub parent: Option<NodeId>,
    /// Function, file and line.
    pub frame: Arc<Frame>,
}

/// Equal consecutive samples of a process, one per period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackSamples {
    /// Process.
    pub pid: u32,
    /// Monotonic clock at the first sample, ns.
    pub at: u64,
    /// Innermost frame.
    pub node: NodeId,
    /// Number of samples.
    pub count: u32,
}

/// Samples since the previous call of `take`.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    /// New nodes. Each has the number after the one before.
    pub nodes: Vec<StackNode>,
    /// Samples, in the order of time per process.
    pub samples: Vec<StackSamples>,
    /// Processes whose stacks cannot be read, each once, with the reason.
    pub refused: Vec<(u32, String)>,
    /// Number of samples that are absent, because the stack changed during each read.
    pub skipped: u64,
}
