//! The processes at the other ends of pipes, and those that share memory.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::stat::all_processes;
use crate::process::Process;
use crate::wait::{Descriptor, Direction, Resource, Wait};

/// Ends of pipes that processes have open: by the name of the pipe and the direction.
type Ends = HashMap<(String, Direction), Vec<u32>>;

/// Adds the other processes of each wait.
pub fn fill_peers(processes: &mut [Process]) {
    let tree: Vec<u32> = processes.iter().map(|process| process.pid).collect();
    let waits = processes.iter().flat_map(|p| &p.threads).map(|t| &t.wait);
    let waits: Vec<&Wait> = waits.collect();
    let all = waits.iter().flat_map(|wait| wait.descriptors());
    let names = all.filter_map(|one| pipe_name(&one.resource).map(str::to_owned));
    let ends = ends(&names.collect());
    let has_shared = (waits.iter()).any(|wait| matches!(wait, Wait::SharedLock { .. }));
    let maps: Vec<(u32, String)> = match has_shared {
        true => tree.iter().map(|pid| (*pid, maps(*pid))).collect(),
        false => Vec::new(),
    };
    for process in processes {
        let pid = process.pid;
        for thread in &mut process.threads {
            match &mut thread.wait {
                Wait::Io { on, .. } => on.iter_mut().for_each(|one| set_peers(pid, one, &ends)),
                Wait::SharedLock { address, peers, .. } => *peers = sharers(pid, *address, &maps),
                Wait::Running | Wait::Lock { .. } | Wait::Gil | Wait::Child { .. } => {}
                Wait::Sleep | Wait::PageFault | Wait::Other { .. } => {}
            }
        }
    }
}

fn pipe_name(resource: &Resource) -> Option<&str> {
    match resource {
        Resource::Pipe { id, .. } => Some(id),
        Resource::Fifo { path, .. } => Some(path),
        Resource::Socket { .. } | Resource::File { .. } => None,
        Resource::FileLock { .. } | Resource::Other { .. } => None,
    }
}

/// Returns the open ends of these pipes in all processes that this user can inspect.
fn ends(names: &HashSet<String>) -> Ends {
    let mut ends = Ends::new();
    if names.is_empty() {
        return ends;
    }
    for pid in all_processes() {
        let entries = fs::read_dir(format!("/proc/{pid}/fd"));
        for entry in entries.into_iter().flatten().flatten() {
            let link = fs::read_link(entry.path()).unwrap_or_default();
            let Some(name) = link.to_str().and_then(|name| names.get(name)) else {
                continue;
            };
            // The link itself has the permissions of the descriptor.
            let mode = entry.metadata().map_or(0, |m| m.permissions().mode());
            for (bit, direction) in [(0o400, Direction::Read), (0o200, Direction::Write)] {
                let pids = ends.entry((name.clone(), direction)).or_default();
                if mode & bit != 0 && !pids.contains(&pid) {
                    pids.push(pid);
                }
            }
        }
    }
    ends
}

/// Sets the processes at the other end of a pipe.
fn set_peers(pid: u32, on: &mut Descriptor, ends: &Ends) {
    let Some(name) = pipe_name(&on.resource).map(str::to_owned) else {
        return;
    };
    let other = match on.direction {
        Direction::Read => Direction::Write,
        Direction::Write => Direction::Read,
    };
    let mut found = ends.get(&(name, other)).cloned().unwrap_or_default();
    found.retain(|peer| *peer != pid);
    if let Resource::Pipe { peers, .. } | Resource::Fifo { peers, .. } = &mut on.resource {
        *peers = found;
    }
}

fn maps(pid: u32) -> String {
    fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default()
}

/// Returns the other processes that map the memory at an address of a process.
fn sharers(pid: u32, address: u64, maps: &[(u32, String)]) -> Vec<u32> {
    let own = maps.iter().find(|(one, _)| *one == pid);
    let line = own.and_then(|(_, text)| text.lines().find(|line| covers(line, address)));
    let Some(object) = line.and_then(mapped_object) else {
        return Vec::new();
    };
    let others = maps.iter().filter(|(one, _)| *one != pid);
    let sharing =
        others.filter(|(_, text)| text.lines().filter_map(mapped_object).any(|o| o == object));
    sharing.map(|(one, _)| *one).collect()
}

fn covers(line: &str, address: u64) -> bool {
    let range = line
        .split(' ')
        .next()
        .and_then(|range| range.split_once('-'));
    let number = |text: &str| u64::from_str_radix(text, 16).unwrap_or(0);
    range.is_some_and(|(from, to)| (number(from)..number(to)).contains(&address))
}

/// Returns device and inode of a line of `maps`. Private memory has none.
fn mapped_object(line: &str) -> Option<(&str, &str)> {
    let mut fields = line.split_ascii_whitespace().skip(3);
    let object = (fields.next()?, fields.next()?);
    (object.1 != "0").then_some(object)
}
