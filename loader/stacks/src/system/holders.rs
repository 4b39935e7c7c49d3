//! The processes at the other ends of pipes, and those that share memory.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::ops::Range;
use std::os::unix::fs::PermissionsExt as _;

use super::stat::all_processes;
use crate::process::Process;
use crate::wait::{Descriptor, Direction, Resource, Wait};

/// Ends of pipes that processes have open: by the name of the pipe and the direction.
type Ends = HashMap<(String, Direction), Vec<u32>>;

/// Memory that a process shares with others.
#[derive(Debug, PartialEq, Eq)]
pub struct SharedMap {
    addresses: Range<u64>,
    /// Device and inode.
    object: (String, String),
}

/// Returns the shared memory of a process.
pub fn shared_maps(pid: u32) -> Vec<SharedMap> {
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
    maps.lines().filter_map(shared_map).collect()
}

/// Parses a line of `maps`: addresses, permissions, offset, device and inode.
fn shared_map(line: &str) -> Option<SharedMap> {
    let mut fields = line.split_ascii_whitespace();
    let (from, to) = fields.next()?.split_once('-')?;
    let number = |text: &str| u64::from_str_radix(text, 16).ok();
    let is_shared = fields.next()?.ends_with('s');
    let (device, inode) = (fields.nth(1)?, fields.next()?);
    (is_shared && inode != "0").then_some(SharedMap {
        addresses: number(from)?..number(to)?,
        object: (device.to_owned(), inode.to_owned()),
    })
}

/// Adds the other processes of each wait, with the shared memory of each process.
pub fn fill_peers(processes: &mut [Process], maps: &HashMap<u32, Vec<SharedMap>>) {
    let waits = processes.iter().flat_map(|p| &p.threads).map(|t| &t.wait);
    let all = waits.flat_map(|wait| wait.descriptors());
    let names = all.filter_map(|one| pipe_name(&one.resource).map(str::to_owned));
    let ends = ends(&names.collect());
    let tree: Vec<u32> = processes.iter().map(|process| process.pid).collect();
    for process in processes {
        let pid = process.pid;
        for thread in &mut process.threads {
            match &mut thread.wait {
                Wait::Io { on, .. } => on.iter_mut().for_each(|one| set_peers(pid, one, &ends)),
                Wait::SharedLock { address, peers, .. } => {
                    *peers = sharers((pid, *address), &tree, maps);
                }
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

/// Returns the other processes of the tree that map the memory at an address of a process.
fn sharers(
    (pid, address): (u32, u64),
    tree: &[u32],
    maps: &HashMap<u32, Vec<SharedMap>>,
) -> Vec<u32> {
    let maps_of = |pid: u32| maps.get(&pid).into_iter().flatten();
    let Some(own) = maps_of(pid).find(|map| map.addresses.contains(&address)) else {
        return Vec::new();
    };
    let is_sharing =
        |other: &u32| *other != pid && maps_of(*other).any(|map| map.object == own.object);
    tree.iter().copied().filter(is_sharing).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_that_map_the_same_memory_share_it() {
        let maps = |text: &str| text.lines().filter_map(shared_map).collect();
        let first =
            "10-20 rw-s 00000000 00:19 77 /dev/shm/sem.a (deleted)\n20-30 r-xp 0 fe:00 5 /lib/a.so";
        let other =
            "20-30 rw-s 00000000 00:19 77 /dev/shm/sem.a (deleted)\n40-50 r-xp 0 fe:00 5 /lib/a.so";
        let alone = "10-20 rw-s 00000000 00:20 77 /dev/shm/sem.b";
        let maps = HashMap::from([(3, maps(first)), (4, maps(other)), (5, maps(alone))]);
        // Process 6 did not answer.
        let tree = [3, 4, 5, 6];
        assert_eq!(sharers((3, 0x1f), &tree, &maps), [4]);
        assert!(sharers((3, 0x20), &tree, &maps).is_empty());
        assert!(sharers((5, 0x10), &tree, &maps).is_empty());
        assert!(sharers((6, 0x10), &tree, &maps).is_empty());
    }
}
