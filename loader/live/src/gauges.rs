//! What the processes of a program use, read from outside: not one instruction of the program is spent on it.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use loadscope_trace::{Event, EventKind, Gauge, GaugeKind, Lane, Nanos, RunId};

use crate::Process;
use crate::join::lane;

/// How often processor use is looked at.
const EVERY: Duration = Duration::from_millis(100);

/// How often memory is: the system walks through all pages of a process for it, and holds its map meanwhile.
const MEMORY_EVERY: Duration = Duration::from_secs(1);

/// Of the time of a processor, looking at memory may take one part in this many.
const MEMORY_SHARE: u32 = 200;

/// Measures processes.
#[derive(Default)]
pub struct Gauges {
    looked: Option<Instant>,
    memory: Option<(Instant, Duration)>,
    spent: HashMap<u64, (Instant, f64)>,
}

impl Gauges {
    /// Measures, if it is time, and pushes what was measured at `at`.
    pub fn measure(&mut self, processes: &[Process], at: Nanos, out: &mut Vec<Event>) {
        let now = Instant::now();
        if self.looked.is_some_and(|before| now - before < EVERY) || processes.is_empty() {
            return;
        }
        self.looked = Some(now);
        let memory = self
            .memory
            .is_none_or(|(before, took)| now - before >= MEMORY_EVERY.max(took * MEMORY_SHARE));
        let mut totals: HashMap<(RunId, GaugeKind), f64> = HashMap::new();
        let mut tell = |run, lane: Option<Lane>, what, value: Option<f64>| {
            let Some(value) = value else { return };
            if lane.is_some() {
                out.push(gauge(at, run, lane, what, value));
            }
            *totals.entry((run, what)).or_default() += value;
        };
        for process in processes {
            let (run, lane) = (process.run, lane(process));
            tell(run, lane, GaugeKind::Cpu, self.cores(process.pid, now));
            if memory {
                tell(run, lane, GaugeKind::Pss, proc::pss(process.pid));
                tell(
                    run,
                    lane,
                    GaugeKind::Descriptors,
                    proc::descriptors(process.pid),
                );
            }
        }
        if memory {
            if let Some(shm) = proc::shared() {
                for run in processes
                    .iter()
                    .filter(|p| p.worker.is_none())
                    .map(|p| p.run)
                {
                    out.push(gauge(at, run, None, GaugeKind::Shm, shm));
                }
            }
            self.memory = Some((now, now.elapsed()));
        }
        out.extend(
            totals
                .into_iter()
                .map(|((run, what), value)| gauge(at, run, None, what, value)),
        );
        self.spent
            .retain(|pid, _| processes.iter().any(|p| p.pid == *pid));
    }

    /// Cores that a process used since the last look.
    fn cores(&mut self, pid: u64, now: Instant) -> Option<f64> {
        let spent = proc::seconds(pid)?;
        let (before, had) = self.spent.insert(pid, (now, spent))?;
        let passed = (now - before).as_secs_f64();
        // One that is asked for twice in a look, for two loaders, has no time in between.
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
    use std::os::unix::fs::MetadataExt as _;

    /// Processor time so far, seconds.
    pub fn seconds(pid: u64) -> Option<f64> {
        let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name of the program is in parentheses and may hold anything.
        let fields: Vec<&str> = text.rsplit_once(')')?.1.split_ascii_whitespace().collect();
        let ticks = |at: usize| fields.get(at)?.parse::<f64>().ok();
        Some((ticks(11)? + ticks(12)?) / ticks_per_second())
    }

    fn ticks_per_second() -> f64 {
        // SAFETY: sysconf reads no memory of ours.
        let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
        if ticks > 0 { ticks as f64 } else { 100.0 }
    }

    /// Proportional share of memory, bytes.
    pub fn pss(pid: u64) -> Option<f64> {
        let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
        let kib: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(kib * 1024.0)
    }

    /// Open file descriptors.
    pub fn descriptors(pid: u64) -> Option<f64> {
        Some(fs::read_dir(format!("/proc/{pid}/fd")).ok()?.count() as f64)
    }

    /// What PyTorch has in /dev/shm, bytes.
    pub fn shared() -> Option<f64> {
        let files = fs::read_dir("/dev/shm").ok()?;
        let ours = files
            .flatten()
            .filter(|f| f.file_name().to_string_lossy().starts_with("torch_"));
        Some(
            ours.filter_map(|f| f.metadata().ok())
                .map(|m| m.blocks() as f64 * 512.0)
                .sum(),
        )
    }
}

#[cfg(not(target_os = "linux"))]
mod proc {
    pub fn seconds(_: u64) -> Option<f64> {
        None
    }
    pub fn pss(_: u64) -> Option<f64> {
        None
    }
    pub fn descriptors(_: u64) -> Option<f64> {
        None
    }
    pub fn shared() -> Option<f64> {
        None
    }
}
