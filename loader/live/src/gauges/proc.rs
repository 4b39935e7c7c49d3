//! Measurements of a process in `/proc`. Systems without it measure nothing.

use std::collections::HashMap;
use std::fs;

/// Maximum number of threads to measure per process.
const MAX_THREADS: usize = 512;

/// Memory of a process, bytes. `None` if the system does not report it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Memory {
    /// Resident set size: all pages.
    pub rss: Option<f64>,
    /// Proportional set size: shared pages are divided by the number of their processes.
    pub pss: Option<f64>,
    /// Unique set size: pages that no other process shares.
    pub uss: Option<f64>,
}

/// State of a process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stat {
    /// CPU time so far, s.
    pub cpu: f64,
    /// Page faults so far that read from storage.
    pub major_faults: f64,
    /// True if the main thread is in uninterruptible sleep (`D`), as during I/O.
    pub is_blocked: bool,
}

pub(super) fn read(pid: u64, name: &str) -> Option<String> {
    fs::read_to_string(format!("/proc/{pid}/{name}")).ok()
}

/// Returns the path in a line of `/proc/PID/maps`.
pub(super) fn mapped_file(line: &str) -> Option<&str> {
    line.get(line.find('/')?..)
}

/// Reads the state of a process.
pub(super) fn stat(pid: u64) -> Option<Stat> {
    parse_stat(&read(pid, "stat")?, ticks_per_second())
}

/// Parses `/proc/PID/stat`.
fn parse_stat(text: &str, ticks: f64) -> Option<Stat> {
    // The process name in parentheses can contain any character.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<f64>().ok();
    Some(Stat {
        cpu: (number(11)? + number(12)?) / ticks,
        major_faults: number(9)?,
        is_blocked: *fields.first()? == "D",
    })
}

/// Reads the bytes that a process has read from storage.
pub(super) fn storage_read(pid: u64) -> Option<f64> {
    let text = read(pid, "io")?;
    let mut lines = text.lines();
    let bytes = lines.find_map(|line| line.strip_prefix("read_bytes:"))?;
    bytes.trim().parse().ok()
}

/// Reads the CPU time of each thread of a process, ns.
pub(super) fn thread_times(pid: u64) -> Option<HashMap<u64, u64>> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).ok()?;
    let ids = threads.filter_map(|thread| thread.ok()?.file_name().to_str()?.parse::<u64>().ok());
    let time = |id: u64| {
        let text = read(pid, &format!("task/{id}/schedstat"))?;
        let time = text.split_ascii_whitespace().next()?.parse().ok()?;
        Some((id, time))
    };
    let times: HashMap<u64, u64> = ids.take(MAX_THREADS).filter_map(time).collect();
    (!times.is_empty()).then_some(times)
}

/// Reads the memory of a process.
pub(super) fn memory(pid: u64) -> Option<Memory> {
    let text = read(pid, "smaps_rollup")?;
    let kib = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix("kB")?.trim().parse::<f64>().ok()
    };
    let own = kib("Private_Clean:").zip(kib("Private_Dirty:"));
    Some(Memory {
        rss: kib("Rss:").map(|kib| kib * 1024.0),
        pss: kib("Pss:").map(|kib| kib * 1024.0),
        uss: own.map(|(clean, dirty)| (clean + dirty) * 1024.0),
    })
}

/// Counts the open file descriptors.
pub(super) fn descriptors(pid: u64) -> Option<f64> {
    Some(fs::read_dir(format!("/proc/{pid}/fd")).ok()?.count() as f64)
}

#[cfg(target_os = "linux")]
pub(super) fn ticks_per_second() -> f64 {
    rustix::param::clock_ticks_per_second() as f64
}

/// Returns used and free bytes of `/dev/shm`. PyTorch unlinks its files there after mapping, so the used bytes are of all programs.
#[cfg(target_os = "linux")]
pub(super) fn shared() -> Option<(f64, f64)> {
    let of = rustix::fs::statvfs(c"/dev/shm").ok()?;
    let block = of.f_frsize as f64;
    let used = of.f_blocks.saturating_sub(of.f_bfree) as f64 * block;
    // A file system of size 0 is not a separate one.
    (of.f_blocks > 0).then_some((used, of.f_bavail as f64 * block))
}

#[cfg(not(target_os = "linux"))]
fn ticks_per_second() -> f64 {
    100.0
}

#[cfg(not(target_os = "linux"))]
pub(super) fn shared() -> Option<(f64, f64)> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stat_line_has_cpu_time_major_faults_and_the_blocked_state() {
        let line = "7 (a) b) (c) D 1 7 7 0 -1 4194560 900 0 12 0 150 50 0 0 20 0 3 0 9 1 1";
        let expected = Stat {
            cpu: 2.0,
            major_faults: 12.0,
            is_blocked: true,
        };
        assert_eq!(parse_stat(line, 100.0), Some(expected));
        let running = parse_stat(&line.replace(") D", ") R"), 100.0);
        assert!(running.is_some_and(|stat| !stat.is_blocked));
        assert_eq!(parse_stat("7 (python) D 1 7", 100.0), None);
    }
}
