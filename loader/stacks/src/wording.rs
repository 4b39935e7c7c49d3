//! Names of processes and threads, and their waits as text.

use loadscope_words::say;

use crate::lock::releasing;
use crate::process::{Ending, Node, Role, SIGBUS, SIGKILL, SIGSEGV, Thread, ThreadRole};
use crate::snapshot::Snapshot;
use crate::wait::{Descriptor, Direction, Resource, Wait};

/// Maximum number of processes in a sentence.
const MAX_LISTED: usize = 4;

/// Returns the name of a process, such as `worker 3 (process 4242)`.
pub fn process_name(snapshot: &Snapshot, pid: u32) -> String {
    match snapshot.process(pid).map(|process| process.role) {
        Some(Role::Main) => say!("the main process ({pid})"),
        Some(Role::Worker(Some(number))) => say!("worker {number} (process {pid})"),
        Some(Role::Worker(None)) => say!("a worker (process {pid})"),
        Some(Role::Rank(rank)) => say!("rank {rank} (process {pid})"),
        Some(Role::Child) => say!("the child process {pid}"),
        Some(Role::ForkServer) => say!("the fork server (process {pid})"),
        Some(Role::ResourceTracker) => say!("the resource tracker (process {pid})"),
        Some(Role::Other) | None => say!("process {pid}"),
    }
}

/// Returns the names of processes as a list.
pub fn process_list(snapshot: &Snapshot, pids: &[u32]) -> String {
    match pids.is_empty() {
        true => say!("none").to_owned(),
        false => list_of(pids, |pid| process_name(snapshot, *pid)),
    }
}

/// Returns the texts of the first elements as a list.
pub(crate) fn list_of<T>(all: &[T], text: impl Fn(&T) -> String) -> String {
    let mut texts: Vec<String> = all.iter().take(MAX_LISTED).map(text).collect();
    if let more @ 1.. = all.len().saturating_sub(MAX_LISTED) {
        texts.push(say!("{more} more"));
    }
    texts.join(say!(", "))
}

/// Returns the names of processes as a list, for processes that can be unknown.
pub(crate) fn known_list(snapshot: &Snapshot, pids: &[u32]) -> String {
    match pids.is_empty() {
        true => say!("unknown").to_owned(),
        false => process_list(snapshot, pids),
    }
}

/// Returns the name of a thread in its process.
pub fn thread_name(thread: &Thread) -> String {
    match thread.role {
        ThreadRole::Main => say!("main thread").to_owned(),
        ThreadRole::PinMemory => say!("pin-memory thread").to_owned(),
        ThreadRole::QueueFeeder => say!("queue feeder thread").to_owned(),
        ThreadRole::Python | ThreadRole::Native => say!("thread {}", thread.name),
    }
}

/// Returns the process, and the thread unless it is the main thread.
pub(crate) fn subject(snapshot: &Snapshot, node: Node) -> String {
    let process = process_name(snapshot, node.pid);
    match snapshot.thread(node) {
        Some(thread) if thread.role != ThreadRole::Main => {
            say!("the {} of {process}", thread_name(thread))
        }
        _ => process,
    }
}

/// Returns the innermost call of the user's code, or of any code, as ` in f (file:line)`.
pub(crate) fn place(thread: &Thread) -> String {
    let Some(frame) = thread.user_frame().or(thread.frames.first()) else {
        return String::new();
    };
    let file = frame.file.rsplit('/').next().unwrap_or_default();
    say!(" in {} ({file}:{})", frame.function, frame.line)
}

/// Returns the threads that can end the wait for a lock or an event, as sentences after a space. Empty for other waits.
pub(crate) fn releasing_text(snapshot: &Snapshot, node: Node) -> String {
    let (Some(process), Some(thread)) = (snapshot.process(node.pid), snapshot.thread(node)) else {
        return String::new();
    };
    let others = match thread.waits_for_lock() {
        true => releasing(process, thread),
        false => Vec::new(),
    };
    if others.is_empty() {
        return String::new();
    }
    let list = list_of(&others, |other| {
        let (wait, place) = (wait_text(snapshot, other), place(other));
        say!("the {}, which {wait}{place}", thread_name(other))
    });
    let mut text = say!(" Its wait can be ended by {list}.");
    if process.is_forked && !thread.waits_for_event() {
        text.push_str(say!(
            " If it is not, a thread of the parent may have held the lock during the fork."
        ));
    }
    text
}

/// Returns a text with its first letter in upper case.
pub fn capitalized(text: String) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => text,
    }
}

/// Returns a thread with its wait and its place in the code.
pub fn node_text(snapshot: &Snapshot, node: Node) -> String {
    let process = snapshot.process(node.pid);
    let who = subject(snapshot, node);
    if let Some(ending) = process.and_then(|process| process.ended) {
        return say!("{who} has ended: {}", ending_text(ending));
    }
    if process.is_some_and(|process| process.state.is_stopped()) {
        return say!("{who} is stopped");
    }
    let thread = snapshot.thread(node);
    let wait = thread
        .map(|thread| wait_text(snapshot, thread))
        .unwrap_or_default();
    let place = thread.map(place).unwrap_or_default();
    say!("{who} {wait}{place}")
}

pub(crate) fn ending_text(ending: Ending) -> String {
    match ending {
        Ending::Code(code) => say!("exit code {code}"),
        Ending::Signal(SIGKILL) => say!("killed by signal 9 (SIGKILL)").to_owned(),
        Ending::Signal(SIGBUS) => say!("killed by signal 7 (SIGBUS)").to_owned(),
        Ending::Signal(SIGSEGV) => say!("killed by signal 11 (SIGSEGV)").to_owned(),
        Ending::Signal(signal) => say!("killed by signal {signal}"),
    }
}

/// Returns the wait of a thread as a predicate, such as `sleeps`.
pub fn wait_text(snapshot: &Snapshot, thread: &Thread) -> String {
    let list = |pids: &[u32]| process_list(snapshot, pids);
    match &thread.wait {
        Wait::Running => say!("executes code").to_owned(),
        Wait::Lock { timed, .. } => match (thread.waits_for_event(), *timed) {
            (false, false) => say!("waits for a lock").to_owned(),
            (false, true) => say!("waits for a lock, with a time limit").to_owned(),
            (true, false) => say!("waits for an event").to_owned(),
            (true, true) => say!("waits for an event, with a time limit").to_owned(),
        },
        Wait::SharedLock { peers, .. } if peers.is_empty() => {
            say!("waits for a semaphore in shared memory").to_owned()
        }
        Wait::SharedLock { peers, .. } => {
            say!("waits for a semaphore that it shares with {}", list(peers))
        }
        Wait::Gil => say!("waits for the interpreter lock (GIL)").to_owned(),
        Wait::Io { call, on, .. } => {
            let all = list_of(&resource_texts(snapshot, on), String::clone);
            say!("waits for {all} ({call})")
        }
        Wait::Child { pid: Some(pid) } => {
            say!("waits for the end of {}", process_name(snapshot, *pid))
        }
        Wait::Child { pid: None } => say!("waits for the end of a child process").to_owned(),
        Wait::Sleep => say!("sleeps").to_owned(),
        Wait::PageFault => say!("waits for a page of a file").to_owned(),
        Wait::Other { call } => say!("waits in {call}"),
    }
}

/// Returns each object of a wait once. Pipes with data are one element. Local sockets are left out if there are other objects,
/// because they only interrupt the wait.
fn resource_texts(snapshot: &Snapshot, on: &[Descriptor]) -> Vec<String> {
    let is_read = |one: &Descriptor| {
        one.direction == Direction::Read && matches!(one.resource, Resource::Pipe { .. })
    };
    let mut writers: Vec<u32> = Vec::new();
    for pid in (on.iter().filter(|one| is_read(one))).flat_map(|one| one.resource.peers()) {
        if !writers.contains(pid) {
            writers.push(*pid);
        }
    }
    let is_local = |one: &Descriptor| one.resource.is_local_socket();
    let are_local = on.iter().all(is_local);
    let mut texts: Vec<String> = Vec::new();
    for one in on.iter().filter(|one| are_local || !is_local(one)) {
        let text = match is_read(one) && !writers.is_empty() {
            true => {
                let list = process_list(snapshot, &writers);
                say!("data in a pipe from {list}")
            }
            false => resource_text(snapshot, one),
        };
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts
}

fn resource_text(snapshot: &Snapshot, on: &Descriptor) -> String {
    let list = |pids: &[u32]| process_list(snapshot, pids);
    match (&on.resource, on.direction) {
        (Resource::Pipe { peers, .. }, Direction::Write) if !peers.is_empty() => {
            say!("space in a pipe to {}", list(peers))
        }
        (Resource::Pipe { .. }, Direction::Write) => say!("space in a pipe").to_owned(),
        (Resource::Pipe { .. }, Direction::Read) => say!("data in a pipe").to_owned(),
        (Resource::Fifo { path, .. }, _) => say!("the named pipe {path}"),
        (Resource::Socket { remote }, _) => match remote {
            Some(remote) => say!("a socket to {remote}"),
            None => say!("a socket").to_owned(),
        },
        (Resource::File { path, .. }, Direction::Read) if is_terminal(path) => {
            say!("input from the terminal").to_owned()
        }
        (Resource::File { path, file_system }, _) => say!("the file {path} on {file_system}"),
        (Resource::FileLock { path, .. }, _) => say!("the lock of the file {path}"),
        (Resource::Other { name }, _) if name.is_empty() => say!("a closed descriptor").to_owned(),
        (Resource::Other { name }, _) => name.clone(),
    }
}

fn is_terminal(path: &str) -> bool {
    path.starts_with("/dev/pts/") || path.starts_with("/dev/tty")
}
