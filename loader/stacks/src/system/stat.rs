//! Small files of `/proc`, and the memory of processes.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt as _;

use crate::process::State;
use crate::snapshot::SharedMemory;

/// Flag of a process in the kernel.
const PF_FORKNOEXEC: u64 = 0x40;

/// Contents of `/proc/PID/stat`.
#[derive(Clone, Debug, Default)]
pub struct Stat {
    pub name: String,
    pub state: State,
    pub parent: u32,
    /// CPU time, clock ticks.
    pub ticks: u64,
    /// Start time, clock ticks since boot.
    pub start: u64,
    /// True if the process is a fork that has loaded no program of its own.
    pub is_forked: bool,
    /// Status of `wait`.
    pub exit: u32,
}

impl Stat {
    /// Reads `stat` in a folder of `/proc`.
    pub fn of(folder: &str) -> Option<Self> {
        Self::parse(&fs::read_to_string(format!("{folder}/stat")).ok()?)
    }

    fn parse(text: &str) -> Option<Self> {
        // The name in parentheses can contain any character.
        let (before, after) = text.rsplit_once(')')?;
        let fields: Vec<&str> = after.split_ascii_whitespace().collect();
        let number = |at: usize| fields.get(at).and_then(|f| f.parse::<u64>().ok());
        Some(Self {
            name: before.split_once('(')?.1.to_owned(),
            state: State::of(fields.first()?),
            parent: fields.get(1)?.parse().ok()?,
            ticks: number(11)?.saturating_add(number(12)?),
            start: number(19)?,
            is_forked: number(6).unwrap_or(0) & PF_FORKNOEXEC != 0,
            exit: number(49).and_then(|n| u32::try_from(n).ok()).unwrap_or(0),
        })
    }
}

/// Thread in `/proc/PID/task`.
#[derive(Clone, Debug)]
pub struct Task {
    pub tid: u32,
    /// Id in the PID namespace of the process.
    pub inner: u32,
    pub stat: Stat,
    /// Number of context switches.
    pub switches: u64,
}

impl Task {
    /// Returns the threads of a process, the main thread first.
    pub fn all(pid: u32) -> Vec<Self> {
        let mut tids: Vec<u32> = numbers(&format!("/proc/{pid}/task"));
        tids.sort_unstable_by_key(|tid| (*tid != pid, *tid));
        tids.into_iter().filter_map(|t| Self::of(pid, t)).collect()
    }

    fn of(pid: u32, tid: u32) -> Option<Self> {
        let folder = format!("/proc/{pid}/task/{tid}");
        let status = fs::read_to_string(format!("{folder}/status")).ok()?;
        let line = |key: &str| status.lines().find_map(|l| l.strip_prefix(key));
        let count = |key: &str| line(key).and_then(|l| l.trim().parse::<u64>().ok());
        let inner = line("NSpid:").and_then(|l| l.split_ascii_whitespace().next_back());
        Some(Self {
            tid,
            inner: inner.and_then(|n| n.parse().ok()).unwrap_or(tid),
            stat: Stat::of(&folder)?,
            switches: count("voluntary_ctxt_switches:").unwrap_or(0)
                + count("nonvoluntary_ctxt_switches:").unwrap_or(0),
        })
    }
}

/// Returns the process of a process id or thread id.
pub fn process_of(id: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("Tgid:"))?;
    line.trim().parse().ok()
}

/// Names of a folder that are numbers.
fn numbers(folder: &str) -> Vec<u32> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

/// Returns all processes of `/proc`.
pub fn all_processes() -> Vec<u32> {
    numbers("/proc")
}

/// Returns a process and its descendants, parents first, each with its contents of `stat`.
pub fn process_tree(root: u32) -> Vec<(u32, Stat)> {
    let stats = all_processes()
        .into_iter()
        .filter_map(|pid| Some((pid, Stat::of(&format!("/proc/{pid}"))?)));
    let stats: HashMap<u32, Stat> = stats.collect();
    let tree = descendants(root, &stats).into_iter();
    tree.filter_map(|pid| Some((pid, stats.get(&pid)?.clone())))
        .collect()
}

/// Returns a process and its descendants, each once, parents first.
fn descendants(root: u32, stats: &HashMap<u32, Stat>) -> Vec<u32> {
    let mut tree: Vec<u32> = vec![root];
    let mut at = 0;
    while let Some(parent) = tree.get(at).copied() {
        // A process id that the system reused during the reads can make a process its own ancestor.
        let is_child = |pid: u32, stat: &Stat| stat.parent == parent && !tree.contains(&pid);
        let children = stats.iter().filter(|(pid, stat)| is_child(**pid, stat));
        let mut children: Vec<(u64, u32)> = children.map(|(pid, s)| (s.start, *pid)).collect();
        children.sort_unstable();
        tree.extend(children.into_iter().map(|(_, pid)| pid));
        at += 1;
    }
    tree
}

/// Returns the command line of a process. It is empty for a zombie.
pub fn command_line(pid: u32) -> String {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes).replace('\0', " ");
    text.trim_end().to_owned()
}

/// Returns true if a process is CPython, or has loaded its library.
pub fn is_python(pid: u32) -> bool {
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
    maps.lines().any(|line| {
        let file = line.rsplit('/').next().unwrap_or_default();
        line.contains('/') && (file.starts_with("python") || file.starts_with("libpython"))
    })
}

/// Returns the rank in the environment of a process of a distributed training.
pub fn rank_of(pid: u32) -> Option<u32> {
    let bytes = fs::read(format!("/proc/{pid}/environ")).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let value = text.split('\0').find_map(|one| one.strip_prefix("RANK="));
    value?.parse().ok()
}

/// Returns `/dev/shm` as the process sees it.
pub fn shared_memory(pid: u32) -> Option<SharedMemory> {
    let found = rustix::fs::statvfs(format!("/proc/{pid}/root/dev/shm")).ok()?;
    (found.f_blocks > 0).then(|| SharedMemory {
        size: found.f_blocks.saturating_mul(found.f_frsize),
        free: found.f_bavail.saturating_mul(found.f_frsize),
    })
}

/// Memory of a process. The process continues while it is read.
#[derive(Debug)]
pub struct Memory(File);

impl Memory {
    /// Opens the memory of a process.
    ///
    /// # Errors
    /// If the process does not exist, or the system refuses access.
    pub fn open(pid: u32) -> io::Result<Self> {
        Ok(Self(File::open(format!("/proc/{pid}/mem"))?))
    }

    /// Reads bytes at an address.
    pub fn bytes<const N: usize>(&self, address: u64) -> Option<[u8; N]> {
        let mut bytes = [0; N];
        self.fill(address, &mut bytes)?;
        Some(bytes)
    }

    /// Reads bytes at an address into a buffer.
    pub fn fill(&self, address: u64, bytes: &mut [u8]) -> Option<()> {
        self.0.read_exact_at(bytes, address).ok()
    }

    /// Returns true if the process has ended, or has loaded another program. `address` was part of its memory.
    pub fn is_gone(&self, address: u64) -> bool {
        matches!(self.0.read_at(&mut [0], address), Ok(0))
    }

    /// Reads a number at an address.
    pub fn number(&self, address: u64) -> Option<u32> {
        self.bytes(address).map(u32::from_ne_bytes)
    }

    /// Reads text up to a NUL byte, at most 4,096 bytes.
    pub fn text(&self, address: u64) -> Option<String> {
        let mut bytes = vec![0; 4096];
        let read = self.0.read_at(&mut bytes, address).ok()?;
        let end = bytes.iter().take(read).position(|byte| *byte == 0)?;
        Some(String::from_utf8_lossy(bytes.get(..end)?).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_process_can_contain_parentheses_and_spaces() {
        let text = "7 (a) b (c) T 5 1 1 0 -1 4194368 0 0 0 0 3 4 0 0 20 0 1 0 99 0 0 0 11 12 13";
        let stat = Stat::parse(text).expect("it is valid");
        assert_eq!((&*stat.name, stat.state), ("a) b (c", State::Stopped));
        assert_eq!((stat.parent, stat.ticks, stat.start), (5, 7, 99));
        assert!(stat.is_forked);
    }

    #[test]
    fn a_reused_process_id_is_no_endless_tree() {
        let stat = |(pid, parent): (u32, u32)| {
            let stat = Stat {
                parent,
                ..Stat::default()
            };
            (pid, stat)
        };
        let stats = [(7, 9), (8, 7), (9, 8), (5, 1), (4, 4)].map(stat).into();
        assert_eq!(descendants(7, &stats), [7, 8, 9]);
        assert_eq!(descendants(4, &stats), [4]);
    }

    #[test]
    fn this_process_is_read() {
        let own = std::process::id();
        let tree = process_tree(own);
        assert_eq!(tree.first().map(|(pid, _)| *pid), Some(own));
        assert!(Task::all(own).first().is_some_and(|main| main.tid == own));
        let word = *b"loadscope\0";
        let memory = Memory::open(own).expect("its own memory");
        let text = memory.text(word.as_ptr() as u64);
        assert_eq!(text.as_deref(), Some("loadscope"));
        assert!(!is_python(own));
    }
}
