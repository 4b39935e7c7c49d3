//! Python stacks of a process, read with py-spy from its memory. The process is not stopped.

use std::panic::{AssertUnwindSafe, catch_unwind};

use py_spy::config::LockingStrategy;
use py_spy::{Config, PythonSpy, StackTrace};

use super::stat::{Memory, Task};
use crate::process::Frame;

/// Attempts to read the stacks. A running program can change them during a read.
const ATTEMPTS: u32 = 6;

/// First attempts, which include local variables.
const ATTEMPTS_WITH_LOCALS: u32 = 3;

/// Offsets of the thread id in glibc's `struct pthread`: x86-64 and aarch64.
const TID_OFFSETS: [u64; 2] = [0x2d0, 0xd0];

/// Reader of one process.
pub struct PythonReader {
    spy: PythonSpy,
}

/// Python thread of a process.
#[derive(Clone, Debug)]
pub struct PythonThread {
    /// Thread id in the PID namespace of the process.
    pub tid: Option<u32>,
    pub name: Option<String>,
    pub holds_gil: bool,
    /// Number of the worker, if the thread executes the loop of a `DataLoader` worker.
    pub worker: Option<u32>,
    pub frames: Vec<Frame>,
}

/// Calls py-spy. A panic is an error, because the memory of another process can contain anything.
fn guarded<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err("py-spy failed".to_owned()))
}

/// Returns the whole chain of reasons.
fn reason(error: &impl std::fmt::Debug, short: String) -> String {
    // Debug of `anyhow::Error` lists the causes on lines of their own, and with RUST_BACKTRACE the functions.
    let all = format!("{error:?}");
    let causes = all.split("Stack backtrace:").next().unwrap_or_default();
    let last = causes.lines().map(str::trim).rfind(|line| !line.is_empty());
    match last {
        Some(cause) if cause != short => {
            format!("{short} ({})", cause.trim_start_matches("0: "))
        }
        _ => short,
    }
}

impl PythonReader {
    /// Finds the interpreter of a process.
    ///
    /// # Errors
    /// The reason why it was not found.
    pub fn open(pid: u32) -> Result<Self, String> {
        let pid = py_spy::Pid::try_from(pid).map_err(|e| e.to_string())?;
        let config = Config {
            blocking: LockingStrategy::NonBlocking,
            full_filenames: true,
            dump_locals: 1,
            ..Config::default()
        };
        guarded(|| {
            let spy = PythonSpy::new(pid, &config).map_err(|e| reason(&e, e.to_string()))?;
            Ok(Self { spy })
        })
    }

    /// Returns the version of Python.
    pub fn version(&self) -> String {
        self.spy.version.to_string()
    }

    /// Returns the minor version of Python 3, and the address of the main interpreter.
    pub fn interpreter(&self) -> Option<(u64, u64)> {
        let address = u64::try_from(self.spy.addresses.interpreter_address).ok()?;
        (self.spy.version.major == 3).then_some((self.spy.version.minor, address))
    }

    /// Reads the stacks of all threads.
    ///
    /// # Errors
    /// The reason why they cannot be read.
    pub fn read(&mut self, memory: &Memory, tasks: &[Task]) -> Result<Vec<PythonThread>, String> {
        let mut last = String::new();
        for attempt in 0..ATTEMPTS {
            // Local variables contain the number of a worker. Reading them fails more often.
            self.spy.config.dump_locals = u64::from(attempt < ATTEMPTS_WITH_LOCALS);
            let read = || {
                let traces = self.spy.get_stack_traces();
                traces.map_err(|e| reason(&e, e.to_string()))
            };
            match guarded(read) {
                Ok(traces) => return Ok(threads(&traces, memory, tasks)),
                Err(why) => last = why,
            }
        }
        Err(last)
    }
}

fn threads(traces: &[StackTrace], memory: &Memory, tasks: &[Task]) -> Vec<PythonThread> {
    let known = |tid: &u32| tasks.iter().any(|task| task.inner == *tid);
    let read = traces.iter().map(|trace| {
        let at_offset = |offset: &u64| memory.number(trace.thread_id.wrapping_add(*offset));
        let tid = TID_OFFSETS.iter().filter_map(at_offset).find(known);
        let reported = trace.os_thread_id.and_then(|id| u32::try_from(id).ok());
        let alone = match (traces, tasks) {
            ([_], [task, ..]) => Some(task.inner),
            _ => None,
        };
        PythonThread {
            tid: tid.or(reported.filter(known)).or(alone),
            name: trace.thread_name.clone(),
            holds_gil: trace.owns_gil,
            worker: worker(trace),
            frames: own_frames(trace.frames.iter().map(frame).collect()),
        }
    });
    read.collect()
}

/// Drops the frames that a forked process has from its parent.
fn own_frames(mut frames: Vec<Frame>) -> Vec<Frame> {
    let start = |f: &Frame| f.is("_bootstrap", "/multiprocessing/process.py");
    if let Some(at) = frames.iter().position(start) {
        frames.truncate(at + 1);
    }
    frames
}

fn frame(frame: &py_spy::Frame) -> Frame {
    let line = u32::try_from(frame.line).unwrap_or(0);
    Frame::new(frame.name.clone(), frame.filename.clone(), line)
}

/// Returns the argument `worker_id` of `_worker_loop`.
fn worker(trace: &StackTrace) -> Option<u32> {
    let found = trace.frames.iter().find(|f| f.name == "_worker_loop")?;
    let mut locals = found.locals.iter().flatten();
    let local = locals.find(|local| local.name == "worker_id")?;
    local.repr.as_deref()?.parse().ok()
}
