//! Open files whose position forked workers share, read from `/proc`. The program spends no time on it.
//!
//! A forked worker inherits the open files of the main process. The kernel stores one position for all of them, so a read of one worker
//! moves the position of the others. Two observations prove it: the position moves while the main process reads nothing, and the workers
//! and the main process always have the same position.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::time::{Duration, Instant};

use loadscope_trace::{Event, EventKind, Fact, Nanos, RunId, WorkerId};

use crate::Process;

/// Interval of searches while no file is a candidate.
const EVERY: Duration = Duration::from_secs(1);

/// Inverse of the maximum share of a core for the search.
const SHARE: u32 = 200;

/// Time for the search beyond that share, so that short programs are searched too.
const AHEAD: Duration = Duration::from_millis(200);

/// Maximum number of inspected file descriptors per process.
const MAX_DESCRIPTORS: usize = 256;

/// Maximum number of reported files.
const MAX_REPORTED: usize = 64;

/// Different positions between two `read` calls of the main process that prove that it did not move all of them. Alone, it moves the position
/// with each `read`, and with one or two `lseek` calls before.
const MOVED: usize = 4;

/// Different positions that a worker and the main process have in common, if they share one.
const COMMON: usize = 3;

/// Readings of a file in succession. They also catch the moves between two `read` calls of a main process that reads often.
const READINGS: usize = 8;

/// Folders without data files, and the names of memory files.
const NO_DATA: [&str; 4] = ["/dev/", "/proc/", "/sys/", "/memfd:"];

/// Open file of a process. Forked processes that share it have equal values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct OpenFile {
    descriptor: u32,
    path: String,
    /// Number of the mount.
    mount: u64,
    /// Flags of `open`.
    flags: u64,
}

/// Positions of an open file in its processes, bytes.
#[derive(Debug)]
struct Reading {
    /// Number of `read` calls of the main process, if it stayed the same.
    reads: Option<u64>,
    /// Position in each worker. `None` if the worker does not have the file.
    workers: Vec<(WorkerId, Option<u64>)>,
    /// Positions in the main process: before the first worker, and after each.
    main: Vec<u64>,
}

/// Observations of an open file.
#[derive(Default)]
struct Evidence {
    /// Last position in the main process.
    last: Option<u64>,
    /// Number of `read` calls of the main process, and positions since the last one.
    since_read: (u64, BTreeSet<u64>),
    /// True if another process moved the position.
    is_moved: bool,
    /// Different positions at which each worker was together with the main process.
    common: BTreeMap<WorkerId, BTreeSet<u64>>,
}

/// Search for open files whose position workers share.
#[derive(Default)]
pub struct SharedFiles {
    first: Option<Instant>,
    last: Option<Instant>,
    took: Duration,
    candidates: HashMap<(RunId, OpenFile), Evidence>,
    reported: HashSet<(RunId, OpenFile)>,
}

impl SharedFiles {
    /// Searches if it is time, and appends each proved file with the time `at`.
    pub fn find(&mut self, processes: &[Process], at: Nanos, out: &mut Vec<Event>) {
        let now = Instant::now();
        if !self.is_due(now) {
            return;
        }
        let families = families(processes);
        if families.is_empty() {
            return;
        }
        self.first.get_or_insert(now);
        self.last = Some(now);
        let mut candidates = HashMap::new();
        for (run, (main, pids)) in families {
            for file in proc::descriptors(main).filter_map(|n| proc::data_file(main, n)) {
                let key = (run, file);
                if self.reported.contains(&key) || self.reported.len() >= MAX_REPORTED {
                    continue;
                }
                let mut evidence = self.candidates.remove(&key).unwrap_or_default();
                let Some(workers) = evidence.observe(&key.1, main, &pids) else {
                    candidates.insert(key, evidence);
                    continue;
                };
                let fact = Fact::SharedFile {
                    file: key.1.path.clone(),
                    descriptor: key.1.descriptor,
                    workers,
                };
                let kind = EventKind::Fact(Box::new(fact));
                out.push(Event { at, run, kind });
                self.reported.insert(key);
            }
        }
        self.candidates = candidates;
        self.took += now.elapsed();
    }

    /// Returns true if a search is due, and the share of a core is not used up.
    fn is_due(&self, now: Instant) -> bool {
        let (Some(first), Some(last)) = (self.first, self.last) else {
            return true;
        };
        let is_time = !self.candidates.is_empty() || now - last >= EVERY;
        is_time && self.took <= AHEAD + (now - first) / SHARE
    }
}

impl Evidence {
    /// Reads the positions of a file several times. Returns the workers that share it, if it is proved.
    fn observe(
        &mut self,
        file: &OpenFile,
        main: u64,
        workers: &BTreeMap<WorkerId, u64>,
    ) -> Option<Vec<WorkerId>> {
        for number in 0..READINGS {
            let reads = proc::reads(main)?;
            let position = proc::position(main, file)?;
            match self.last == Some(position) {
                // The file is idle.
                true if number == 0 => break,
                true => continue,
                false => {}
            }
            let mut reading = Reading {
                reads: None,
                workers: Vec::with_capacity(workers.len()),
                main: vec![position],
            };
            for (worker, pid) in workers {
                let position = proc::position(*pid, file);
                reading.workers.push((*worker, position));
                reading.main.push(proc::position(main, file)?);
            }
            reading.reads = (proc::reads(main)? == reads).then_some(reads);
            self.add(&reading);
        }
        self.sharing()
    }

    fn add(&mut self, reading: &Reading) {
        self.last = reading.main.last().copied();
        if let Some(reads) = reading.reads.filter(|_| !self.is_moved) {
            if self.since_read.0 != reads {
                self.since_read = (reads, BTreeSet::new());
            }
            self.since_read.1.extend(&reading.main);
            self.is_moved = self.since_read.1.len() >= MOVED;
        }
        let is_running = |worker: &WorkerId| reading.workers.iter().any(|(one, _)| one == worker);
        self.common.retain(|worker, _| is_running(worker));
        for ((worker, position), around) in reading.workers.iter().zip(reading.main.windows(2)) {
            let common = self.common.entry(*worker).or_default();
            match (position, around) {
                // The position moved in the meantime.
                (Some(_), [before, after]) if before != after => {}
                (Some(position), [before, _]) if position == before => {
                    if common.len() < COMMON {
                        common.insert(*position);
                    }
                }
                (Some(_) | None, _) => common.clear(),
            }
        }
    }

    /// Returns the workers that share the position, if it is proved for all that have it in common.
    fn sharing(&self) -> Option<Vec<WorkerId>> {
        let sharing = self.common.iter().filter(|(_, common)| !common.is_empty());
        let is_proved = self.is_moved && sharing.clone().all(|(_, common)| common.len() >= COMMON);
        let sharing: Vec<WorkerId> = sharing.map(|(worker, _)| *worker).collect();
        (is_proved && sharing.len() >= 2).then_some(sharing)
    }
}

/// Returns the process ids of the main process and of the workers of each loader with two or more workers.
fn families(processes: &[Process]) -> BTreeMap<RunId, (u64, BTreeMap<WorkerId, u64>)> {
    let mains = processes.iter().filter(|process| process.worker.is_none());
    let families = mains.map(|main| {
        let own = processes.iter().filter(|process| process.run == main.run);
        let workers = own.filter_map(|process| Some((process.worker?, process.pid)));
        (main.run, (main.pid, workers.collect::<BTreeMap<_, _>>()))
    });
    families
        .filter(|(_, (_, workers))| workers.len() >= 2)
        .collect()
}

mod proc {
    use std::fs;

    use super::{MAX_DESCRIPTORS, NO_DATA, OpenFile};

    /// Returns the open file descriptors of a process beyond the standard streams.
    pub fn descriptors(pid: u64) -> impl Iterator<Item = u32> {
        let entries = fs::read_dir(format!("/proc/{pid}/fd"))
            .into_iter()
            .flatten();
        let numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        numbers.filter(|n| *n > 2).take(MAX_DESCRIPTORS)
    }

    /// Returns the open file of a descriptor, if it is a data file that is open only for reading.
    pub fn data_file(pid: u64, descriptor: u32) -> Option<OpenFile> {
        let path = path(pid, descriptor)?;
        let is_data = path.starts_with('/') && !NO_DATA.iter().any(|no| path.starts_with(no));
        let (_, file) = is_data.then(|| open_file(pid, descriptor, path))??;
        // The last two bits are the access mode.
        (file.flags & 3 == 0).then_some(file)
    }

    /// Returns the position of an open file in a process. Returns `None` if the descriptor is closed or another file.
    pub fn position(pid: u64, file: &OpenFile) -> Option<u64> {
        let path = path(pid, file.descriptor)?;
        let (position, found) = open_file(pid, file.descriptor, path)?;
        (found == *file).then_some(position)
    }

    /// Returns the number of `read` calls of all threads of a process.
    pub fn reads(pid: u64) -> Option<u64> {
        let text = fs::read_to_string(format!("/proc/{pid}/io")).ok()?;
        field(&text, "syscr:", 10)
    }

    fn path(pid: u64, descriptor: u32) -> Option<String> {
        // No call here opens or inspects the file itself: a file system that does not answer would block.
        let path = fs::read_link(format!("/proc/{pid}/fd/{descriptor}")).ok()?;
        Some(path.to_string_lossy().into_owned())
    }

    fn open_file(pid: u64, descriptor: u32, path: String) -> Option<(u64, OpenFile)> {
        let text = fs::read_to_string(format!("/proc/{pid}/fdinfo/{descriptor}")).ok()?;
        let file = OpenFile {
            descriptor,
            path,
            mount: field(&text, "mnt_id:", 10)?,
            flags: field(&text, "flags:", 8)?,
        };
        Some((field(&text, "pos:", 10)?, file))
    }

    fn field(text: &str, name: &str, radix: u32) -> Option<u64> {
        let value = text.lines().find_map(|line| line.strip_prefix(name))?;
        u64::from_str_radix(value.trim(), radix).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a reading of two workers, while the main process is at `main`.
    fn reading(reads: u64, main: u64, workers: [u64; 2]) -> Reading {
        Reading {
            reads: Some(reads),
            workers: (0..).zip(workers.map(Some)).collect(),
            main: vec![main; 3],
        }
    }

    fn sharing(readings: impl IntoIterator<Item = Reading>) -> Option<Vec<WorkerId>> {
        let mut evidence = Evidence::default();
        readings.into_iter().for_each(|one| evidence.add(&one));
        evidence.sharing()
    }

    #[test]
    fn workers_that_move_with_the_idle_main_process_share_its_position() {
        let together = |step: u64| reading(7, 64 * step, [64 * step; 2]);
        assert_eq!(sharing((0..4).map(together)), Some(vec![0, 1]));
        assert_eq!(sharing((0..3).map(together)), None);
        let alone = |step: u64| reading(7, 64 * step, [64 * step, 5]);
        assert_eq!(sharing((0..99).map(alone)), None);
        // One of three workers has opened the file again.
        let two = |step: u64| Reading {
            workers: vec![(0, Some(64 * step)), (1, Some(step)), (3, Some(64 * step))],
            main: vec![64 * step; 4],
            reads: Some(7),
        };
        assert_eq!(sharing((0..5).map(two)), Some(vec![0, 3]));
    }

    #[test]
    fn moves_of_the_main_process_prove_nothing() {
        let steps = (0..99u64).map(|step| reading(step / 3, 64 * step, [64 * step; 2]));
        assert_eq!(sharing(steps), None);
        let unknown = (0..99u64).map(|step| Reading {
            reads: None,
            ..reading(0, 64 * step, [64 * step; 2])
        });
        assert_eq!(sharing(unknown), None);
    }

    #[test]
    fn positions_of_different_instants_are_not_compared() {
        let moving = |step: u64| Reading {
            main: vec![64 * step, 64 * step + 8, 64 * step + 8],
            ..reading(7, 0, [64 * step, 64 * step + 8])
        };
        // The position moved while it was read in worker 0.
        assert_eq!(sharing((0..9).map(moving)), None);
        let resting = |step: u64| reading(8, step, [step; 2]);
        let all = (0..9).map(moving).chain((0..3).map(resting));
        assert_eq!(sharing(all), Some(vec![0, 1]));
    }

    /// Processes that each read a small file as a whole are at its start or its end.
    #[test]
    fn two_common_positions_are_a_coincidence() {
        let steps = (0..99u64).map(|step| reading(7, step % 2 * 900, [step % 2 * 900; 2]));
        assert_eq!(sharing(steps), None);
    }

    #[test]
    fn the_search_uses_at_most_half_a_percent_of_a_core() {
        let start = Instant::now();
        let mut search = SharedFiles {
            first: Some(start),
            last: Some(start),
            ..SharedFiles::default()
        };
        assert!(!search.is_due(start + Duration::from_millis(999)));
        assert!(search.is_due(start + EVERY));
        let file = OpenFile {
            descriptor: 7,
            path: "/data/a.tar".to_owned(),
            mount: 1,
            flags: 0,
        };
        search
            .candidates
            .insert((RunId(0), file), Evidence::default());
        let mut took = 0;
        for step in 0..150_000u64 {
            if search.is_due(start + Duration::from_millis(4 * step)) {
                search.took += Duration::from_millis(1);
                took += 1;
            }
        }
        // Half a percent of ten minutes, and the time ahead.
        assert!((3000..=3202).contains(&took), "{took} ms");
    }
}
