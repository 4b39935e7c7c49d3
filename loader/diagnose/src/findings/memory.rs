//! Memory: copy-on-write in workers, memory leaks, and hosts that run out of memory.

use super::resources::least;
use super::{Evidence, Finding, FindingId, Severity, Survey};
use loadscope_trace::{Fact, GaugeKind, Lane, Nanos, Run, WorkerId, bytes, count, plural};
use loadscope_words::say;

/// Minimum size of all copies, bytes: 64 MiB. Less is harmless on any host. Growth must reach twice this size.
const MIN_SIZE: f64 = 64.0 * 1024.0 * 1024.0;
/// Minimum share of the copies in the memory of all processes for a warning.
const MIN_WARNING_SHARE: f64 = 0.1;

/// Memory of a process at an instant, bytes.
#[derive(Clone, Copy, Debug)]
struct Memory {
    at: Nanos,
    /// Memory in pages that only this process uses (USS).
    own: f64,
    /// Memory in pages that other processes share (RSS minus USS).
    shared: f64,
}

/// Returns the memory measurements of a lane, one list per process: a worker of the next epoch is a new process. Empty without measurements
/// of USS and RSS. Processes with a single measurement are not included.
fn processes(run: &Run, lane: Lane) -> Vec<Vec<Memory>> {
    let series = |what| run.gauge(Some(lane), what);
    let (Some(own), Some(all)) = (series(GaugeKind::Uss), series(GaugeKind::Rss)) else {
        return Vec::new();
    };
    let mut processes: Vec<Vec<Memory>> = vec![Vec::new()];
    for (at, own) in own.points() {
        let all = all.at(*at).filter(|all| all.is_finite());
        let Some(all) = all.filter(|_| own.is_finite()) else {
            processes.push(Vec::new());
            continue;
        };
        let memory = Memory {
            at: *at,
            own: *own,
            shared: (all - own).max(0.0),
        };
        let current = processes.last_mut().filter(|list| match list.last() {
            // A drop by half or more between two measurements means a new process.
            Some(before) => memory.own > before.own / 2.0,
            None => true,
        });
        match current {
            Some(list) => list.push(memory),
            None => processes.push(vec![memory]),
        }
    }
    processes.retain(|list| list.len() > 1);
    processes
}

/// Returns the memory that a process copied by copy-on-write, bytes: the part of its shared memory that became its own memory.
fn copied(process: &[Memory]) -> f64 {
    let Some(first) = process.first() else {
        return 0.0;
    };
    let copied_by = |memory: &Memory| (memory.own - first.own).min(first.shared - memory.shared);
    process.iter().map(copied_by).fold(0.0, f64::max)
}

/// Returns the workers with memory measurements.
fn workers(run: &Run) -> impl Iterator<Item = WorkerId> + '_ {
    run.gauges().filter_map(|(lane, what, _)| match lane {
        Some(Lane::Worker(worker)) if what == GaugeKind::Uss => Some(worker),
        _ => None,
    })
}

/// Finds workers that copy memory of the main process (copy-on-write).
pub(super) fn copy_on_write(survey: &Survey) -> Option<Finding> {
    let run = survey.run;
    let copies = workers(run).map(|worker| {
        let processes = processes(run, Lane::Worker(worker));
        let most = processes.iter().map(|p| copied(p)).fold(0.0, f64::max);
        (worker, most)
    });
    let copies: Vec<(WorkerId, f64)> = copies.filter(|(_, copied)| *copied > 0.0).collect();
    let total: f64 = copies.iter().map(|(_, copied)| copied).sum();
    let (worst, most) = copies.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1))?;
    if total < MIN_SIZE {
        return None;
    }
    let used = peak(run).unwrap_or(total).max(total);
    Some(Finding {
        id: FindingId::CopyOnWrite,
        text: format!("{}{}", say!(
            "{} copied {} of the main process's memory, up to {} each (copy-on-write). Reading a Python object changes its reference count, which copies its memory page.",
            plural(copies.len() as u64, say!(n: "worker"), say!(n: "workers")),
            bytes(total),
            bytes(most),
        ), objects(run).unwrap_or_default()),
        severity: match total >= used * MIN_WARNING_SHARE {
            true => Severity::Warning,
            false => Severity::Note,
        },
        evidence: Evidence::Worker(worst),
        remedy: say!("Store the data in a few large objects (NumPy arrays, tensors, Arrow tables), not in Python lists and dicts. Store strings as one byte array with offsets.")
            .to_owned(),
        cost: None,
    })
}

/// Returns a sentence with the attribute that has most of the Python objects of the dataset. Returns `None` if no attribute was reported.
fn objects(run: &Run) -> Option<String> {
    run.facts().iter().rev().find_map(|(_, fact)| match fact {
        Fact::Objects { attribute, objects } => Some(say!(
            " Most Python objects of the dataset are in its attribute `{attribute}`: about {}.",
            count(*objects)
        )),
        _ => None,
    })
}

/// Finds processes whose memory keeps growing, as with a memory leak.
pub(super) fn growth(survey: &Survey) -> Option<Finding> {
    let run = survey.run;
    let lanes = run.gauges().filter_map(|(lane, what, _)| match lane {
        Some(lane) if what == GaugeKind::Uss => Some(lane),
        _ => None,
    });
    let growing: Vec<(Lane, Growth)> = lanes
        .filter_map(|lane| {
            let processes = processes(run, lane);
            let growths = processes.iter().filter_map(|p| Growth::of(p));
            let most = growths.max_by(|a, b| a.increase().total_cmp(&b.increase()))?;
            Some((lane, most))
        })
        .collect();
    let (lane, most) = growing
        .iter()
        .copied()
        .max_by(|a, b| a.1.increase().total_cmp(&b.1.increase()))?;
    let rate: f64 = growing.iter().map(|(_, growth)| growth.rate).sum();
    let left = latest(run, GaugeKind::MemoryLeft);
    let lasts = left.map_or(String::new(), |left| {
        let time = Nanos::from_secs_f64((left / rate).min(1e9));
        say!(". At this rate, the host runs out of memory in {time}.")
    });
    Some(Finding {
        id: FindingId::MemoryGrowth,
        text: say!(
            "The memory of {} grew from {} to {} in {} and is still growing by {} per minute{}{lasts}",
            lane_name(lane),
            bytes(most.first),
            bytes(most.last),
            most.time,
            bytes(rate * 60.0),
            match growing.len() {
                1 => String::new(),
                n => say!(" in all {n} growing processes"),
            },
        ),
        severity: Severity::Warning,
        evidence: match lane {
            Lane::Worker(worker) => Evidence::Worker(worker),
            _ => Evidence::Run,
        },
        remedy: match lane {
            Lane::Worker(_) => {
                say!("Find the objects that __getitem__ or collate_fn keeps between samples, such as an unbounded cache, a growing list or open files. persistent_workers=False frees them after each epoch.")
            }
            _ => {
                say!("Find the objects that the training loop keeps between steps, such as losses summed with their graph (use loss.item() or loss.detach()) or a list of outputs")
            }
        }
        .to_owned(),
        cost: None,
    })
}

/// Growth of a process's own memory (USS) that continues until its last measurement.
#[derive(Clone, Copy, Debug)]
struct Growth {
    /// First measurement, bytes.
    first: f64,
    /// Last measurement, bytes.
    last: f64,
    /// Time from the first to the last measurement.
    time: Nanos,
    /// Growth rate in the second half, bytes per second.
    rate: f64,
}

impl Growth {
    /// Minimum number of measurements. With fewer, the growth may be the start-up of the process.
    const MIN_MEASUREMENTS: usize = 8;
    /// Minimum time from the first to the last measurement, for the same reason.
    const MIN_TIME: Nanos = Nanos::from_millis(15_000);
    /// Minimum share of the growth that is in the second half.
    const MIN_LATE_SHARE: f64 = 0.3;
    /// Minimum ratio of the last to the first measurement.
    const MIN_RATIO: f64 = 1.25;

    /// Returns the growth of a process, without copy-on-write. Returns `None` if its memory does not keep growing.
    fn of(process: &[Memory]) -> Option<Self> {
        let (first, last) = (process.first()?, process.last()?);
        let middle = process.get(process.len() / 2)?;
        let time = last.at - first.at;
        let own = last.own - copied(process);
        let (more, late) = (own - first.own, last.own - middle.own);
        let quarters = process.chunks(process.len().div_ceil(4));
        let lowest = quarters.map(|q| q.iter().map(|h| h.own).fold(f64::MAX, f64::min));
        let lowest: Vec<f64> = lowest.collect();
        let grows = lowest.windows(2).all(|w| w[1] > w[0]);
        let is_long = process.len() >= Self::MIN_MEASUREMENTS && time >= Self::MIN_TIME;
        let is_much = more >= MIN_SIZE * 2.0 && own >= first.own * Self::MIN_RATIO;
        let continues = grows && late >= more * Self::MIN_LATE_SHARE;
        (is_long && is_much && continues).then(|| Self {
            first: first.own,
            last: last.own,
            time,
            rate: late / (last.at - middle.at).as_secs_f64().max(1e-9),
        })
    }

    /// Returns the growth from the first to the last measurement, bytes.
    fn increase(&self) -> f64 {
        self.last - self.first
    }
}

/// Finds a host or container that nearly ran out of memory.
pub(super) fn nearly_full(survey: &Survey) -> Option<Finding> {
    /// Maximum free memory, as a share of the program's peak memory.
    const MAX_FREE_SHARE: f64 = 0.1;
    let run = survey.run;
    let (at, least) = least(run, GaugeKind::MemoryLeft)?;
    let used = peak(run)?;
    if least > used * MAX_FREE_SHARE {
        return None;
    }
    let each = workers(run).filter_map(|worker| {
        let own = run.gauge(Some(Lane::Worker(worker)), GaugeKind::Uss)?;
        own.highest(Nanos(i64::MIN), Nanos::MAX)
    });
    let each = each.reduce(f64::max);
    Some(Finding {
        id: FindingId::Memory,
        text: say!(
            "Only {} of memory was free at {} while the program used {}. When memory runs out, the system kills processes.",
            bytes(least),
            survey.format_time(at),
            bytes(used)
        ),
        severity: Severity::Warning,
        evidence: Evidence::Range(at, at),
        remedy: match each {
            Some(each) => say!(
                "Use fewer workers (each uses up to {}), a smaller prefetch_factor or smaller batches",
                bytes(each)
            ),
            None => say!("Use smaller batches, or a dataset that keeps less in memory").to_owned(),
        },
        cost: None,
    })
}

/// Returns the peak memory of all processes together (PSS), bytes. Returns `None` if it was not measured.
fn peak(run: &Run) -> Option<f64> {
    let all = run.gauge(None, GaugeKind::Pss)?;
    all.highest(Nanos(i64::MIN), Nanos::MAX)
}

/// Returns the last measured value of a gauge of the whole program. Returns `None` if it was not measured.
fn latest(run: &Run, what: GaugeKind) -> Option<f64> {
    let mut points = run.gauge(None, what)?.points().iter().rev();
    points
        .find(|(_, value)| value.is_finite())
        .map(|(_, value)| *value)
}

/// Returns the name of a process in a sentence: `worker 1` or `the main process`.
fn lane_name(lane: Lane) -> String {
    match lane {
        Lane::Worker(worker) => say!("worker {worker}"),
        _ => say!("the main process").to_owned(),
    }
}
