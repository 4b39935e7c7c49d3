//! A process and its descendants at one instant.

use std::time::Duration;

use serde::Serialize;

use crate::process::{Node, Process, Role, Thread};

/// Time between the two samples of a snapshot.
pub(crate) const INTERVAL: Duration = Duration::from_secs(1);

/// Process and its descendants at one instant.
#[derive(Clone, Debug, Serialize)]
pub struct Snapshot {
    /// Process that the snapshot started from.
    pub root: u32,
    /// Processes, parents before their children.
    pub processes: Vec<Process>,
    /// `/dev/shm` of the root process. `None` if it has none.
    pub shared_memory: Option<SharedMemory>,
}

/// File system `/dev/shm`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SharedMemory {
    /// Size in bytes.
    pub size: u64,
    /// Free bytes.
    pub free: u64,
}

impl SharedMemory {
    /// Returns true if a batch does not fit.
    pub(crate) fn is_full(self) -> bool {
        self.free < 16 << 20
    }

    /// Returns true for at most 64 MiB, the size in a Docker container.
    pub(crate) fn is_small(self) -> bool {
        self.size <= 64 << 20
    }
}

impl Snapshot {
    /// Returns the process with this id.
    pub fn process(&self, pid: u32) -> Option<&Process> {
        self.processes.iter().find(|process| process.pid == pid)
    }

    /// Returns the thread of a node.
    pub fn thread(&self, node: Node) -> Option<&Thread> {
        let mut threads = self.process(node.pid)?.threads.iter();
        threads.find(|thread| thread.tid == node.tid)
    }

    /// Returns the other ranks outside of a collective.
    pub(crate) fn ranks_apart(&self, pid: u32) -> Vec<u32> {
        let is_apart =
            |p: &&Process| matches!(p.role, Role::Rank(_)) && p.pid != pid && !p.is_in_collective();
        let others = self.processes.iter().filter(is_apart);
        others.map(|process| process.pid).collect()
    }
}
