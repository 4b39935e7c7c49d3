//! Resource use of a program's processes, read from outside. The program spends no time on it.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use loadscope_trace::{Event, EventKind, Gauge, GaugeKind, Lane, Nanos, RunId};

use crate::Process;
use crate::join::lane;

mod available;
mod host;

/// Interval of CPU measurements.
const EVERY: Duration = Duration::from_millis(100);

/// Interval of memory measurements. The kernel walks all pages of the process and holds its `mmap` lock meanwhile.
const MEMORY_EVERY: Duration = Duration::from_secs(1);

/// Inverse of the maximum share of a core for memory measurements.
const MEMORY_SHARE: u32 = 200;

/// Time for memory measurements beyond that share, so that short programs are measured too.
const MEMORY_AHEAD: Duration = Duration::from_millis(200);

/// Memory of a process, bytes. `None` if the system does not report it.
#[derive(Clone, Copy, Debug, Default)]
struct Memory {
    /// Resident set size: all pages.
    rss: Option<f64>,
    /// Proportional set size: shared pages are divided by the number of their processes.
    pss: Option<f64>,
    /// Unique set size: pages that no other process shares.
    uss: Option<f64>,
}

/// Start, last time and total duration of the memory measurements.
#[derive(Clone, Copy, Debug)]
struct MemoryBudget {
    first: Instant,
    last: Instant,
    took: Duration,
}

impl MemoryBudget {
    fn from(now: Instant) -> Self {
        Self {
            first: now,
            last: now,
            took: Duration::ZERO,
        }
    }

    fn add(self, at: Instant, took: Duration) -> Self {
        Self {
            last: at,
            took: self.took + took,
            ..self
        }
    }

    /// Returns true if a measurement is due or a process is new, and the share of a core is not used up.
    fn may_measure(self, now: Instant, is_new: bool) -> bool {
        let is_time = is_new || now - self.last >= MEMORY_EVERY;
        is_time && self.took <= MEMORY_AHEAD + (now - self.first) / MEMORY_SHARE
    }
}

/// Measurement of processes.
#[derive(Default)]
pub struct Gauges {
    last: Option<Instant>,
    /// Memory measurements so far.
    memory: Option<MemoryBudget>,
    /// Processes whose memory was measured.
    known: HashSet<u64>,
    spent: HashMap<u64, (Instant, f64)>,
    host: host::Host,
    /// Gauges that currently have a value.
    emitted: HashSet<(RunId, Option<Lane>, GaugeKind)>,
}

impl Gauges {
    /// Measures if it is time, and appends the measurements with the time `at`.
    pub fn measure(&mut self, processes: &[Process], at: Nanos, out: &mut Vec<Event>) {
        let now = Instant::now();
        if self.last.is_some_and(|before| now - before < EVERY) {
            return;
        }
        self.last = Some(now);
        // An immediate measurement of a new process is the baseline for its later copy-on-write.
        let is_new = || processes.iter().any(|p| !self.known.contains(&p.pid));
        let memory = self
            .memory
            .is_none_or(|budget| budget.may_measure(now, is_new()));
        // A process can belong to several loaders.
        let mut cores: HashMap<u64, Option<f64>> = HashMap::new();
        let mut found: HashMap<(RunId, Option<Lane>, GaugeKind), f64> = HashMap::new();
        for process in processes {
            let (run, lane) = (process.run, lane(process));
            let used = cores.entry(process.pid);
            let mut values = vec![(
                GaugeKind::Cpu,
                *used.or_insert_with(|| self.cores(process.pid, now)),
            )];
            if memory {
                let held = proc::memory(process.pid).unwrap_or_default();
                values.push((GaugeKind::Pss, held.pss));
                // Sums of RSS or USS have no meaning: shared pages would count several times, or not at all.
                let of = Some(lane.unwrap_or(Lane::Trainer));
                for (what, value) in [(GaugeKind::Rss, held.rss), (GaugeKind::Uss, held.uss)] {
                    found.extend(value.map(|value| ((run, of, what), value)));
                }
                if lane.is_none() {
                    found.extend(held.pss.map(|value| ((run, of, GaugeKind::Pss), value)));
                }
                values.push((GaugeKind::Descriptors, proc::descriptors(process.pid)));
            }
            for (what, value) in values {
                let Some(value) = value else { continue };
                if lane.is_some() {
                    found.insert((run, lane, what), value);
                }
                *found.entry((run, None, what)).or_default() += value;
            }
        }
        if memory {
            for main in processes.iter().filter(|p| p.worker.is_none()) {
                let shared = proc::shared();
                let all = [
                    (GaugeKind::Shm, shared.map(|(used, _)| used)),
                    (GaugeKind::ShmLeft, shared.map(|(_, left)| left)),
                    (GaugeKind::MemoryLeft, available::memory(main.pid)),
                ];
                let known = all.into_iter().filter_map(|(what, v)| Some((what, v?)));
                found.extend(known.map(|(what, value)| ((main.run, None, what), value)));
            }
            let before = self.memory.unwrap_or(MemoryBudget::from(now));
            self.memory = Some(before.add(now, now.elapsed()));
            self.known = processes.iter().map(|p| p.pid).collect();
        }
        self.end_missing(&found, memory, at, out);
        let mains = processes.iter().filter(|p| p.worker.is_none());
        let mut pids: Vec<u64> = mains.clone().map(|p| p.pid).collect();
        pids.sort_unstable();
        pids.dedup();
        if let Some(others) = self.host.other_cores(&pids, now) {
            out.extend(mains.map(|p| gauge(at, p.run, None, GaugeKind::OtherCpu, others)));
        }
        for ((run, lane, what), value) in found {
            self.emitted.insert((run, lane, what));
            out.push(gauge(at, run, lane, what, value));
        }
        self.spent
            .retain(|pid, _| processes.iter().any(|p| p.pid == *pid));
    }

    /// Ends the gauges that have no new value, because their processes have ended.
    fn end_missing(
        &mut self,
        found: &HashMap<(RunId, Option<Lane>, GaugeKind), f64>,
        memory: bool,
        at: Nanos,
        out: &mut Vec<Event>,
    ) {
        self.emitted.retain(|key| {
            let (run, lane, what) = *key;
            let was_looked_for = memory || what == GaugeKind::Cpu;
            let is_over = was_looked_for && !found.contains_key(key);
            if is_over {
                out.push(gauge(at, run, lane, what, f64::NAN));
            }
            !is_over
        });
    }

    /// Returns the cores that a process used since the last measurement.
    fn cores(&mut self, pid: u64, now: Instant) -> Option<f64> {
        let spent = proc::seconds(pid)?;
        let (before, had) = self.spent.insert(pid, (now, spent))?;
        let passed = (now - before).as_secs_f64();
        (passed > 0.0).then(|| ((spent - had) / passed).max(0.0))
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

#[cfg(target_os = "linux")]
mod proc {
    use std::fs;

    use super::Memory;

    /// Returns the CPU time so far, s.
    pub fn seconds(pid: u64) -> Option<f64> {
        let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The process name in parentheses can contain any character.
        let fields: Vec<&str> = text.rsplit_once(')')?.1.split_ascii_whitespace().collect();
        let ticks = |at: usize| fields.get(at)?.parse::<f64>().ok();
        Some((ticks(11)? + ticks(12)?) / ticks_per_second())
    }

    pub(super) fn ticks_per_second() -> f64 {
        rustix::param::clock_ticks_per_second() as f64
    }

    /// Reads the memory of a process.
    pub fn memory(pid: u64) -> Option<Memory> {
        let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
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
    pub fn descriptors(pid: u64) -> Option<f64> {
        Some(fs::read_dir(format!("/proc/{pid}/fd")).ok()?.count() as f64)
    }

    /// Returns used and free bytes of `/dev/shm`. PyTorch unlinks its files there after mapping, so the used bytes are of all programs.
    pub fn shared() -> Option<(f64, f64)> {
        let of = rustix::fs::statvfs(c"/dev/shm").ok()?;
        let block = of.f_frsize as f64;
        let used = of.f_blocks.saturating_sub(of.f_bfree) as f64 * block;
        // A file system of size 0 is not a separate one.
        (of.f_blocks > 0).then_some((used, of.f_bavail as f64 * block))
    }
}

#[cfg(not(target_os = "linux"))]
mod proc {
    pub fn seconds(_: u64) -> Option<f64> {
        None
    }
    pub fn memory(_: u64) -> Option<super::Memory> {
        None
    }
    pub fn descriptors(_: u64) -> Option<f64> {
        None
    }
    pub fn shared() -> Option<(f64, f64)> {
        None
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::Command;

    use super::*;

    fn looked(gauges: &mut Gauges, processes: &[Process]) -> Vec<(RunId, Option<Lane>, f64)> {
        std::thread::sleep(EVERY);
        let mut out = Vec::new();
        gauges.measure(processes, Nanos(1), &mut out);
        let cpu = out.into_iter().filter_map(|event| match event.kind {
            EventKind::Gauge(g) if g.what == GaugeKind::Cpu => Some((event.run, g.lane, g.value)),
            _ => None,
        });
        cpu.collect()
    }

    #[test]
    fn memory_is_read_each_second_within_its_cpu_share() {
        let start = Instant::now();
        let mut budget = MemoryBudget::from(start).add(start, Duration::from_millis(30));
        let (mut many, mut took) = (1, 30);
        for step in 1..6000u64 {
            let now = start + Duration::from_millis(100 * step);
            // A new process starts every ten seconds.
            if budget.may_measure(now, step % 100 == 0) {
                assert!(step < 20 || now - budget.last >= MEMORY_EVERY || step % 100 == 0);
                budget = budget.add(now, Duration::from_millis(30));
                (many, took) = (many + 1, took + 30);
            }
            if step == 40 {
                assert_eq!(many, 5, "one a second at first, whatever a look takes");
            }
        }
        // The simulated measurements cover ten minutes.
        assert!((2800..=3260).contains(&took), "{took} ms, {many} looks");
        let cheap = MemoryBudget::from(start).add(start, Duration::from_millis(1));
        assert!(!cheap.may_measure(start + Duration::from_millis(900), false));
        assert!(cheap.may_measure(start + Duration::from_millis(100), true));
    }

    #[test]
    fn memory_gauges_include_rss_pss_uss_and_memory_left() {
        let pid = u64::from(std::process::id());
        let process = Process {
            pid,
            run: RunId(0),
            worker: None,
        };
        let mut out = Vec::new();
        Gauges::default().measure(&[process], Nanos(1), &mut out);
        let value = |what| {
            let found = out.iter().rev().find_map(|event| match &event.kind {
                EventKind::Gauge(g) if g.what == what => Some(g.value),
                _ => None,
            });
            found.unwrap_or_else(|| panic!("no {what:?}"))
        };
        let (rss, pss, uss) = (
            value(GaugeKind::Rss),
            value(GaugeKind::Pss),
            value(GaugeKind::Uss),
        );
        assert!(uss > 0.0 && uss <= pss && pss <= rss, "{uss} {pss} {rss}");
        assert!(value(GaugeKind::MemoryLeft) > 0.0);
    }

    /// Regression test: counting files found nothing, because PyTorch unlinks its files after mapping.
    #[test]
    fn shared_memory_of_unlinked_files_is_counted() {
        const SIZE: usize = 8 << 20;
        let Some((before, _)) = proc::shared() else {
            return;
        };
        let mut file = tempfile::tempfile_in("/dev/shm").expect("a file without a name");
        std::io::Write::write_all(&mut file, &vec![1; SIZE]).expect("room");
        let (used, _) = proc::shared().expect("it was there before");
        // Other tests can use and free shared memory.
        assert!(used > before + SIZE as f64 / 2.0, "{before} {used}");
    }

    #[test]
    fn gauges_of_an_ended_process_are_nan() {
        let mut child = Command::new("sleep").arg("60").spawn().expect("it starts");
        let process = |run, worker| Process {
            pid: u64::from(child.id()),
            run: RunId(run),
            worker,
        };
        let worker = Some(0);
        let both = [process(0, worker), process(1, worker)];
        let mut gauges = Gauges::default();
        looked(&mut gauges, &both);
        let told = looked(&mut gauges, &both);
        // Two gauges per loader: its worker and all its processes.
        assert_eq!(told.len(), 4, "{told:?}");
        assert!(told.iter().all(|(_, _, value)| value.is_finite()));
        child.kill().expect("it is killed");
        child.wait().expect("it has ended");
        let told = looked(&mut gauges, &both);
        assert_eq!(told.len(), 4, "{told:?}");
        assert!(told.iter().all(|(_, _, value)| value.is_nan()));
        assert_eq!(looked(&mut gauges, &[]), []);
    }
}
