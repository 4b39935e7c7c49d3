//! The processes that are sampled. Finding the interpreter of one takes long, so threads of their own do it.

use std::io::{self, ErrorKind};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use loadscope_words::say;

use super::layout::Layout;
use super::tree::StackTree;
use super::walk::{Interpreter, Sample, Walker};
use crate::error::StacksError;
use crate::process::State;
use crate::system::{Memory, PythonReader, Stat};

/// Attempts to find an interpreter. A process that has just started has none.
const ATTEMPTS: u32 = 8;

/// Time before the second attempt, ns. Each further one takes twice as long.
const FIRST_DELAY: u64 = 50_000_000;

/// Time between two questions about the parent of a fork, ns.
const FORK_DELAY: u64 = 20_000_000;

/// Time without a stack after which the interpreter is searched again, ns.
const MAX_FAILURE: u64 = 1_000_000_000;

/// Number of searches at the same time.
const MAX_SEARCHES: usize = 2;

/// Processes of a sampler.
pub struct Targets {
    targets: Vec<Target>,
    sender: Sender<Found>,
    receiver: Receiver<Found>,
    refused: Vec<(u32, String)>,
}

/// Result of a search.
type Found = (u32, Result<(Memory, Interpreter), String>);

struct Target {
    pid: u32,
    /// Failed searches.
    attempts: u32,
    state: Stage,
}

enum Stage {
    /// The next search starts at a time, ns.
    Due(u64),
    Searching,
    /// The stack is read. The number is the time of the last success, ns.
    Open(Box<Walker>, u64),
    /// The stack cannot be read, or the process has ended.
    Closed,
}

impl Default for Targets {
    fn default() -> Self {
        let (sender, receiver) = mpsc::channel();
        Self {
            targets: Vec::new(),
            sender,
            receiver,
            refused: Vec::new(),
        }
    }
}

impl Targets {
    /// Replaces the processes.
    pub fn set(&mut self, mut pids: Vec<u32>, now: u64) {
        pids.sort_unstable();
        pids.dedup();
        self.targets.retain(|one| pids.contains(&one.pid));
        pids.retain(|pid| self.targets.iter().all(|one| one.pid != *pid));
        let new = pids.into_iter().map(|pid| Target {
            pid,
            attempts: 0,
            state: Stage::Due(now),
        });
        self.targets.extend(new);
    }

    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// Returns the processes refused since the previous call.
    pub fn take_refused(&mut self) -> Vec<(u32, String)> {
        std::mem::take(&mut self.refused)
    }

    /// Takes the results of searches, and starts those that are due.
    pub fn search(&mut self, now: u64) {
        while let Ok((pid, found)) = self.receiver.try_recv() {
            let mut targets = self.targets.iter_mut();
            let Some(target) = targets.find(|one| one.pid == pid) else {
                continue;
            };
            if !matches!(target.state, Stage::Searching) {
                continue;
            }
            match found {
                Ok((memory, interpreter)) => {
                    let walker = Box::new(Walker::new(pid, memory, interpreter));
                    target.state = Stage::Open(walker, now);
                }
                Err(why) => self.refused.extend(target.failed(why, now)),
            }
        }
        for at in 0..self.targets.len() {
            self.start(at, now);
        }
    }

    /// Starts a search if one is due.
    fn start(&mut self, at: usize, now: u64) {
        let Some(target) = self.targets.get(at) else {
            return;
        };
        let pid = target.pid;
        if !matches!(target.state, Stage::Due(due) if due <= now) {
            return;
        }
        let stat = Stat::of(&format!("/proc/{pid}"));
        let state = match stat.filter(|stat| stat.state != State::Zombie) {
            None => Stage::Closed,
            Some(stat) => match self.parent(target, &stat) {
                Some(Stage::Open(walker, _)) => match Memory::open(pid) {
                    Ok(memory) => Stage::Open(Box::new(walker.forked(pid, memory)), now),
                    Err(_) => Stage::Due(now.saturating_add(FORK_DELAY)),
                },
                Some(Stage::Due(_) | Stage::Searching) => {
                    Stage::Due(now.saturating_add(FORK_DELAY))
                }
                Some(Stage::Closed) | None => self.begin(pid, now),
            },
        };
        if let Some(target) = self.targets.get_mut(at) {
            target.state = state;
        }
    }

    /// Returns the parent of a fork. After a failure, the parent can have loaded another program since.
    fn parent(&self, target: &Target, stat: &Stat) -> Option<&Stage> {
        let is_fork = stat.is_forked && target.attempts == 0;
        let mut targets = self.targets.iter();
        let parent = targets.find(|one| is_fork && one.pid == stat.parent);
        parent.map(|one| &one.state)
    }

    /// Starts a thread that searches, unless enough do.
    fn begin(&self, pid: u32, now: u64) -> Stage {
        let is_searching = |one: &&Target| matches!(one.state, Stage::Searching);
        if self.targets.iter().filter(is_searching).count() >= MAX_SEARCHES {
            return Stage::Due(now);
        }
        let sender = self.sender.clone();
        let work = move || {
            let _ = sender.send((pid, find(pid)));
        };
        let thread = thread::Builder::new().name("sampler-search".to_owned());
        match thread.spawn(work) {
            Ok(_) => Stage::Searching,
            Err(_) => Stage::Due(now.saturating_add(FIRST_DELAY)),
        }
    }

    /// Reads the stack of each process: its id, the time, and the result.
    pub fn sample(
        &mut self,
        clock: impl Fn() -> u64,
        tree: &mut StackTree,
        mut add: impl FnMut(u32, u64, Sample),
    ) {
        for target in &mut self.targets {
            let Stage::Open(walker, succeeded) = &mut target.state else {
                continue;
            };
            let now = clock();
            let sample = walker.sample(now, tree);
            add(target.pid, now, sample);
            match sample {
                Sample::At(_) | Sample::Idle => {
                    *succeeded = now;
                    target.attempts = 0;
                }
                // A new program in the same process needs a new search.
                Sample::Gone => target.state = Stage::Due(now),
                Sample::Torn if now.saturating_sub(*succeeded) < MAX_FAILURE => {}
                Sample::Torn => {
                    let why = say!("the stack of its main thread is not readable").to_owned();
                    let why = StacksError::Unreadable(target.pid, why).to_string();
                    self.refused.extend(target.failed(why, now));
                }
            }
        }
    }
}

impl Target {
    /// Plans the next search. After the last one, returns the reason.
    fn failed(&mut self, why: String, now: u64) -> Option<(u32, String)> {
        self.attempts += 1;
        if self.attempts < ATTEMPTS {
            let delay = FIRST_DELAY << self.attempts.min(16);
            self.state = Stage::Due(now.saturating_add(delay));
            return None;
        }
        self.state = Stage::Closed;
        let is_alive = Stat::of(&format!("/proc/{}", self.pid))
            .is_some_and(|stat| stat.state != State::Zombie);
        is_alive.then_some((self.pid, why))
    }
}

/// Finds the interpreter of a process.
fn find(pid: u32) -> Result<(Memory, Interpreter), String> {
    let unreadable = |why: String| StacksError::Unreadable(pid, why).to_string();
    let memory = Memory::open(pid).map_err(|e| refusal(pid, &e))?;
    let reader = PythonReader::open(pid).map_err(unreadable)?;
    let version = || unreadable(format!("Python {}", reader.version()));
    let (minor, address) = reader.interpreter().ok_or_else(version)?;
    let layout = Layout::of(minor).ok_or_else(version)?;
    Ok((memory, Interpreter { layout, address }))
}

fn refusal(pid: u32, error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::PermissionDenied => StacksError::Forbidden(pid).to_string(),
        _ => StacksError::Unreadable(pid, error.to_string()).to_string(),
    }
}
