//! Waits of threads.

use serde::Serialize;

/// Wait of a thread.
#[allow(missing_docs, reason = "the names describe the fields")]
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Wait {
    /// The thread executes code, or waits for a CPU core.
    Running,
    /// A futex that only threads of the same process can release. A timed wait ends by itself.
    Lock { address: u64, timed: bool },
    /// A futex in shared memory, such as a semaphore of `multiprocessing`, and the other processes that map it.
    SharedLock {
        address: u64,
        timed: bool,
        peers: Vec<u32>,
    },
    /// The global interpreter lock.
    Gil,
    /// A system call with files, pipes or sockets.
    Io {
        call: String,
        on: Vec<Descriptor>,
        timed: bool,
    },
    /// The end of a child process. `None` for any.
    Child { pid: Option<u32> },
    /// A fixed time.
    Sleep,
    /// Storage, without a system call: a page of a mapped file.
    PageFault,
    /// Any other system call.
    Other { call: String },
}

impl Wait {
    /// Returns the files, pipes and sockets of the wait.
    pub fn descriptors(&self) -> &[Descriptor] {
        match self {
            Self::Io { on, .. } => on,
            Self::Running | Self::Lock { .. } | Self::SharedLock { .. } | Self::Gil => &[],
            Self::Child { .. } | Self::Sleep | Self::PageFault | Self::Other { .. } => &[],
        }
    }
}

/// Direction of data.
#[allow(missing_docs, reason = "the names describe the directions")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    Read,
    Write,
}

/// File descriptor, or a path without one.
#[allow(missing_docs, reason = "the names describe the fields")]
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Descriptor {
    pub fd: Option<u64>,
    pub direction: Direction,
    pub resource: Resource,
}

/// Object of a descriptor or a path.
#[allow(missing_docs, reason = "the names describe the fields")]
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Resource {
    /// A pipe, with the processes at its other end.
    Pipe { id: String, peers: Vec<u32> },
    /// A named pipe, with the processes at its other end.
    Fifo { path: String, peers: Vec<u32> },
    /// A socket, with the address of the remote host for TCP.
    Socket { remote: Option<String> },
    /// A file, with the type of its file system.
    File { path: String, file_system: String },
    /// The lock of a file, with the process that holds it.
    FileLock { path: String, holder: Option<u32> },
    /// Any other object.
    Other { name: String },
}

impl Resource {
    /// Returns true for a socket without a remote host.
    pub(crate) fn is_local_socket(&self) -> bool {
        matches!(self, Self::Socket { remote: None })
    }

    /// Returns the processes at the other end of a pipe, and the holder of a lock.
    pub fn peers(&self) -> &[u32] {
        match self {
            Self::Pipe { peers, .. } | Self::Fifo { peers, .. } => peers,
            Self::FileLock { holder, .. } => holder.as_slice(),
            Self::Socket { .. } | Self::File { .. } | Self::Other { .. } => &[],
        }
    }
}

/// Returns true for a file system of a server or of a program, which can stop answering.
pub(crate) fn is_served(file_system: &str) -> bool {
    const SERVED: [&str; 13] = [
        "nfs", "nfs4", "fuse", "fuseblk", "cifs", "smb3", "lustre", "ceph", "9p", "beegfs", "gpfs",
        "virtiofs", "autofs",
    ];
    SERVED.contains(&file_system) || file_system.starts_with("fuse.")
}
