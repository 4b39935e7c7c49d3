//! Processes, threads and frames of a snapshot.

use serde::Serialize;

use crate::wait::Wait;

/// Thread of a process. An ended process is represented by its main thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[allow(missing_docs, reason = "the names describe the fields")]
pub struct Node {
    pub pid: u32,
    pub tid: u32,
}

impl Node {
    /// Returns the main thread of a process.
    pub fn main(pid: u32) -> Self {
        Self { pid, tid: pid }
    }
}

/// Process of the tree.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names describe the fields")]
pub struct Process {
    pub pid: u32,
    pub parent: u32,
    /// Command line. A process that has ended has its name in brackets.
    pub command: String,
    /// Name in the kernel, such as `python3` or `pt_data_worker`.
    pub name: String,
    pub role: Role,
    pub state: State,
    pub python: Python,
    /// True if the process is a fork that has loaded no program of its own. A child of a fork server is none: the server has no threads.
    pub is_forked: bool,
    /// End of a zombie.
    pub ended: Option<Ending>,
    /// Threads. The main thread is the first.
    pub threads: Vec<Thread>,
}

impl Process {
    /// Returns the main thread, unless the process has ended.
    pub fn main(&self) -> Option<&Thread> {
        self.threads.first()
    }
}

/// Python of a process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Python {
    /// Version of an interpreter whose stacks were read.
    Version(String),
    /// Reason why the stacks were not read.
    Unreadable(String),
    /// The process is no CPython interpreter.
    Absent,
}

/// Role of a process in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Process that the snapshot started from.
    Main,
    /// Worker of a `DataLoader`, with its number.
    Worker(Option<u32>),
    /// Rank of a distributed training.
    Rank(u32),
    /// Child process of `multiprocessing`.
    Child,
    /// Fork server of `multiprocessing`.
    ForkServer,
    /// Resource tracker of `multiprocessing`.
    ResourceTracker,
    /// Any other process.
    Other,
}

/// State of a process or thread in the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// R: runs, or waits for a CPU core.
    Running,
    /// S: waits, and a signal interrupts the wait.
    Sleeping,
    /// D: waits for a device or a file system.
    Blocked,
    /// T: stopped by a signal.
    Stopped,
    /// t: stopped by a debugger.
    Traced,
    /// Z: has ended, and its parent has not read its exit code.
    Zombie,
    /// Any other state.
    #[default]
    Other,
}

impl State {
    /// Returns the state with this letter of `/proc/PID/stat`.
    pub fn of(letter: &str) -> Self {
        match letter {
            "R" => Self::Running,
            "S" | "I" => Self::Sleeping,
            "D" => Self::Blocked,
            "T" => Self::Stopped,
            "t" => Self::Traced,
            "Z" | "X" => Self::Zombie,
            _ => Self::Other,
        }
    }

    /// Returns the letter of a state in which a process executes no code at all.
    pub(crate) fn letter_of_end(self) -> Option<char> {
        match self {
            Self::Stopped => Some('T'),
            Self::Traced => Some('t'),
            Self::Zombie => Some('Z'),
            Self::Running | Self::Sleeping | Self::Blocked | Self::Other => None,
        }
    }

    /// Returns true for a process that executes nothing until a signal or a debugger continues it.
    pub fn is_stopped(self) -> bool {
        matches!(self, Self::Stopped | Self::Traced)
    }
}

/// Signal of an access beyond the end of shared memory.
pub(crate) const SIGBUS: u8 = 7;

/// Signal of the out-of-memory killer, among others.
pub(crate) const SIGKILL: u8 = 9;

/// Signal of an access to memory that is not mapped.
pub(crate) const SIGSEGV: u8 = 11;

/// End of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names describe the fields")]
pub enum Ending {
    Code(u8),
    Signal(u8),
}

impl Ending {
    /// Returns the end with this status of `wait`.
    pub fn of(status: u32) -> Self {
        match u8::try_from(status & 0x7f) {
            Ok(signal @ 1..) => Self::Signal(signal),
            _ => Self::Code(u8::try_from((status >> 8) & 0xff).unwrap_or(u8::MAX)),
        }
    }
}

/// Thread of a process.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names describe the fields")]
pub struct Thread {
    pub tid: u32,
    /// Name in Python, or in the kernel for a thread without Python frames.
    pub name: String,
    pub role: ThreadRole,
    pub state: State,
    pub holds_gil: bool,
    /// True if the thread executed code between the two samples of the snapshot.
    pub is_active: bool,
    pub wait: Wait,
    /// Python frames, the innermost first.
    pub frames: Vec<Frame>,
}

/// Role of a thread in its process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names describe the fields")]
pub enum ThreadRole {
    Main,
    /// Pin-memory thread of a `DataLoader`.
    PinMemory,
    /// Thread that writes the items of a `multiprocessing.Queue` to its pipe.
    QueueFeeder,
    /// Any other Python thread.
    Python,
    /// Thread without Python frames.
    Native,
}

/// Call of a Python function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the names describe the fields")]
pub struct Frame {
    /// Qualified name from Python 3.11 on, before that the plain name.
    pub function: String,
    pub file: String,
    /// Line number. 0 if it is unknown.
    pub line: u32,
    /// True outside the standard library and installed packages.
    pub is_user: bool,
}

impl Frame {
    /// Creates a frame. The path of the file decides about [`Frame::is_user`].
    pub fn new(function: String, file: String, line: u32) -> Self {
        let is_installed = ["/site-packages/", "/dist-packages/", "/lib/python3."]
            .iter()
            .any(|part| file.contains(part));
        // Code of `python -c`, standard input and notebooks has such names, too.
        let is_internal = file.starts_with("<frozen") || file.starts_with("<__array_function__");
        let is_user = !is_installed && !is_internal;
        Self {
            function,
            file,
            line,
            is_user,
        }
    }

    /// Returns true for the function `name` of a file whose path ends with `file`.
    pub fn is(&self, name: &str, file: &str) -> bool {
        let plain = self.function.rsplit('.').next();
        plain == Some(name) && self.file.ends_with(file)
    }
}

impl Thread {
    /// Returns the innermost frame of the user's code.
    pub fn user_frame(&self) -> Option<&Frame> {
        self.frames.iter().find(|frame| frame.is_user)
    }

    /// Returns the innermost frames, at most `limit`, and the innermost frame of the user's code, for which the value is true.
    pub fn shown_frames(&self, limit: usize) -> impl Iterator<Item = (&Frame, bool)> {
        let marked = self.frames.iter().position(|frame| frame.is_user);
        let frames = self.frames.iter().enumerate();
        let frames = frames.map(move |(at, frame)| (at, frame, Some(at) == marked));
        let shown = frames.filter(move |(at, _, is_marked)| *at < limit || *is_marked);
        shown.map(|(_, frame, is_marked)| (frame, is_marked))
    }

    /// Returns true if the thread has a frame of this function.
    pub fn calls(&self, name: &str, file: &str) -> bool {
        self.frames.iter().any(|frame| frame.is(name, file))
    }

    /// Returns true if the thread has a frame of this file.
    pub(crate) fn calls_file(&self, file: &str) -> bool {
        self.frames.iter().any(|frame| frame.file.ends_with(file))
    }

    /// Returns true if the thread waits for tasks, which is no work by itself.
    pub fn is_idle(&self) -> bool {
        /// Files of the standard library that wait on behalf of their caller.
        const TRANSPORT: [&str; 7] = [
            "/multiprocessing/queues.py",
            "/multiprocessing/connection.py",
            "/multiprocessing/synchronize.py",
            "/selectors.py",
            "/threading.py",
            "/queue.py",
            "/socket.py",
        ];
        /// Functions that wait for tasks.
        const SERVERS: [(&str, &str); 9] = [
            ("_worker_loop", "torch/utils/data/_utils/worker.py"),
            ("worker", "/multiprocessing/pool.py"),
            ("_handle_tasks", "/multiprocessing/pool.py"),
            ("_handle_workers", "/multiprocessing/pool.py"),
            ("_process_worker", "/concurrent/futures/process.py"),
            ("_worker", "/concurrent/futures/thread.py"),
            ("_serve", "/multiprocessing/resource_sharer.py"),
            ("main", "/multiprocessing/forkserver.py"),
            ("main", "/multiprocessing/resource_tracker.py"),
        ];
        if self.is_active || self.state == State::Blocked {
            return false;
        }
        // `_feed` waits with `Condition.wait` until an item is put.
        if let [wait, feed, ..] = &self.frames[..]
            && wait.is("wait", "/threading.py")
            && feed.is("_feed", "/multiprocessing/queues.py")
        {
            return true;
        }
        let waits_inside = |f: &&Frame| TRANSPORT.iter().any(|file| f.file.ends_with(file));
        let mut callers = self.frames.iter().skip_while(waits_inside);
        match callers.next() {
            Some(caller) => SERVERS.iter().any(|(name, file)| caller.is(name, file)),
            None => self.role == ThreadRole::Native && !matches!(self.wait, Wait::Running),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_the_user_are_recognized() {
        let is_user = |file: &str| Frame::new("f".to_owned(), file.to_owned(), 1).is_user;
        assert!(is_user("/home/a/train.py") && is_user("train.py") && is_user("<string>"));
        assert!(!is_user("/usr/lib/python3.11/queue.py"));
        assert!(!is_user("/v/lib/python3.9/site-packages/torch/a.py"));
        assert!(!is_user("/usr/lib/python3/dist-packages/numpy/a.py"));
        assert!(!is_user("<frozen importlib._bootstrap>"));
    }

    #[test]
    fn a_frame_is_recognized_with_and_without_a_qualified_name() {
        for function in ["_get_data", "_MultiProcessingDataLoaderIter._get_data"] {
            let frame = Frame::new(function.to_owned(), "/a/torch/d.py".to_owned(), 1);
            assert!(frame.is("_get_data", "torch/d.py") && !frame.is("get_data", "d.py"));
        }
    }

    #[test]
    fn a_limit_keeps_the_innermost_frames_and_one_frame_of_the_user() {
        let frame =
            |(function, file): (&str, &str)| Frame::new(function.to_owned(), file.to_owned(), 1);
        let installed = "/usr/lib/python3.11/queue.py";
        // A recursive function has equal frames.
        let frames = [
            ("wait", installed),
            ("get", installed),
            ("walk", "train.py"),
            ("walk", "train.py"),
            ("main", "train.py"),
        ];
        let thread = Thread {
            tid: 1,
            name: String::new(),
            role: ThreadRole::Main,
            state: State::Sleeping,
            holds_gil: false,
            is_active: false,
            wait: Wait::Running,
            frames: frames.map(frame).to_vec(),
        };
        let cases = [
            (1, "wait →walk"),
            (2, "wait get →walk"),
            (3, "wait get →walk"),
            (4, "wait get →walk walk"),
            (usize::MAX, "wait get →walk walk main"),
        ];
        for (limit, wanted) in cases {
            let shown = thread.shown_frames(limit).map(|(frame, is_marked)| {
                let mark = if is_marked { "→" } else { "" };
                format!("{mark}{}", frame.function)
            });
            assert_eq!(shown.collect::<Vec<String>>().join(" "), wanted);
        }
    }

    #[test]
    fn an_end_is_a_code_or_a_signal() {
        assert_eq!(Ending::of(9), Ending::Signal(9));
        assert_eq!(Ending::of(0x87), Ending::Signal(7));
        assert_eq!(Ending::of(3 << 8), Ending::Code(3));
    }
}
