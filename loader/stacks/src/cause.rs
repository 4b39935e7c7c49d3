//! Causes of hangs, each with a sentence, its evidence and a remedy.

use loadscope_words::say;
use serde::Serialize;

use crate::process::{Ending, Node, SIGKILL, State, Thread, ThreadRole};
use crate::snapshot::{INTERVAL, Snapshot};
use crate::wording::{
    capitalized, ending_text, known_list, list_of, node_text, place, process_list, subject,
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
    /// `/dev/shm` is small. The process died from SIGBUS, or waits for an item that is possibly lost.
    SharedMemorySmall { size: u64, has_died: bool },
    /// The process died, and its parent has not read its exit code.
    Died { ending: Ending },
    /// A thread waits for a lock, or for an event of `threading`, and no other thread of the process works.
    UnreleasedLock { is_event: bool, is_forked: bool },
    /// Threads of the process wait for different locks. `others` work, but are in timed waits.
    Deadlock { tids: Vec<u32>, others: Vec<u32> },
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
    /// A collective operation, and the processes of the known ranks that are outside of one.
    Collective { function: String, missing: Vec<u32> },
    /// Processes that wait for one another.
    Cycle { pids: Vec<u32> },
}

impl Cause {
    /// Returns the order of importance. The first cause of a hang has the lowest rank.
    pub(crate) fn rank(&self) -> u8 {
        match self {
            Self::Stopped { .. } => 0,
            Self::SharedMemoryFull { .. } | Self::SharedMemorySmall { has_died: true, .. } => 1,
            Self::Died {
                ending: Ending::Signal(_),
            } => 1,
            Self::UnreleasedLock { .. } | Self::GilHeld { .. } | Self::Deadlock { .. } => 2,
            Self::Fifo { .. } | Self::Storage { .. } | Self::FileLocked { .. } => 3,
            Self::FullPipe { .. } | Self::FullOutput { .. } => 4,
            // A program can continue without a child that failed. Without one, these pipes and queues have no other end.
            Self::Died {
                ending: Ending::Code(_),
            } => 5,
            Self::FullQueue | Self::NoWriter => 6,
            Self::Network { .. } | Self::Collective { .. } => 7,
            Self::Cycle { .. } | Self::SharedMemorySmall { .. } => 8,
        }
    }

    /// Returns true if the snapshot proves that the thread or process cannot continue by itself.
    pub(crate) fn is_certain(&self) -> bool {
        let is_likely = matches!(self, Self::Deadlock { others, .. } if !others.is_empty());
        self.rank() <= 2 && !is_likely
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
            Cause::SharedMemorySmall { size, has_died } => {
                small_memory_text(&who, &place, *size, *has_died)
            }
            Cause::Died { ending } => {
                let ending = ending_text(*ending);
                say!("{who} has ended: {ending}. Its parent has not read its exit code.")
            }
            Cause::UnreleasedLock {
                is_event,
                is_forked,
            } => unreleased_text(&who, &place, (*is_event, *is_forked)),
            Cause::Deadlock { tids, .. } => say!(
                "{who} waits for a lock{place}. It is one of {} threads of the process that wait for different locks.",
                tids.len()
            ),
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
                "{who} puts an item into a full multiprocessing.Queue{place}, and no process takes one."
            ),
            Cause::NoWriter => {
                say!("{who} reads from a pipe{place}. No other process has its other end.")
            }
            Cause::Network { remote } => say!("{who} waits for an answer from {remote}{place}."),
            Cause::Collective { function, missing } if missing.is_empty() => {
                say!("{who} waits in {function} for ranks that have not called it.")
            }
            Cause::Collective { function, missing } => {
                let missing = list_of(missing, |pid| node_text(snapshot, Node::main(*pid)));
                say!("{who} waits in {function} for ranks that have not called it: {missing}.")
            }
            Cause::Cycle { pids } => {
                say!("Each of these processes waits for another: {}.", list(pids))
            }
        };
        capitalized(text)
    }

    /// Returns the cause without the name of its process or thread. Two processes with equal causes have equal texts.
    pub fn predicate(&self, snapshot: &Snapshot) -> String {
        let who = capitalized(subject(snapshot, self.at));
        let text = self.text(snapshot);
        text.strip_prefix(&who).unwrap_or(&text).to_owned()
    }

    /// Returns the observed facts.
    pub fn evidence(&self, snapshot: &Snapshot) -> Vec<String> {
        let Node { pid, tid } = self.at;
        let state = snapshot.process(pid).map(|process| process.state);
        if let Some(letter) = state.and_then(State::letter_of_end) {
            return vec![say!("/proc/{pid}/status has state {letter}.")];
        }
        let at = |tid: &u32| Node { pid, tid: *tid };
        let text = |node: Node| capitalized(node_text(snapshot, node));
        let seconds = INTERVAL.as_secs();
        let mut facts: Vec<String> = Vec::new();
        if let Cause::Deadlock { tids, .. } = &self.cause {
            let others = tids.iter().filter(|one| **one != tid).map(at);
            facts.extend(others.map(|node| format!("{}.", text(node))));
        }
        if let Cause::UnreleasedLock {
            is_event: false,
            is_forked: true,
        } = self.cause
        {
            facts.extend(parent_threads(snapshot, pid));
        }
        if let Cause::GilHeld { .. } | Cause::Cycle { .. } = self.cause {
            facts.push(format!("{}.", text(self.at)));
        }
        facts.push(match matches!(self.cause, Cause::Deadlock { .. }) {
            true => say!("They executed no code for {seconds} s."),
            false => say!("It executed no code for {seconds} s."),
        });
        if let Cause::Deadlock { others, .. } = &self.cause {
            let unlikely = others.iter().map(|other| {
                let text = text(at(other));
                say!("{text}. It is not known if this thread can release a lock.")
            });
            facts.extend(unlikely);
        }
        facts
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
            Cause::SharedMemoryFull { .. } | Cause::SharedMemorySmall { .. } => say!(
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
            Cause::UnreleasedLock {
                is_event,
                is_forked,
            } => unreleased_remedy((*is_event, *is_forked)),
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

/// Returns the sentence about a small `/dev/shm` of `size` bytes.
fn small_memory_text(who: &str, place: &str, size: u64, has_died: bool) -> String {
    let size = size >> 20;
    match has_died {
        true => say!(
            "{who} died from SIGBUS, possibly because a batch did not fit into the shared memory /dev/shm of {size} MB."
        ),
        false => say!(
            "{who} waits for an item{place}. It is possibly lost, because it did not fit into the shared memory /dev/shm of {size} MB."
        ),
    }
}

/// Returns the sentence about an event or a lock, in a forked process or another.
fn unreleased_text(who: &str, place: &str, kind: (bool, bool)) -> String {
    match kind {
        (true, _) => say!(
            "{who} waits for an event{place}, and no other thread of the process can cause it."
        ),
        (false, true) => say!(
            "{who} waits forever for a lock{place}. Either a thread of its parent held the lock during the fork, or the process did not release it."
        ),
        (false, false) => say!(
            "{who} waits forever for a lock{place}. No other thread of the process can release it."
        ),
    }
}

/// Returns the remedy for an event or a lock, in a forked process or another.
fn unreleased_remedy(kind: (bool, bool)) -> &'static str {
    match kind {
        (true, true) => say!(
            "Create threads and thread pools after the fork, and use Event and Queue of multiprocessing between processes. A fork copies no threads, and its copies of `threading` and `queue` objects are separate."
        ),
        (true, false) => {
            say!(
                "Set the event, or put the item, in another thread. With timeout=…, the wait ends."
            )
        }
        (false, true) => say!(
            "If threads of the parent use the lock, start workers with multiprocessing_context=\"spawn\", or start these threads after the workers. Otherwise release it with `with`. A thread that acquires a lock twice needs threading.RLock."
        ),
        (false, false) => say!(
            "Release the lock with `with`. A thread that acquires a lock twice needs threading.RLock."
        ),
    }
}

/// Returns a sentence with the threads of the parent that can have held a lock during the fork. Returns `None` without such threads.
fn parent_threads(snapshot: &Snapshot, pid: u32) -> Option<String> {
    let parent = snapshot.process(snapshot.process(pid)?.parent)?;
    let can_hold = |t: &&Thread| t.role == ThreadRole::Python && t.is_working();
    let threads: Vec<&Thread> = parent.threads.iter().filter(can_hold).collect();
    let text = |thread: &&Thread| {
        let (pid, tid) = (parent.pid, thread.tid);
        node_text(snapshot, Node { pid, tid })
    };
    let list = list_of(&threads, text);
    (!threads.is_empty()).then(|| say!("Threads of its parent: {list}."))
}
