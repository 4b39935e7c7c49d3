//! Memory: what workers copy of the main process, what grows without an end, and what is nearly used up.

use super::resources::least;
use super::{Evidence, Finding, FindingId, Severity, Survey};
use loadscope_trace::{GaugeKind, Lane, Nanos, Run, WorkerId, bytes, plural};
use loadscope_words::say;

/// Less than this is no trouble on any host, bytes.
const MUCH: f64 = 64.0 * 1024.0 * 1024.0;
/// From this share of what all processes take on, copies are a warning.
const LARGE_SHARE: f64 = 0.1;

/// Memory of a process at a moment, bytes.
#[derive(Clone, Copy, Debug)]
struct Held {
    at: Nanos,
    /// In pages that it has for itself.
    own: f64,
    /// In pages that others have, too.
    shared: f64,
}

/// What is known of a process, life by life: a worker of the next epoch is another process.
fn lives(run: &Run, lane: Lane) -> Vec<Vec<Held>> {
    let series = |what| run.gauge(Some(lane), what);
    let (Some(own), Some(all)) = (series(GaugeKind::Uss), series(GaugeKind::Rss)) else {
        return Vec::new();
    };
    let mut lives: Vec<Vec<Held>> = vec![Vec::new()];
    for (at, own) in own.points() {
        let all = all.at(*at).filter(|all| all.is_finite());
        let Some(all) = all.filter(|_| own.is_finite()) else {
            lives.push(Vec::new());
            continue;
        };
        let held = Held {
            at: *at,
            own: *own,
            shared: (all - own).max(0.0),
        };
        let life = lives.last_mut().filter(|life| match life.last() {
            // Half of it is gone at once: that is another process.
            Some(before) => held.own > before.own / 2.0,
            None => true,
        });
        match life {
            Some(life) => life.push(held),
            None => lives.push(vec![held]),
        }
    }
    lives.retain(|life| life.len() > 1);
    lives
}

/// What a process copied of pages that it shared: they became its own, and it has no more pages than before.
fn copied(life: &[Held]) -> f64 {
    let Some(first) = life.first() else {
        return 0.0;
    };
    let of = |held: &Held| (held.own - first.own).min(first.shared - held.shared);
    life.iter().map(of).fold(0.0, f64::max)
}

fn workers(run: &Run) -> impl Iterator<Item = WorkerId> + '_ {
    run.gauges().filter_map(|(lane, what, _)| match lane {
        Some(Lane::Worker(worker)) if what == GaugeKind::Uss => Some(worker),
        _ => None,
    })
}

/// Workers copy what the main process had in memory when they were started.
pub(super) fn copy_on_write(survey: &Survey) -> Option<Finding> {
    let run = survey.run;
    let copies = workers(run).map(|worker| {
        let lives = lives(run, Lane::Worker(worker));
        let most = lives.iter().map(|life| copied(life)).fold(0.0, f64::max);
        (worker, most)
    });
    let copies: Vec<(WorkerId, f64)> = copies.filter(|(_, copied)| *copied > 0.0).collect();
    let total: f64 = copies.iter().map(|(_, copied)| copied).sum();
    let (worst, most) = copies.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1))?;
    if total < MUCH {
        return None;
    }
    let held = peak(run).unwrap_or(total).max(total);
    Some(Finding {
        id: FindingId::CopyOnWrite,
        text: say!(
            "{} copied {} of the main process's memory, up to {} each (copy-on-write). Reading a Python object changes its reference count, which copies its memory page.",
            plural(copies.len() as u64, say!(n: "worker"), say!(n: "workers")),
            bytes(total),
            bytes(most),
        ),
        severity: match total >= held * LARGE_SHARE {
            true => Severity::Warning,
            false => Severity::Note,
        },
        evidence: Evidence::Worker(worst),
        remedy: say!("Store the data in a few large objects (NumPy arrays, tensors, Arrow tables), not in Python lists and dicts. Store strings as one byte array with offsets.")
            .to_owned(),
        cost: None,
    })
}

/// The memory of a process grows, and goes on growing.
pub(super) fn growth(survey: &Survey) -> Option<Finding> {
    let run = survey.run;
    let lanes = run.gauges().filter_map(|(lane, what, _)| match lane {
        Some(lane) if what == GaugeKind::Uss => Some(lane),
        _ => None,
    });
    let growing: Vec<(Lane, Growth)> = lanes
        .filter_map(|lane| {
            let lives = lives(run, lane);
            let growths = lives.iter().filter_map(|life| Growth::of(life));
            let most = growths.max_by(|a, b| a.more().total_cmp(&b.more()))?;
            Some((lane, most))
        })
        .collect();
    let (lane, most) = growing
        .iter()
        .copied()
        .max_by(|a, b| a.1.more().total_cmp(&b.1.more()))?;
    let rate: f64 = growing.iter().map(|(_, growth)| growth.rate).sum();
    let left = last(run, GaugeKind::MemoryLeft);
    let lasts = left.map_or(String::new(), |left| {
        let time = Nanos::from_secs_f64((left / rate).min(1e9));
        say!(". At this rate, the host runs out of memory in {time}.")
    });
    Some(Finding {
        id: FindingId::MemoryGrowth,
        text: say!(
            "The memory of {} grew from {} to {} in {} and is still growing by {} per minute{}{lasts}",
            name(lane),
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

/// Growth that does not end.
#[derive(Clone, Copy, Debug)]
struct Growth {
    first: f64,
    last: f64,
    time: Nanos,
    /// Bytes a second, in the later half.
    rate: f64,
}

impl Growth {
    /// Fewer looks, or a shorter time, may be the beginning of anything.
    const LOOKS: usize = 8;
    const TIME: Nanos = Nanos::from_millis(15_000);
    /// So much of the growth is in the later half, at least.
    const LATE: f64 = 0.3;
    /// It is so many times as large as in the beginning, at least.
    const TIMES: f64 = 1.25;

    fn of(life: &[Held]) -> Option<Self> {
        let (first, last) = (life.first()?, life.last()?);
        let middle = life.get(life.len() / 2)?;
        let time = last.at - first.at;
        let own = last.own - copied(life);
        let (more, late) = (own - first.own, last.own - middle.own);
        let quarters = life.chunks(life.len().div_ceil(4));
        let lowest = quarters.map(|q| q.iter().map(|h| h.own).fold(f64::MAX, f64::min));
        let lowest: Vec<f64> = lowest.collect();
        let grows = lowest.windows(2).all(|w| w[1] > w[0]);
        let is_long = life.len() >= Self::LOOKS && time >= Self::TIME;
        let is_much = more >= MUCH * 2.0 && own >= first.own * Self::TIMES;
        let goes_on = grows && late >= more * Self::LATE;
        (is_long && is_much && goes_on).then(|| Self {
            first: first.own,
            last: last.own,
            time,
            rate: late / (last.at - middle.at).as_secs_f64().max(1e-9),
        })
    }

    fn more(&self) -> f64 {
        self.last - self.first
    }
}

/// Hardly any memory is left.
pub(super) fn nearly_full(survey: &Survey) -> Option<Finding> {
    /// So little is left, as a share of what the program has.
    const LITTLE: f64 = 0.1;
    let run = survey.run;
    let (at, least) = least(run, GaugeKind::MemoryLeft)?;
    let held = peak(run)?;
    if least > held * LITTLE {
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
            survey.say(at),
            bytes(held)
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

/// The most that all processes took together, bytes.
fn peak(run: &Run) -> Option<f64> {
    let all = run.gauge(None, GaugeKind::Pss)?;
    all.highest(Nanos(i64::MIN), Nanos::MAX)
}

/// The last value that was measured of the whole program.
fn last(run: &Run, what: GaugeKind) -> Option<f64> {
    let mut points = run.gauge(None, what)?.points().iter().rev();
    points
        .find(|(_, value)| value.is_finite())
        .map(|(_, value)| *value)
}

fn name(lane: Lane) -> String {
    match lane {
        Lane::Worker(worker) => say!("worker {worker}"),
        _ => say!("the main process").to_owned(),
    }
}
