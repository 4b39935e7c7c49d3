//! Causes of hangs, each with a sentence, its evidence and a remedy.

use loadscope_words::say;
use serde::Serialize;

use crate::process::{Ending, Node, SIGKILL, State};
use crate::snapshot::{INTERVAL, Snapshot};
use crate::wording::{
    capitalized, ending_text, known_list, node_text, place, process_list, subject,
};

/// Cause of a hang, at the thread where it was found. A process that has ended or is stopped is represented by its main thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the names describe the fields")]
pub struct Finding {
    pub cause: Cause,
    pub at: Node,
    /// True if the main thread of the program waits for `at`, directly or indirectly.
    pub is_on_chain: bool,
}

/// Cause of a hang.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names describe the fields")]
pub enum Cause {
    /// The process is stopped by a signal, or by a debugger.
    Stopped { by_debugger: bool },
    /// The process died because `/dev/shm` is full.
    SharedMemoryFull { free: u64 },
    /// The process died, and its parent has not read its exit code.
    Died { ending: Ending },
    /// The process waits for a lock that a thread of its parent held during the fork.
    InheritedLock,
    /// All threads of the process wait for locks.
    Deadlock { tids: Vec<u32> },
    /// A function in C holds the interpreter lock. `waiting` is the number of threads that wait for it.
    GilHeld { waiting: usize },
    /// A named pipe without data or without a reader.
    Fifo { path: String, peers: Vec<u32> },
    /// A file, or a page of an unknown file, on a file system that does not answer.
    Storage { file: Option<(String, String)> },
    /// A lock of a file that another process holds.
    FileLocked { path: String, holder: Option<u32> },
    /// A full pipe that no process reads.
    FullPipe { peers: Vec<u32> },
    /// Standard output or error: a full pipe to a program outside of the tree.
    FullOutput { peers: Vec<u32> },
    /// A full `multiprocessing.Queue`.
    FullQueue,
    /// A pipe that no other process can write to.
    NoWriter,
    /// A remote host that does not answer.
    Network { remote: String },
    /// A collective operation that other ranks have not joined.
    Collective { function: String },
    /// Processes that wait for one another.
    Cycle { pids: Vec<u32> },
}

impl Cause {
    /// Returns the order of importance. The first cause of a hang has the lowest rank.
    pub(crate) fn rank(&self) -> u8 {
        match self {
            Self::Stopped { .. } => 0,
            Self::SharedMemoryFull { .. } => 1,
            Self::Died {
                ending: Ending::Signal(_),
            } => 1,
            Self::InheritedLock | Self::GilHeld { .. } | Self::Deadlock { .. } => 2,
            Self::Fifo { .. } | Self::Storage { .. } | Self::FileLocked { .. } => 3,
            Self::FullPipe { .. } | Self::FullOutput { .. } => 4,
            // A program can continue without a child that failed. Without one, these pipes and queues have no other end.
            Self::Died {
                ending: Ending::Code(_),
            } => 5,
            Self::FullQueue | Self::NoWriter => 6,
            Self::Network { .. } | Self::Collective { .. } => 7,
            Self::Cycle { .. } => 8,
        }
    }

    /// Returns true if the snapshot proves that the thread or process cannot continue by itself.
    pub(crate) fn is_certain(&self) -> bool {
        self.rank() <= 2
    }
}

impl Finding {
    /// Returns the cause as a sentence.
    pub fn text(&self, snapshot: &Snapshot) -> String {
        let who = subject(snapshot, self.at);
        let thread = snapshot.thread(self.at);
        let place = thread.map(place).unwrap_or_default();
        let list = |pids: &[u32]| process_list(snapshot, pids);
        let text = match &self.cause {
            Cause::Stopped { by_debugger: false } => say!("{who} is stopped by a signal."),
            Cause::Stopped { by_debugger: true } => say!("{who} is stopped by a debugger."),
            Cause::SharedMemoryFull { free } => {
                let free = free >> 10;
                say!("{who} died because the shared memory /dev/shm is full: {free} kB are free.")
            }
            Cause::Died { ending } => {
                say!(
                    "{who} has ended: {}. Its parent has not read its exit code.",
                    ending_text(*ending)
                )
            }
            Cause::InheritedLock => say!(
                "{who} waits forever for a lock{place}. Another thread held the lock when the process was forked, and that thread does not exist in the copy."
            ),
            Cause::Deadlock { tids } => match tids.len() {
                1 => say!(
                    "{who} waits forever for a lock{place}. No other thread of the process can release it."
                ),
                n => say!("{who} is one of {n} threads that wait for one another's locks{place}."),
            },
            Cause::GilHeld { waiting } => say!(
                "{who} holds the interpreter lock (GIL) in a function in C that is blocked{place}. Threads that wait for the lock: {waiting}."
            ),
            Cause::Fifo { path, peers } => {
                say!(
                    "{who} waits for the named pipe {path}{place}. Processes at its other end: {}.",
                    list(peers)
                )
            }
            Cause::Storage {
                file: Some((path, kind)),
            } => {
                say!(
                    "{who} waits for the file {path}{place}. Its file system ({kind}) does not answer."
                )
            }
            Cause::Storage { file: None } => {
                say!("{who} waits for a page of a file{place}. Its file system does not answer.")
            }
            Cause::FileLocked { path, holder } => {
                let holder = known_list(snapshot, holder.as_slice());
                say!(
                    "{who} waits for the lock of the file {path}{place}. Holder of the lock: {holder}."
                )
            }
            Cause::FullPipe { peers } => {
                say!(
                    "{who} writes to a full pipe, and no process reads from it. Processes at its other end: {}.",
                    list(peers)
                )
            }
            Cause::FullOutput { peers } => say!(
                "{who} prints to a full pipe{place}. The program at the other end does not read: {}.",
                known_list(snapshot, peers)
            ),
            Cause::FullQueue => say!(
                "{who} puts an item into a full multiprocessing.Queue, and no process takes one{place}."
            ),
            Cause::NoWriter => {
                say!("{who} reads from a pipe{place}. No other process has its other end.")
            }
            Cause::Network { remote } => say!("{who} waits for an answer of {remote}{place}."),
            Cause::Collective { function } => {
                say!("{who} waits in {function} for ranks that have not called it.")
            }
            Cause::Cycle { pids } => {
                say!("Each of these processes waits for another: {}.", list(pids))
            }
        };
        capitalized(text)
    }

    /// Returns the observed facts.
    pub fn evidence(&self, snapshot: &Snapshot) -> Vec<String> {
        let Node { pid, tid } = self.at;
        let state = snapshot.process(pid).map(|process| process.state);
        if let Some(letter) = state.and_then(State::letter_of_end) {
            return vec![say!("/proc/{pid}/status has state {letter}.")];
        }
        let tids = match &self.cause {
            Cause::Deadlock { tids } => tids.clone(),
            _ => vec![tid],
        };
        let nodes = tids.into_iter().map(|tid| Node { pid, tid });
        let seconds = INTERVAL.as_secs();
        let sentence = |node| {
            let text = capitalized(node_text(snapshot, node));
            say!("{text}. It executed no code for {seconds} s.")
        };
        nodes.map(sentence).collect()
    }

    /// Returns the remedy.
    pub fn remedy(&self) -> String {
        let pid = self.at.pid;
        let text = match &self.cause {
            Cause::Stopped { by_debugger: false } => {
                return say!("Continue it with `kill -CONT {pid}`.");
            }
            Cause::Stopped { by_debugger: true } => {
                say!("Continue it in the debugger, or detach the debugger.")
            }
            Cause::SharedMemoryFull { .. } => say!(
                "Enlarge /dev/shm (Docker: --shm-size=8g, Kubernetes: an emptyDir with medium Memory), or use fewer workers, a smaller prefetch_factor or smaller batches."
            ),
            Cause::Died {
                ending: Ending::Signal(SIGKILL),
            } => say!(
                "Check `dmesg` for the out-of-memory killer. Use fewer workers, or give the job more memory."
            ),
            Cause::Died { .. } => say!(
                "Read its error output. Run the program with num_workers=0 to see the error in the main process."
            ),
            Cause::InheritedLock => say!(
                "Start workers with multiprocessing_context=\"spawn\" or \"forkserver\". Or start threads, and create locks, after the workers."
            ),
            Cause::Deadlock { .. } => say!(
                "Acquire locks in the same order in all threads, and release them with `with`. A thread that acquires a lock twice needs threading.RLock."
            ),
            Cause::GilHeld { .. } => say!(
                "Release the GIL in that function: ctypes.CDLL instead of PyDLL, Py_BEGIN_ALLOW_THREADS in C, `nogil` in Cython. Or set a timeout for the call."
            ),
            Cause::Fifo { .. } => {
                say!("Start the program at the other end of the pipe, or read from a file.")
            }
            Cause::Storage { .. } => say!(
                "Check the server or the disk of that file system. Copy the dataset to a local disk."
            ),
            Cause::FileLocked { .. } => {
                say!("End the process that holds the lock, or use one file per process.")
            }
            Cause::FullPipe { .. } => say!(
                "Take all items from the queue before join(), or call cancel_join_thread() in the process that puts them."
            ),
            Cause::FullOutput { .. } => say!(
                "Continue the program at the other end, such as a pager, or redirect the output to a file."
            ),
            Cause::FullQueue => {
                say!("Take items from the queue in another process, or raise its maxsize.")
            }
            Cause::NoWriter => say!(
                "The writer has ended: read its error output. Use get(timeout=…) and check is_alive()."
            ),
            Cause::Network { .. } => {
                say!("Set a timeout for the request, and check the remote host.")
            }
            Cause::Collective { .. } => say!(
                "Give all ranks the same number of batches (drop_last=True, or DistributedSampler), and call collectives in all ranks."
            ),
            Cause::Cycle { .. } => say!(
                "Restart the program. A task or result was lost, for example in a killed process, or each process waits for the other's first item."
            ),
        };
        text.to_owned()
    }
}
