//! Two samples of a process tree. Processes are read in parallel.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::time::Duration;

use super::holders::fill_peers;
use super::pool::read_twice;
use super::reader::{Answer, Job, Reader};
use super::stat::{Memory, Stat, process_of, process_tree, shared_memory};
use crate::error::StacksError;
use crate::process::{Process, Python, Role, State};
use crate::snapshot::Snapshot;

/// Time limit of the samples. A process can block its readers, for example while its memory is on a file system that does not answer.
const LIMIT: Duration = Duration::from_secs(4);

/// Reads a process and its descendants twice.
pub fn sample(id: u32) -> Result<Snapshot, StacksError> {
    let root = process_of(id).ok_or(StacksError::NoProcess(id))?;
    check_access(root)?;
    let tree = process_tree(root);
    let jobs: Vec<Job> = (tree.iter())
        .map(|(pid, stat)| Job {
            pid: *pid,
            is_root: *pid == root,
            stat: stat.clone(),
        })
        .collect();
    let answers = read_all(jobs);
    let has_stacks = |a: &Answer| matches!(a.process.python, Python::Version(_));
    if !answers.iter().any(has_stacks) {
        let refused = answers.iter().find_map(|one| match &one.process.python {
            Python::Unreadable(why) => Some((one.process.pid, why.clone())),
            Python::Version(_) | Python::Absent => None,
        });
        return Err(match refused {
            _ if has_ended(root) => StacksError::Ended(root),
            Some((pid, why)) => StacksError::Unreadable(pid, why),
            None => StacksError::NotPython(root),
        });
    }
    let processes = processes(answers);
    Ok(Snapshot {
        root,
        processes,
        shared_memory: shared_memory(root),
    })
}

/// Checks that the process exists and that this user can read its memory.
fn check_access(root: u32) -> Result<(), StacksError> {
    let folder = format!("/proc/{root}");
    match Stat::of(&folder) {
        None => return Err(StacksError::NoProcess(root)),
        Some(stat) if stat.state == State::Zombie => return Err(StacksError::HasEnded(root)),
        Some(_) => {}
    }
    let Err(e) = Memory::open(root) else {
        return Ok(());
    };
    let owner = |path: &str| std::fs::metadata(path).map(|found| found.uid()).ok();
    match e.kind() {
        _ if has_ended(root) => Err(StacksError::Ended(root)),
        ErrorKind::NotFound => Err(StacksError::NoProcess(root)),
        _ if owner("/proc/self") == Some(0) => Err(StacksError::ForbiddenToRoot(root)),
        _ if owner(&folder) != owner("/proc/self") => Err(StacksError::OtherUser(root)),
        _ => Err(StacksError::Forbidden(root)),
    }
}

/// Returns true for a process that does not exist or is a zombie.
fn has_ended(pid: u32) -> bool {
    let stat = Stat::of(&format!("/proc/{pid}"));
    stat.is_none_or(|stat| stat.state == State::Zombie)
}

/// Reads all processes. One that does not answer in time has no threads.
fn read_all(jobs: Vec<Job>) -> Vec<Answer> {
    let first = |job: Job| {
        let mut reader = Reader::open(job);
        let sample = reader.read();
        (reader, sample)
    };
    let read = read_twice(jobs.clone(), LIMIT, first, |(mut reader, before)| {
        let now = reader.read();
        reader.answer(&before, now)
    });
    let mut read: HashMap<u32, Answer> = read.into_iter().map(|a| (a.process.pid, a)).collect();
    let of = |job: Job| read.remove(&job.pid).unwrap_or_else(|| job.unanswered());
    jobs.into_iter().map(of).collect()
}

/// Connects the processes: ranks, and the processes of each wait.
fn processes(answers: Vec<Answer>) -> Vec<Process> {
    let ranks: HashMap<u32, u32> = (answers.iter())
        .filter_map(|one| Some((one.process.pid, one.rank?)))
        .collect();
    let mut maps = HashMap::new();
    let mut processes = Vec::new();
    for one in answers {
        let mut process = one.process;
        // Programs that a rank starts inherit its variables.
        if let Role::Rank(rank) = process.role
            && ranks.get(&process.parent) == Some(&rank)
        {
            process.role = Role::Other;
        }
        maps.insert(process.pid, one.maps);
        processes.push(process);
    }
    fill_peers(&mut processes, &maps);
    processes
}
