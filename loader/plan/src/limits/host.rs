//! Memory and threads that the host allows this process.

use std::{fmt, io};

use crate::error::LoaderError;
use loadscope_trace::count as grouped;
use loadscope_words::say;

#[cfg(unix)]
/// Address space of a thread: its stack, guard page and signal stack, and the allocator's reserve.
const THREAD_SPACE: u64 = 4 << 20;
#[cfg(unix)]
/// Address space that must be free when a thread starts. Other threads allocate at the same time.
const PROBED: usize = 64 << 20;
#[cfg(unix)]
/// Memory mappings per thread.
const THREAD_MAPS: u64 = 4;
#[cfg(unix)]
/// Threads that are reserved for the rest of the program: trainer, recorder, libtorch.
const OWN_THREADS: u64 = 16;

/// Checks that the host has memory for `bytes`.
///
/// # Errors
/// If the host has less memory. The error message consists of `what`, which includes its verb, the sizes and `remedy`.
pub fn check_memory(
    bytes: u64,
    what: impl fmt::Display,
    remedy: impl fmt::Display,
) -> Result<(), LoaderError> {
    match memory() {
        Some(has) if bytes > has => Err(LoaderError::Spec(say!(
            "{what} {} of memory, but this program may use only {}. {remedy}",
            size(bytes),
            size(has)
        ))),
        _ => Ok(()),
    }
}

/// Checks that the system allows this process `num_workers` more threads.
///
/// # Errors
/// If the system allows fewer threads. The error message contains the reason and the allowed number.
pub fn check_threads(num_workers: usize) -> Result<(), LoaderError> {
    let wanted = num_workers as u64;
    match lowest_thread_limit() {
        Some(room) if wanted > room.threads => Err(LoaderError::Spec(say!(
            "num_workers={num_workers} is more than this host can start: {} allows {} more loader threads. Use fewer workers.",
            room.by,
            grouped(room.threads)
        ))),
        _ => Ok(()),
    }
}

/// Checks that there is address space for one more thread. The setup of a thread cannot report an error.
///
/// # Errors
/// The error of the system.
#[cfg(unix)]
pub fn check_thread_address_space() -> io::Result<()> {
    let mapped = memmap2::MmapOptions::new()
        .len(PROBED)
        .no_reserve_swap()
        .map_anon();
    mapped.map(drop)
}

/// Always succeeds, since the limit is unknown on this system.
#[cfg(not(unix))]
pub fn check_thread_address_space() -> io::Result<()> {
    Ok(())
}

/// Remaining threads that a limit allows.
#[derive(Debug)]
struct ThreadLimit {
    threads: u64,
    by: &'static str,
}

#[cfg(not(target_os = "linux"))]
fn lowest_thread_limit() -> Option<ThreadLimit> {
    None
}

#[cfg(not(target_os = "linux"))]
fn memory() -> Option<u64> {
    None
}

#[cfg(target_os = "linux")]
use linux::{lowest_thread_limit, memory};

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::read_to_string;
    use std::path::{Path, PathBuf};

    use loadscope_words::say;
    use rustix::process::{Resource, geteuid, getrlimit};

    use super::{OWN_THREADS, THREAD_MAPS, THREAD_SPACE, ThreadLimit};

    /// Returns the tightest limit.
    pub fn lowest_thread_limit() -> Option<ThreadLimit> {
        let rooms = [
            threads_of_system(),
            threads_of_user(),
            threads_of_group(),
            mappings(),
            address_space(),
        ];
        rooms.into_iter().flatten().min_by_key(|room| room.threads)
    }

    /// Returns the maximum memory of this process, bytes.
    pub fn memory() -> Option<u64> {
        let of_group = groups("memory").filter_map(|folder| {
            let read = |name: &str| number(&folder.join(name));
            read("memory.max").or_else(|| read("memory.limit_in_bytes"))
        });
        let installed = field("/proc/meminfo", "MemTotal:").map(|kb| kb.saturating_mul(1024));
        let limits = [installed, limit(Resource::As), limit(Resource::Data)];
        limits.into_iter().flatten().chain(of_group).min()
    }

    fn threads_of_system() -> Option<ThreadLimit> {
        let most = number(Path::new("/proc/sys/kernel/threads-max"))?;
        let ids = number(Path::new("/proc/sys/kernel/pid_max")).unwrap_or(u64::MAX);
        // `0.20 0.18 0.12 1/80 11206`: 1 of 80 threads is running.
        let load = read_to_string("/proc/loadavg").ok()?;
        let (_, threads) = load.split_whitespace().nth(3)?.split_once('/')?;
        Some(room(
            most.min(ids),
            threads.parse().ok()?,
            say!("the system (kernel.threads-max, kernel.pid_max)"),
        ))
    }

    /// The user's current threads are not counted. A later refusal by the system is also an error.
    fn threads_of_user() -> Option<ThreadLimit> {
        // The limit does not apply to the superuser.
        let most = limit(Resource::Nproc).filter(|_| !geteuid().is_root())?;
        Some(room(most, 0, say!("the limit for this user (ulimit -u)")))
    }

    fn threads_of_group() -> Option<ThreadLimit> {
        let rooms = groups("pids").filter_map(|folder| {
            let most = number(&folder.join("pids.max"))?;
            let now = number(&folder.join("pids.current")).unwrap_or_default();
            Some(room(most, now, say!("the cgroup (pids.max)")))
        });
        rooms.min_by_key(|room| room.threads)
    }

    fn mappings() -> Option<ThreadLimit> {
        let most = number(Path::new("/proc/sys/vm/max_map_count"))?;
        let now = read_to_string("/proc/self/maps").map_or(0, |maps| maps.lines().count() as u64);
        let left = most.saturating_sub(now) / THREAD_MAPS;
        Some(room(left, 0, say!("the system (vm.max_map_count)")))
    }

    fn address_space() -> Option<ThreadLimit> {
        let most = limit(Resource::As)?;
        let now = field("/proc/self/status", "VmSize:")?.saturating_mul(1024);
        let left = most.saturating_sub(now) / THREAD_SPACE;
        Some(room(
            left,
            0,
            say!("the limit of the address space (ulimit -v)"),
        ))
    }

    fn room(most: u64, now: u64, by: &'static str) -> ThreadLimit {
        let threads = most.saturating_sub(now).saturating_sub(OWN_THREADS);
        ThreadLimit { threads, by }
    }

    /// Returns the soft limit, if there is one.
    fn limit(resource: Resource) -> Option<u64> {
        getrlimit(resource).current
    }

    /// Returns the folders of this process's control groups, from its own to the root, for cgroup v1 and v2.
    fn groups(controller: &str) -> impl Iterator<Item = PathBuf> {
        let text = read_to_string("/proc/self/cgroup").unwrap_or_default();
        let mut all = Vec::new();
        for line in text.lines() {
            // A line is `0::/user.slice` (v2) or `4:pids:/user.slice` (v1).
            let mut parts = line.splitn(3, ':').skip(1);
            let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else {
                continue;
            };
            let root = match controllers {
                "" => PathBuf::from("/sys/fs/cgroup"),
                some if some.split(',').any(|c| c == controller) => {
                    Path::new("/sys/fs/cgroup").join(controller)
                }
                _ => continue,
            };
            // In a container, the path may be the host's and not exist here. The root exists.
            let inside = Path::new(path.trim_start_matches('/'));
            all.extend(inside.ancestors().map(|part| root.join(part)));
        }
        all.into_iter()
    }

    /// Returns the number in a file that contains nothing else, or `None` for `max`.
    fn number(path: &Path) -> Option<u64> {
        read_to_string(path).ok()?.trim().parse().ok()
    }

    /// Returns the number after `name` at the start of a line.
    fn field(path: &str, name: &str) -> Option<u64> {
        let text = read_to_string(path).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse().ok()
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn memory_and_thread_limits_of_the_host_are_known() {
            let memory = memory().expect("Linux has a limit");
            assert!(memory > 100 << 20, "{memory}");
            let lowest_thread_limit = lowest_thread_limit().expect("Linux has a limit");
            assert!(lowest_thread_limit.threads > 8, "{lowest_thread_limit:?}");
            assert!(threads_of_system().is_some() && mappings().is_some());
        }
    }
}

/// Formats a number of bytes as `3.1 GB`.
fn size(bytes: u64) -> String {
    let bytes = bytes as f64;
    match bytes {
        b if b >= 1e12 => format!("{:.1}\u{2009}TB", b / 1e12),
        b if b >= 1e9 => format!("{:.1}\u{2009}GB", b / 1e9),
        b => format!("{:.0}\u{2009}MB", b / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_above_the_available_memory_is_refused() {
        assert_eq!(check_memory(1 << 20, "this takes", "take less"), Ok(()));
        let error = check_memory(u64::MAX, "these batches take", "choose smaller ones");
        let text = error.expect_err("no host has so much").to_string();
        assert!(
            text.starts_with("these batches take 18446744.1\u{2009}TB of memory, but")
                && text.ends_with(". choose smaller ones"),
            "{text}"
        );
    }

    #[test]
    fn an_impossible_number_of_threads_is_refused() {
        assert_eq!(check_threads(1), Ok(()));
        let text = check_threads(usize::MAX).expect_err("too many").to_string();
        assert!(text.contains("Use fewer workers."), "{text}");
    }
}
