//! Two samples of a process tree. Processes are read in parallel.

use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use super::call::wait_of;
use super::descriptor::Files;
use super::holders::fill_peers;
use super::python::{PythonReader, PythonThread};
use super::stat::{
    Memory, Stat, Task, command_line, is_python, process_tree, rank_of, shared_memory_free,
};
use crate::error::StacksError;
use crate::process::{Ending, Process, Python, Role, State, Thread, ThreadRole};
use crate::snapshot::Snapshot;
use crate::wait::Wait;

/// Time between the two samples.
const INTERVAL: Duration = Duration::from_secs(1);

/// Time limit of the samples. A process can block its readers, for example while its memory is on a file system that does not answer.
const LIMIT: Duration = Duration::from_secs(4);

/// Maximum number of threads that read processes.
const MAX_READERS: usize = 32;

/// Reads a process and its descendants twice.
pub fn sample(root: u32) -> Result<Snapshot, StacksError> {
    check_access(root)?;
    let tree = process_tree(root);
    let layout = |pid: u32| {
        let found = tree.iter().find(|(one, _)| *one == pid);
        found.map(|(_, stat)| stat.layout)
    };
    let jobs: Vec<Job> = (tree.iter())
        .map(|(pid, stat)| Job {
            pid: *pid,
            is_forked: stat.layout != (0, 0) && layout(stat.parent) == Some(stat.layout),
            is_root: *pid == root,
            stat: stat.clone(),
        })
        .collect();
    let mut processes = read_all(&jobs);
    let has_stacks = |p: &Process| matches!(p.python, Python::Version(_));
    if !processes.iter().any(has_stacks) {
        let refused = processes.iter().find_map(|process| match &process.python {
            Python::Unreadable(why) => Some((process.pid, why.clone())),
            Python::Version(_) | Python::Absent => None,
        });
        return Err(match refused {
            Some((pid, why)) => StacksError::Unreadable(pid, why),
            None => StacksError::NotPython(root),
        });
    }
    fill_peers(&mut processes);
    Ok(Snapshot {
        root,
        processes,
        shared_memory_free: shared_memory_free(root),
    })
}

/// Checks that the process exists and that this user can read its memory.
fn check_access(root: u32) -> Result<(), StacksError> {
    let folder = format!("/proc/{root}");
    match Stat::of(&folder) {
        None => return Err(StacksError::NoProcess(root)),
        Some(stat) if stat.state == State::Zombie => return Err(StacksError::NoProcess(root)),
        Some(_) => {}
    }
    let Err(e) = Memory::open(root) else {
        return Ok(());
    };
    let owner = |path: &str| std::fs::metadata(path).map(|found| found.uid()).ok();
    match e.kind() {
        ErrorKind::NotFound => Err(StacksError::NoProcess(root)),
        _ if owner(&folder) != owner("/proc/self") => Err(StacksError::OtherUser(root)),
        _ => Err(StacksError::Forbidden(root)),
    }
}

/// Process to read.
#[derive(Clone, Debug)]
struct Job {
    pid: u32,
    stat: Stat,
    is_forked: bool,
    is_root: bool,
}

/// Reads all processes. One that does not answer in time has no threads.
fn read_all(jobs: &[Job]) -> Vec<Process> {
    let end = Instant::now() + LIMIT;
    let (sender, results) = mpsc::channel();
    let per_reader = jobs.len().div_ceil(MAX_READERS).max(1);
    for chunk in jobs.chunks(per_reader) {
        let (sender, chunk) = (sender.clone(), chunk.to_vec());
        let thread = std::thread::Builder::new().name("stacks".to_owned());
        // Without a thread, the processes count as not answering.
        let _ = thread.spawn(move || {
            for process in read_chunk(&chunk) {
                let _ = sender.send(process);
            }
        });
    }
    drop(sender);
    let mut read = Vec::new();
    while read.len() < jobs.len()
        && let Ok(process) = results.recv_timeout(end.saturating_duration_since(Instant::now()))
    {
        read.push(process);
    }
    let of = |job: &Job| {
        let found = read
            .iter()
            .find(|process: &&Process| process.pid == job.pid);
        found.cloned().unwrap_or_else(|| {
            let why = loadscope_words::say!("its memory did not answer in time");
            process(
                job,
                Python::Unreadable(why.to_owned()),
                Vec::new(),
                Role::Other,
            )
        })
    };
    jobs.iter().map(of).collect()
}

fn read_chunk(jobs: &[Job]) -> Vec<Process> {
    let mut readers: Vec<Reader> = jobs.iter().map(Reader::open).collect();
    let first: Vec<Sample> = readers.iter_mut().map(Reader::read).collect();
    std::thread::sleep(INTERVAL);
    let pairs = readers.iter_mut().zip(first);
    pairs
        .map(|(reader, before)| {
            let now = reader.read();
            reader.process(&before, now)
        })
        .collect()
}

/// Reader of one process.
struct Reader {
    job: Job,
    memory: Option<Memory>,
    python: Result<PythonReader, Python>,
    files: Files,
}

/// State of a process at one instant.
struct Sample {
    tasks: Vec<(Task, Wait)>,
    python: Result<Vec<PythonThread>, String>,
}

impl Reader {
    fn open(job: &Job) -> Self {
        let memory = Memory::open(job.pid);
        let python = match &memory {
            _ if job.stat.state == State::Zombie => Err(Python::Absent),
            Err(e) => Err(Python::Unreadable(loadscope_words::explain(e))),
            Ok(_) if !is_python(job.pid) => Err(Python::Absent),
            Ok(_) => PythonReader::open(job.pid).map_err(Python::Unreadable),
        };
        Self {
            job: job.clone(),
            memory: memory.ok(),
            python,
            files: Files::of(job.pid),
        }
    }

    fn read(&mut self) -> Sample {
        let (pid, memory) = (self.job.pid, self.memory.as_ref());
        let tasks = Task::all(pid);
        let python = match (&mut self.python, memory) {
            (Ok(reader), Some(memory)) => reader.read(memory, &tasks),
            _ => Ok(Vec::new()),
        };
        let waiting = tasks.into_iter().map(|task| {
            let wait = wait_of(pid, &task, memory, &self.files);
            (task, wait)
        });
        Sample {
            tasks: waiting.collect(),
            python,
        }
    }

    /// Returns the process of the second sample. The first one shows which threads executed code since.
    fn process(&self, before: &Sample, now: Sample) -> Process {
        let none = Vec::new();
        let stacks = now.python.as_ref().unwrap_or(&none);
        let earlier = before.python.as_ref().unwrap_or(&none);
        let found = |all: &[PythonThread], tid: u32| {
            let mut same = all.iter().filter(|thread| thread.tid == Some(tid));
            same.next().cloned()
        };
        let mut number = earlier.iter().find_map(|thread| thread.worker);
        let mut threads = Vec::new();
        for (task, wait) in &now.tasks {
            let python = found(stacks, task.inner);
            number = number.or(python.as_ref().and_then(|thread| thread.worker));
            let old = before.tasks.iter().find(|(one, _)| one.tid == task.tid);
            let is_active = old.is_none_or(|(old, old_wait)| {
                let frames = found(earlier, task.inner).map(|thread| thread.frames);
                old.switches != task.switches
                    || old.stat.ticks != task.stat.ticks
                    || old_wait != wait
                    || frames != python.as_ref().map(|thread| thread.frames.clone())
            });
            threads.push(thread(self.job.pid, task, wait.clone(), python, is_active));
        }
        mark_gil_waits(&mut threads);
        let python = match (&self.python, now.python) {
            (Ok(reader), Ok(_)) => Python::Version(reader.version()),
            (Ok(_), Err(why)) => Python::Unreadable(why),
            (Err(why), _) => why.clone(),
        };
        let role = role(&self.job, &threads, number);
        process(&self.job, python, threads, role)
    }
}

fn process(job: &Job, python: Python, threads: Vec<Thread>, role: Role) -> Process {
    let stat = Stat::of(&format!("/proc/{}", job.pid)).unwrap_or_else(|| job.stat.clone());
    let command = command_line(job.pid);
    Process {
        pid: job.pid,
        parent: stat.parent,
        command: match command.is_empty() {
            true => format!("[{}]", stat.name),
            false => command,
        },
        role,
        state: stat.state,
        python,
        is_forked: job.is_forked,
        ended: (stat.state == State::Zombie).then(|| Ending::of(stat.exit)),
        threads,
    }
}

fn thread(
    pid: u32,
    task: &Task,
    wait: Wait,
    python: Option<PythonThread>,
    is_active: bool,
) -> Thread {
    let frames = python.as_ref().map(|thread| thread.frames.clone());
    let mut thread = Thread {
        tid: task.tid,
        name: (python.as_ref())
            .and_then(|thread| thread.name.clone())
            .unwrap_or_else(|| task.stat.name.clone()),
        role: ThreadRole::Python,
        state: task.stat.state,
        holds_gil: python.as_ref().is_some_and(|thread| thread.holds_gil),
        is_active,
        wait,
        frames: frames.unwrap_or_default(),
    };
    thread.role = if task.tid == pid {
        ThreadRole::Main
    } else if python.is_none() {
        ThreadRole::Native
    } else if thread.calls("_pin_memory_loop", "torch/utils/data/_utils/pin_memory.py") {
        ThreadRole::PinMemory
    } else if thread.calls("_feed", "/multiprocessing/queues.py") {
        ThreadRole::QueueFeeder
    } else {
        ThreadRole::Python
    };
    thread
}

/// Marks the threads that wait for the interpreter lock while another thread holds it. They request it every 5 ms, so they are active.
fn mark_gil_waits(threads: &mut [Thread]) {
    if !threads.iter().any(|thread| thread.holds_gil) {
        return;
    }
    for thread in threads.iter_mut() {
        let is_request = matches!(thread.wait, Wait::Lock { timed: true, .. });
        if is_request && thread.is_active && !thread.holds_gil && !thread.frames.is_empty() {
            thread.wait = Wait::Gil;
        }
    }
}

fn role(job: &Job, threads: &[Thread], number: Option<u32>) -> Role {
    let command = command_line(job.pid);
    let has = |name: &str, file: &str| threads.iter().any(|thread| thread.calls(name, file));
    if has("_worker_loop", "torch/utils/data/_utils/worker.py") {
        Role::Worker(number)
    } else if command.contains("multiprocessing.resource_tracker import main") {
        Role::ResourceTracker
    } else if has("main", "/multiprocessing/forkserver.py") {
        Role::ForkServer
    } else if job.is_root {
        Role::Main
    } else if has("_bootstrap", "/multiprocessing/process.py") || command.contains("spawn_main") {
        Role::Child
    } else if let Some(rank) = rank_of(job.pid).filter(|_| !job.is_forked)
        // Programs that a rank starts inherit its variables.
        && rank_of(job.stat.parent) != Some(rank)
    {
        Role::Rank(rank)
    } else {
        Role::Other
    }
}
