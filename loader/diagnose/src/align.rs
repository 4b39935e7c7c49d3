//! Puts recordings of several hosts onto one axis of time.
//!
//! Hosts have clocks of their own. Wall clocks agree as well as they are kept in step, which no recording tells. Ranks that
//! exchange gradients wait for each other at the end of every training step, though: where two of them ask for their next batch
//! in step with each other, that shows how far apart their clocks are, and how exactly that is known.

use std::collections::{BTreeMap, BTreeSet};

pub use loadscope_trace::{Clock, ClockBy};
use loadscope_trace::{Event, EventKind, Nanos, RunId, RunInfo};

/// Steps that two ranks must have in common.
const FEWEST_STEPS: usize = 8;
/// Steps that are looked at.
pub const MOST_STEPS: usize = 512;
/// Ranks are in step if 90 % of the steps end at the same time but for this share of a step.
const IN_STEP: f64 = 0.25;
/// Wall clocks that are further apart are believed to be wrong only if the steps of both also become longer and shorter together.
const LIKELY_OFF: i64 = 1_000_000_000;
/// How much together: the correlation of their lengths.
const TOGETHER: f64 = 0.8;
/// Recordings that begin further apart than this belong to different sessions.
const A_DAY: i64 = 86_400_000_000_000;

/// A loader that does the same on all ranks of a job: its dataset, how many ranks there are, and which of several like it.
type Job = (String, u32, usize);

/// What a recording tells about its place in time.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    /// Where it was made; empty if that is not known.
    host: String,
    /// The instant that its times count from, ns since 1970; `None` if it is not told.
    started: Option<i64>,
    /// When the trainers asked for batches, by loader and rank, with epoch and number in it.
    asked: BTreeMap<(Job, u32), BTreeMap<(u32, u32), i64>>,
    runs: BTreeMap<RunId, Seen>,
    introduced: BTreeSet<(Job, u32)>,
}

/// A run that was heard of.
#[derive(Clone, Debug)]
struct Seen {
    job: (Job, u32),
    epoch: u32,
    asked: u32,
    steps: usize,
}

impl Marks {
    /// Takes in an event. False once enough is known.
    pub fn take(&mut self, event: &Event) -> bool {
        match &event.kind {
            EventKind::RunStarted(info) => self.introduce(event.run, info),
            // The first steps are not told of, so others cannot be counted: its host and its clock say where it stands.
            EventKind::Retention(retention) => self.locate(&retention.info),
            EventKind::State(state) => {
                for event in &state.events {
                    if let EventKind::RunStarted(info) = &event.kind {
                        self.locate(info);
                    }
                }
            }
            EventKind::EpochStarted { epoch } => {
                if let Some(seen) = self.runs.get_mut(&event.run) {
                    (seen.epoch, seen.asked) = (*epoch, 0);
                }
            }
            EventKind::Consumer { waiting: true } => {
                if let Some(seen) = self.runs.get_mut(&event.run) {
                    // The first call of an epoch does not come after a step.
                    if seen.asked > 0 && seen.steps < MOST_STEPS {
                        let asked = self.asked.entry(seen.job.clone()).or_default();
                        asked.insert((seen.epoch, seen.asked), event.at.0);
                        seen.steps += 1;
                    }
                    seen.asked += 1;
                }
            }
            _ => {}
        }
        !self.runs.values().any(|seen| seen.steps >= MOST_STEPS)
    }

    fn locate(&mut self, info: &RunInfo) {
        if self.host.is_empty() {
            self.host.clone_from(&info.host);
        }
        if info.started_unix_ns > 0 {
            self.started.get_or_insert(info.started_unix_ns);
        }
    }

    fn introduce(&mut self, run: RunId, info: &RunInfo) {
        self.locate(info);
        if info.world_size < 2 || self.runs.contains_key(&run) {
            return;
        }
        let like = |nth| ((info.dataset.clone(), info.world_size, nth), info.rank);
        let nth = (0..).find(|nth| !self.introduced.contains(&like(*nth)));
        let job = like(nth.unwrap_or_default());
        self.introduced.insert(job.clone());
        let seen = Seen {
            job,
            epoch: 0,
            asked: 0,
            steps: 0,
        };
        self.runs.insert(run, seen);
    }

    /// The lowest rank that was heard of.
    pub fn rank(&self) -> Option<u32> {
        self.runs.values().map(|seen| seen.job.1).min()
    }
}

/// Where a recording is put.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// What is added to its times. Not negative.
    pub shift: Nanos,
    /// How that came about; `None` for those that share the clock of the first one.
    pub clock: Option<Clock>,
}

/// Where each recording is put, so that the earliest begins at 0.
pub fn places(all: &[Marks]) -> Vec<Place> {
    let mut places = vec![Place::default(); all.len()];
    let beginning = Clock {
        by: ClockBy::Beginning,
        within: None,
    };
    let mut known: Vec<usize> = (0..all.len())
        .filter(|k| all[*k].started.is_some())
        .collect();
    if !known.is_empty() {
        for (k, marks) in all.iter().enumerate() {
            if marks.started.is_none() {
                places[k].clock = Some(beginning);
            }
        }
    }
    known.sort_by_key(|k| (all[*k].started, *k));
    let mut sessions: Vec<Vec<usize>> = Vec::new();
    for k in known {
        let began = all[k].started.unwrap_or_default();
        match sessions.last_mut() {
            Some(session) if began.saturating_sub(last_of(all, session)) <= A_DAY => {
                session.push(k)
            }
            _ => sessions.push(vec![k]),
        }
    }
    for (nth, session) in sessions.into_iter().enumerate() {
        place(all, &session, &mut places);
        if nth > 0 {
            for k in session {
                places[k].clock.get_or_insert(beginning);
            }
        }
    }
    places
}

fn last_of(all: &[Marks], session: &[usize]) -> i64 {
    let last = session.last().and_then(|k| all[*k].started);
    last.unwrap_or_default()
}

/// Puts recordings that were made at the same time beside each other; they are in order of their beginnings.
fn place(all: &[Marks], session: &[usize], places: &mut [Place]) {
    let Some(first) = session.first() else {
        return;
    };
    // By host: those of one host share its clock. Where none is named, each is its own.
    let mut corrections: BTreeMap<&str, Option<(i64, i64)>> = BTreeMap::new();
    let mut begins: Vec<i64> = Vec::with_capacity(session.len());
    let reference = all[*first].host.as_str();
    let on = |host: &str| -> Vec<&Marks> {
        let of = session.iter().map(|k| &all[*k]);
        of.filter(|m| !host.is_empty() && m.host == host).collect()
    };
    let base = match reference {
        "" => vec![&all[*first]],
        host => on(host),
    };
    for k in session {
        let marks = &all[*k];
        let started = marks.started.unwrap_or_default();
        if k == first || (!reference.is_empty() && marks.host == reference) {
            begins.push(started);
            continue;
        }
        let found = match marks.host.as_str() {
            "" => apart(&base, &[marks]),
            host => *corrections
                .entry(host)
                .or_insert_with(|| apart(&base, &on(host))),
        };
        begins.push(started.saturating_sub(found.map_or(0, |(apart, _)| apart)));
        places[*k].clock = Some(Clock {
            by: match found {
                Some(_) => ClockBy::Steps,
                None => ClockBy::WallClock,
            },
            within: found.map(|(_, within)| Nanos(within)),
        });
    }
    let earliest = begins.iter().min().copied().unwrap_or_default();
    for (k, began) in session.iter().zip(begins) {
        places[*k].shift = Nanos(began.saturating_sub(earliest).max(0));
    }
}

/// How far the wall clock of `others` is ahead of that of `base`, and how exactly that is known, ns; from all pairs of ranks of one
/// loader that are in step.
fn apart(base: &[&Marks], others: &[&Marks]) -> Option<(i64, i64)> {
    let mut found: Vec<(i64, i64)> = Vec::new();
    for (a, b) in base
        .iter()
        .flat_map(|a| others.iter().map(move |b| (*a, *b)))
    {
        let began = |marks: &Marks| marks.started.unwrap_or_default();
        let zeros = began(b).saturating_sub(began(a));
        for ((job, rank), one) in &a.asked {
            let ranks = (job.clone(), 0)..=(job.clone(), u32::MAX);
            let same = b.asked.range(ranks).filter(|((_, r), _)| r != rank);
            found.extend(same.filter_map(|(_, other)| in_step(one, other, zeros)));
        }
    }
    found.sort_unstable();
    let apart = found.get(found.len() / 2)?.0;
    // As exactly as a pair tells, and as the pairs agree.
    let mut withins: Vec<i64> = found.iter().map(|(_, within)| *within).collect();
    withins.sort_unstable();
    let off = |(other, _): &(i64, i64)| other.saturating_sub(apart).saturating_abs();
    let disagree = found.iter().map(off).max().unwrap_or_default();
    Some((apart, withins[withins.len() / 2].max(disagree)))
}

/// How much later the steps of `b` seem to end than those of `a`, with the 90 % interval, if both are in step.
fn in_step(
    a: &BTreeMap<(u32, u32), i64>,
    b: &BTreeMap<(u32, u32), i64>,
    zeros: i64,
) -> Option<(i64, i64)> {
    let both: Vec<(i64, i64)> = a
        .iter()
        .filter_map(|(k, at)| Some((*at, *b.get(k)?)))
        .collect();
    if both.len() < FEWEST_STEPS {
        return None;
    }
    let mut later: Vec<i64> = both.iter().map(|(a, b)| b.saturating_sub(*a)).collect();
    later.sort_unstable();
    let middle = later[later.len() / 2];
    let mut off: Vec<i64> = later
        .iter()
        .map(|l| l.saturating_sub(middle).saturating_abs())
        .collect();
    off.sort_unstable();
    let within = off[(off.len() * 9).div_ceil(10) - 1];
    let lengths = |pick: fn(&(i64, i64)) -> i64| -> Vec<f64> {
        let times: Vec<i64> = both.iter().map(pick).collect();
        times
            .windows(2)
            .map(|w| w[1].saturating_sub(w[0]) as f64)
            .collect()
    };
    let (of_a, of_b) = (lengths(|p| p.0), lengths(|p| p.1));
    let mut sorted = of_a.clone();
    sorted.sort_by(f64::total_cmp);
    let step = sorted[sorted.len() / 2];
    if within as f64 > IN_STEP * step {
        return None;
    }
    let apart = middle.saturating_add(zeros);
    let believed = apart.saturating_abs() <= LIKELY_OFF || correlation(&of_a, &of_b) >= TOGETHER;
    believed.then_some((apart, within.max(1)))
}

/// Pearson's; 0 where one of them never changes.
fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len().max(1) as f64;
    let (ma, mb) = (mean(a), mean(b));
    let sum = |f: &dyn Fn(f64, f64) -> f64| -> f64 {
        a.iter().zip(b).map(|(x, y)| f(x - ma, y - mb)).sum()
    };
    let spread = (sum(&|x, _| x * x) * sum(&|_, y| y * y)).sqrt();
    match spread > 0.0 {
        true => sum(&|x, y| x * y) / spread,
        false => 0.0,
    }
}

#[cfg(test)]
mod tests;
