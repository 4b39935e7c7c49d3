//! Resource use of a program's processes, read from outside. The program spends no time on it.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use loadscope_trace::{Event, EventKind, Gauge, GaugeKind, Lane, Nanos, RunId};

use crate::Process;
use crate::join::lane;

mod available;
mod facts;
mod files;
#[cfg(target_os = "linux")]
mod gpu;
mod host;
mod proc;
mod threads;

/// Interval of CPU measurements.
const EVERY: Duration = Duration::from_millis(100);

/// Interval of memory measurements. The kernel walks all pages of the process and holds its `mmap` lock meanwhile.
const MEMORY_EVERY: Duration = Duration::from_secs(1);

/// Time before the first measurement of all processes.
const MEMORY_AFTER: Duration = Duration::from_millis(500);

/// Inverse of the maximum share of a core for memory measurements.
const MEMORY_SHARE: u32 = 200;

/// Time for memory measurements beyond that share, so that short programs are measured too.
const MEMORY_AHEAD: Duration = Duration::from_millis(60);

/// Total duration of the memory measurements, and the time of the next one of all processes.
#[derive(Clone, Copy, Debug)]
struct MemoryBudget {
    first: Instant,
    next: Instant,
    took: Duration,
}

impl MemoryBudget {
    fn from(now: Instant) -> Self {
        Self {
            first: now,
            next: now + MEMORY_AFTER,
            took: Duration::ZERO,
        }
    }

    /// Returns true if the share of a core is not used up.
    fn may_measure(self, now: Instant) -> bool {
        self.took <= MEMORY_AHEAD + (now - self.first) / MEMORY_SHARE
    }
}

/// Gauge of a run: of a lane or of the whole program.
type Key = (RunId, Option<Lane>, GaugeKind);

/// State of a process at its last measurement.
#[derive(Clone, Copy, Debug)]
struct Progress {
    at: Instant,
    cpu: f64,
    /// Time in which a measurement found its main thread blocked on I/O, s.
    blocked: f64,
}

/// Measurements that are due. Those of CPU time and of counters always are.
#[derive(Clone, Copy, Debug)]
struct Due {
    /// Memory of all processes.
    memory: bool,
    /// Memory of new processes: the baseline of their copy-on-write.
    memory_of_new: bool,
    threads: bool,
}

impl Due {
    fn includes(self, what: GaugeKind) -> bool {
        match what {
            GaugeKind::Cpu => true,
            GaugeKind::BusyThreads => self.threads,
            _ => self.memory || is_counter(what) || is_of_gpu(what),
        }
    }
}

/// Measurement of a process.
#[derive(Debug, Default)]
struct Measured {
    values: Vec<(GaugeKind, f64)>,
    /// True if its main thread is blocked on I/O.
    is_blocked: bool,
    /// Length of the measurement of its memory.
    memory_took: Duration,
    /// Length of the measurement of its threads.
    took: Duration,
}

/// Measurement of processes.
#[derive(Default)]
pub struct Gauges {
    last: Option<Instant>,
    /// Budget of memory measurements. `None`: before the first iterator.
    memory: Option<MemoryBudget>,
    /// Processes whose memory was measured.
    known: HashSet<u64>,
    progress: HashMap<u64, Progress>,
    threads: threads::Threads,
    facts: facts::Facts,
    host: host::Host,
    #[cfg(target_os = "linux")]
    gpu: gpu::Gpu,
    /// Gauges that currently have a value, with that value.
    emitted: HashMap<Key, f64>,
}

impl Gauges {
    /// Measures if it is time, and appends the measurements with the time `at`.
    pub fn measure(&mut self, processes: &[Process], at: Nanos, out: &mut Vec<Event>) {
        let now = Instant::now();
        if self.last.is_some_and(|before| now - before < EVERY) {
            return;
        }
        // The first iterator forks its workers now. The `mmap` lock would delay that, by 10 ms with PyTorch.
        let is_first = self.last.replace(now).is_none();
        let mut budget = *self.memory.get_or_insert(MemoryBudget::from(now));
        let memory_of_new = !is_first && budget.may_measure(now);
        let due = Due {
            memory: memory_of_new && now >= budget.next,
            memory_of_new,
            threads: self.threads.is_due(now),
        };
        // A process can belong to several loaders.
        let mut measured: HashMap<u64, Measured> = HashMap::new();
        let mut found: HashMap<Key, f64> = HashMap::new();
        for process in processes {
            let is_loading = loads(*process, processes);
            let of_process = measured.entry(process.pid).or_insert_with(|| {
                let is_new = is_loading && !self.known.contains(&process.pid);
                self.measure_process(process.pid, now, due, is_new)
            });
            add_values(*process, &of_process.values, due, &mut found);
            let is_pool = |v: &(GaugeKind, f64)| v.0 == GaugeKind::BusyThreads && v.1 >= 2.0;
            if of_process.values.iter().any(is_pool) {
                self.facts.find_pools(*process, at, out);
            }
            if of_process.is_blocked && is_loading {
                self.facts.find_storage(*process, at, out);
            }
        }
        if due.threads {
            let took = measured.values().map(|process| process.took).sum();
            self.threads.pause(now, took);
        }
        let mains = processes.iter().filter(|p| p.worker.is_none());
        if due.memory {
            for main in mains.clone() {
                let known = host_memory(main.pid).into_iter();
                found.extend(known.map(|(what, value)| ((main.run, None, what), value)));
            }
            budget.next = now + MEMORY_EVERY;
        }
        budget.took += measured.values().map(|of| of.memory_took).sum::<Duration>();
        self.memory = Some(budget);
        let mut pids: Vec<u64> = mains.clone().map(|p| p.pid).collect();
        pids.sort_unstable();
        pids.dedup();
        #[cfg(target_os = "linux")]
        for (what, value) in self.gpu.values(&pids, due.memory) {
            found.extend(mains.clone().map(|p| ((p.run, None, what), value)));
        }
        self.end_missing(&found, due, at, out);
        if let Some(others) = self.host.other_cores(&pids, now) {
            out.extend(
                mains
                    .clone()
                    .map(|p| gauge(at, p.run, None, GaugeKind::OtherCpu, others)),
            );
        }
        for (key, value) in found {
            let before = self.emitted.insert(key, value);
            let (run, lane, what) = key;
            // Such a value is valid until the next one.
            let is_kept = is_counter(what) || is_of_gpu(what);
            if !is_kept || before != Some(value) {
                out.push(gauge(at, run, lane, what, value));
            }
        }
        let is_running = |pid| measured.contains_key(&pid);
        self.progress.retain(|pid, _| is_running(*pid));
        self.threads.retain(is_running);
        self.known.retain(|pid| is_running(*pid));
    }

    /// Measures a process, as far as it is due.
    fn measure_process(&mut self, pid: u64, now: Instant, due: Due, is_new: bool) -> Measured {
        let stat = proc::stat(pid);
        let mut values = Vec::new();
        if let Some(stat) = stat {
            let before = self.progress.get(&pid);
            let passed = before.map_or(0.0, |before| (now - before.at).as_secs_f64());
            let blocked = if stat.is_blocked { passed } else { 0.0 };
            let progress = Progress {
                at: now,
                cpu: stat.cpu,
                blocked: blocked + before.map_or(0.0, |before| before.blocked),
            };
            let cores = before.filter(|_| passed > 0.0);
            let cores = cores.map(|before| ((stat.cpu - before.cpu) / passed).max(0.0));
            self.progress.insert(pid, progress);
            values.extend([
                (GaugeKind::Cpu, cores),
                (GaugeKind::MajorFaults, Some(stat.major_faults)),
                (GaugeKind::IoBlocked, Some(progress.blocked)),
                (GaugeKind::StorageRead, proc::storage_read(pid)),
            ]);
        }
        let start = Instant::now();
        if due.memory || (due.memory_of_new && is_new) {
            self.known.insert(pid);
            let held = proc::memory(pid).unwrap_or_default();
            values.extend([
                (GaugeKind::Rss, held.rss),
                (GaugeKind::Pss, held.pss),
                (GaugeKind::Uss, held.uss),
                (GaugeKind::Descriptors, proc::descriptors(pid)),
            ]);
        }
        let memory_took = start.elapsed();
        let start = Instant::now();
        if due.threads {
            values.push((GaugeKind::BusyThreads, self.threads.busy(pid)));
        }
        let took = start.elapsed();
        let known = values.into_iter().filter_map(|(what, v)| Some((what, v?)));
        Measured {
            values: known.collect(),
            is_blocked: stat.is_some_and(|stat| stat.is_blocked),
            memory_took,
            took,
        }
    }

    /// Ends the gauges that have no new value, because their processes have ended.
    fn end_missing(
        &mut self,
        found: &HashMap<Key, f64>,
        due: Due,
        at: Nanos,
        out: &mut Vec<Event>,
    ) {
        self.emitted.retain(|key, _| {
            let (run, lane, what) = *key;
            let is_over = due.includes(what) && !found.contains_key(key);
            if is_over {
                out.push(gauge(at, run, lane, what, f64::NAN));
            }
            !is_over
        });
    }
}

/// Returns the shared memory of the host, and the memory that a program can still allocate.
fn host_memory(pid: u64) -> Vec<(GaugeKind, f64)> {
    let shared = proc::shared();
    let all = [
        (GaugeKind::Shm, shared.map(|(used, _)| used)),
        (GaugeKind::ShmLeft, shared.map(|(_, left)| left)),
        (GaugeKind::MemoryLeft, available::memory(pid)),
    ];
    let known = all.into_iter().filter_map(|(what, v)| Some((what, v?)));
    known.collect()
}

/// Returns true for a worker, and for a main process without workers.
fn loads(process: Process, all: &[Process]) -> bool {
    let mut others = all.iter().filter(|p| p.run == process.run);
    process.worker.is_some() || others.all(|p| p.worker.is_none())
}

/// Returns true for a quantity that is counted from the start of a process. It is read at each measurement.
fn is_counter(what: GaugeKind) -> bool {
    matches!(
        what,
        GaugeKind::StorageRead | GaugeKind::MajorFaults | GaugeKind::IoBlocked
    )
}

fn is_of_gpu(what: GaugeKind) -> bool {
    matches!(what, GaugeKind::GpuBusy | GaugeKind::GpuMemory)
}

/// Adds the values of a process to the gauges of its run. Sums of memory include all processes.
fn add_values(
    process: Process,
    values: &[(GaugeKind, f64)],
    due: Due,
    found: &mut HashMap<Key, f64>,
) {
    let (run, lane) = (process.run, lane(&process));
    for (what, value) in values.iter().copied() {
        // Sums of RSS or USS have no meaning: shared pages would count several times, or not at all.
        let is_load = matches!(what, GaugeKind::Cpu | GaugeKind::Descriptors);
        let is_summed = what == GaugeKind::Cpu
            || due.memory && matches!(what, GaugeKind::Descriptors | GaugeKind::Pss);
        if is_summed {
            *found.entry((run, None, what)).or_default() += value;
        }
        if lane.is_some() || !is_load {
            found.insert((run, Some(lane.unwrap_or(Lane::Trainer)), what), value);
        }
    }
}

fn gauge(at: Nanos, run: RunId, lane: Option<Lane>, what: GaugeKind, value: f64) -> Event {
    Event {
        at,
        run,
        kind: EventKind::Gauge(Box::new(Gauge {
            lane,
            what,
            part: None,
            value,
        })),
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
