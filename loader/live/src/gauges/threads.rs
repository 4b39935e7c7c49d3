//! Threads of a process that use the CPU, and the libraries that can own them.

use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

use loadscope_trace::ThreadPool;

use super::proc;

/// Minimum interval of measurements.
const EVERY: Duration = Duration::from_secs(1);

/// Maximum interval of measurements. On a busy host, a short measurement takes long.
const AT_LEAST_EVERY: Duration = Duration::from_secs(5);

/// Inverse of the maximum share of a core for measurements, up to that interval.
const SHARE: u32 = 400;

/// Minimum CPU time of a busy thread, ns: 1 ms.
const MIN_TIME: u64 = 1_000_000;

/// Inverse of the minimum CPU time of a busy thread, as a share of that of the busiest thread. The thread that sends the batches of a
/// worker has less.
const MIN_SHARE: u64 = 10;

/// CPU times of the threads of each process at its last measurement.
#[derive(Default)]
pub(super) struct Threads {
    times: HashMap<u64, HashMap<u64, u64>>,
    due: Option<Instant>,
}

impl Threads {
    /// Returns true if a measurement of all processes is due.
    pub fn is_due(&self, now: Instant) -> bool {
        self.due.is_none_or(|due| now >= due)
    }

    /// Sets the time of the next measurement of all processes. `took` is the length of the current one.
    pub fn pause(&mut self, now: Instant, took: Duration) {
        self.due = Some(now + (took * SHARE).clamp(EVERY, AT_LEAST_EVERY));
    }

    /// Counts the threads that were busy since the last measurement of the process. Returns `None` for the first measurement.
    pub fn busy(&mut self, pid: u64) -> Option<f64> {
        let now = proc::thread_times(pid)?;
        let busy = self.times.get(&pid).map(|before| busy(before, &now));
        self.times.insert(pid, now);
        busy
    }

    /// Forgets all processes for which `is_running` returns false.
    pub fn retain(&mut self, is_running: impl Fn(u64) -> bool) {
        self.times.retain(|pid, _| is_running(*pid));
    }
}

fn busy(before: &HashMap<u64, u64>, now: &HashMap<u64, u64>) -> f64 {
    let spent = |(id, time): (&u64, &u64)| {
        let before = before.get(id).copied().unwrap_or_default();
        time.saturating_sub(before)
    };
    let most = now.iter().map(spent).max().unwrap_or_default();
    let least = MIN_TIME.max(most / MIN_SHARE);
    now.iter().map(spent).filter(|time| *time >= least).count() as f64
}

/// Returns the libraries with a thread pool that a process has loaded.
pub(super) fn pools(pid: u64) -> Vec<ThreadPool> {
    proc::read(pid, "maps").map_or_else(Vec::new, |maps| parse_pools(&maps))
}

/// Parses `/proc/PID/maps`.
fn parse_pools(maps: &str) -> Vec<ThreadPool> {
    let paths: BTreeSet<&str> = maps.lines().filter_map(proc::mapped_file).collect();
    let pools = paths.into_iter().filter_map(pool);
    pools.collect::<BTreeSet<_>>().into_iter().collect()
}

fn pool(path: &str) -> Option<ThreadPool> {
    let name = path.rsplit('/').next()?;
    let starts = |words: &[&str]| words.iter().any(|word| name.starts_with(word));
    match () {
        () if starts(&["libgomp", "libiomp", "libomp"]) => Some(ThreadPool::OpenMp),
        () if starts(&["libmkl_"]) => Some(ThreadPool::Mkl),
        () if name.starts_with("lib") && name.contains("openblas") => Some(ThreadPool::OpenBlas),
        () if starts(&["libopencv_core", "cv2."]) => Some(ThreadPool::OpenCv),
        () if starts(&["tokenizers."]) => Some(ThreadPool::Tokenizers),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_with_a_tenth_of_the_busiest_ones_time_are_busy() {
        const MS: u64 = 1_000_000;
        let before = HashMap::from([(1, 500 * MS), (2, 40 * MS), (3, 7 * MS)]);
        // Thread 3 sends batches, and thread 4 is new.
        let now = HashMap::from([(1, 900 * MS), (2, 240 * MS), (3, 27 * MS), (4, 50 * MS)]);
        assert_eq!(busy(&before, &now), 3.0);
        assert_eq!(busy(&now, &now), 0.0);
    }

    #[test]
    fn libraries_with_thread_pools_are_recognized_by_their_files() {
        let maps = "\
7f10-7f20 r-xp 00000000 fe:00 11 /v/lib/python3.11/site-packages/torch/lib/libgomp.so.1
7f20-7f30 r--p 00000000 fe:00 12 /v/numpy.libs/libscipy_openblas64_-32a4b2a6.so
7f30-7f40 r-xp 00000000 fe:00 12 /v/numpy.libs/libscipy_openblas64_-32a4b2a6.so
7f40-7f50 r-xp 00000000 fe:00 13 /v/tokenizers/tokenizers.abi3.so
7f50-7f60 r-xp 00000000 fe:00 14 /v/cv2/cv2.abi3.so
7f60-7f70 rw-p 00000000 00:00 0 [heap]
7f70-7f80 rw-p 00000000 00:00 0
";
        let expected = [
            ThreadPool::OpenMp,
            ThreadPool::OpenBlas,
            ThreadPool::OpenCv,
            ThreadPool::Tokenizers,
        ];
        assert_eq!(parse_pools(maps), expected);
    }
}
