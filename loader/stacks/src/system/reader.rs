//! Samples of one process. A read can block, for example while the memory is on a file system that does not answer.

use super::call::wait_of;
use super::descriptor::Files;
use super::holders::{SharedMap, shared_maps};
use super::python::{PythonReader, PythonThread};
use super::stat::{Memory, Stat, Task, command_line, is_python, rank_of};
use crate::process::{Ending, Process, Python, Role, State, Thread, ThreadRole};
use crate::wait::Wait;

/// Process to read.
#[derive(Clone, Debug)]
pub struct Job {
    pub pid: u32,
    pub stat: Stat,
    pub is_root: bool,
}

impl Job {
    /// Returns the process without threads. Reads nothing that can block.
    pub fn unanswered(&self) -> Answer {
        let why = loadscope_words::say!("its memory did not answer in time").to_owned();
        let (command, python) = (String::new(), Python::Unreadable(why));
        Answer {
            process: self.process(command, python, Vec::new(), Role::Other),
            rank: None,
            maps: Vec::new(),
        }
    }

    fn process(
        &self,
        command: String,
        python: Python,
        threads: Vec<Thread>,
        role: Role,
    ) -> Process {
        let stat = Stat::of(&format!("/proc/{}", self.pid)).unwrap_or_else(|| self.stat.clone());
        let has_ended = stat.state == State::Zombie;
        let is_of_server = command.contains("multiprocessing.forkserver import main");
        Process {
            pid: self.pid,
            parent: stat.parent,
            command: match command.is_empty() {
                true => format!("[{}]", stat.name),
                false => command,
            },
            role: match role {
                // PyTorch sets this name. Zombies have no command line and no stack.
                Role::Other if has_ended && stat.name == "pt_data_worker" => Role::Worker(None),
                Role::Other if has_ended && stat.is_forked => Role::Child,
                known => known,
            },
            name: stat.name,
            state: stat.state,
            python,
            is_forked: stat.is_forked && !is_of_server,
            ended: has_ended.then(|| Ending::of(stat.exit)),
            threads,
        }
    }
}

/// Process with the facts that connect it to others.
pub struct Answer {
    pub process: Process,
    /// Rank in the environment.
    pub rank: Option<u32>,
    pub maps: Vec<SharedMap>,
}

/// Reader of one process.
pub struct Reader {
    job: Job,
    memory: Option<Memory>,
    python: Result<PythonReader, Python>,
    files: Files,
}

/// State of a process at one instant.
pub struct Sample {
    tasks: Vec<(Task, Wait)>,
    python: Result<Vec<PythonThread>, String>,
}

impl Reader {
    pub fn open(job: Job) -> Self {
        let memory = Memory::open(job.pid);
        let python = match &memory {
            _ if job.stat.state == State::Zombie => Err(Python::Absent),
            Err(e) => Err(Python::Unreadable(loadscope_words::explain(e))),
            Ok(_) if !is_python(job.pid) => Err(Python::Absent),
            Ok(_) => PythonReader::open(job.pid).map_err(Python::Unreadable),
        };
        Self {
            memory: memory.ok(),
            python,
            files: Files::of(job.pid),
            job,
        }
    }

    pub fn read(&mut self) -> Sample {
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
    pub fn answer(&self, before: &Sample, now: Sample) -> Answer {
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
        // Reads of a command line, of the environment and of maps can block, as those of memory.
        let (command, rank) = (command_line(self.job.pid), rank_of(self.job.pid));
        let role = role(&self.job, &threads, number, (&command, rank));
        let mut process = self.job.process(command, python, threads, role);
        if process.ended.is_some() {
            process.threads.clear();
        }
        Answer {
            process,
            rank,
            maps: shared_maps(self.job.pid),
        }
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

fn role(
    job: &Job,
    threads: &[Thread],
    number: Option<u32>,
    (command, rank): (&str, Option<u32>),
) -> Role {
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
    } else if let Some(rank) = rank.filter(|_| !job.stat.is_forked) {
        Role::Rank(rank)
    } else {
        Role::Other
    }
}
