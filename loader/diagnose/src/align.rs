//! Alignment of recordings from several hosts on one time axis.
//!
//! Each host has its own wall clock, and no recording contains the clock offset between two hosts. Ranks that exchange gradients wait for
//! each other at the end of every training step. Two such ranks therefore call `next` at nearly the same time after each step. The times
//! of these calls show the clock offset and its uncertainty.

use std::collections::{BTreeMap, BTreeSet};

pub use loadscope_trace::{Clock, ClockMethod};
use loadscope_trace::{Event, EventKind, Nanos, RunId, RunInfo};

/// Minimum number of steps that two ranks must have in common.
const MIN_STEPS: usize = 8;
/// Maximum number of steps counted per run.
pub const MAX_STEPS: usize = 512;
/// Maximum deviation from the median offset, as a share of the median step length. Ranks are in step if 90 % of their steps are within it.
const MAX_DEVIATION: f64 = 0.25;
/// Largest clock offset that is accepted without further evidence, ns: 1 s. A larger one requires correlated step lengths of both ranks.
const PLAUSIBLE_OFFSET: i64 = 1_000_000_000;
/// Minimum correlation of step lengths for an offset above [`PLAUSIBLE_OFFSET`].
const MIN_CORRELATION: f64 = 0.8;
/// Maximum time between the starts of two successive recordings of a session, ns: one day.
const MAX_SESSION_GAP: i64 = 86_400_000_000_000;

/// Identity of a loader that all ranks of a job share: dataset, world size, and number among loaders with the same dataset.
type Job = (String, u32, usize);

/// Clock information of a recording: host, start, and times of training steps.
#[derive(Clone, Debug, Default)]
pub struct ClockInfo {
    /// Host of the recording. Empty if unknown.
    host: String,
    /// Wall-clock time of the instant 0 of the recording, ns since 1970. `None` if not recorded.
    started: Option<i64>,
    /// Times of the calls of `next` after a step, by loader and rank. Each call has its epoch and its number in the epoch.
    calls: BTreeMap<(Job, u32), BTreeMap<(u32, u32), i64>>,
    runs: BTreeMap<RunId, RunState>,
    known_jobs: BTreeSet<(Job, u32)>,
}

/// Steps counted in a run.
#[derive(Clone, Debug)]
struct RunState {
    job: (Job, u32),
    epoch: u32,
    calls: u32,
    steps: usize,
}

impl ClockInfo {
    /// Adds an event. Returns false once a run has [`MAX_STEPS`] steps, so the caller can stop reading.
    pub fn apply(&mut self, event: &Event) -> bool {
        match &event.kind {
            EventKind::RunStarted(info) => self.add_run(event.run, info),
            // A recording with a limit lacks its first steps, so later steps have no number. Its host and its start are still usable.
            EventKind::Retention(retention) => self.set_host_and_start(&retention.info),
            EventKind::State(state) => {
                for event in &state.events {
                    if let EventKind::RunStarted(info) = &event.kind {
                        self.set_host_and_start(info);
                    }
                }
            }
            EventKind::EpochStarted { epoch } => {
                if let Some(state) = self.runs.get_mut(&event.run) {
                    (state.epoch, state.calls) = (*epoch, 0);
                }
            }
            EventKind::Consumer { waiting: true } => {
                if let Some(state) = self.runs.get_mut(&event.run) {
                    // The first call of an epoch does not follow a training step.
                    if state.calls > 0 && state.steps < MAX_STEPS {
                        let calls = self.calls.entry(state.job.clone()).or_default();
                        calls.insert((state.epoch, state.calls), event.at.0);
                        state.steps += 1;
                    }
                    state.calls += 1;
                }
            }
            _ => {}
        }
        !self.runs.values().any(|state| state.steps >= MAX_STEPS)
    }

    fn set_host_and_start(&mut self, info: &RunInfo) {
        if self.host.is_empty() {
            self.host.clone_from(&info.host);
        }
        if info.started_unix_ns > 0 {
            self.started.get_or_insert(info.started_unix_ns);
        }
    }

    fn add_run(&mut self, run: RunId, info: &RunInfo) {
        self.set_host_and_start(info);
        if info.world_size < 2 || self.runs.contains_key(&run) {
            return;
        }
        let like = |nth| ((info.dataset.clone(), info.world_size, nth), info.rank);
        let nth = (0..).find(|nth| !self.known_jobs.contains(&like(*nth)));
        let job = like(nth.unwrap_or_default());
        self.known_jobs.insert(job.clone());
        let state = RunState {
            job,
            epoch: 0,
            calls: 0,
            steps: 0,
        };
        self.runs.insert(run, state);
    }

    /// Returns the lowest rank of a run with several ranks. Returns `None` without such a run.
    pub fn rank(&self) -> Option<u32> {
        self.runs.values().map(|state| state.job.1).min()
    }
}

/// Position of a recording on the common time axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Alignment {
    /// Time to add to the times of the recording, ns. At least 0.
    pub shift: Nanos,
    /// Method of the clock comparison, with its uncertainty. `None` for the earliest recording, for others of its session
    /// on the same host, and if no recording has a start.
    pub clock: Option<Clock>,
}

/// Returns the alignment of each recording. The earliest recording of each session starts at 0, and recordings without a start do too.
pub fn align_recordings(all: &[ClockInfo]) -> Vec<Alignment> {
    let mut alignments = vec![Alignment::default(); all.len()];
    let beginning = Clock {
        by: ClockMethod::Beginning,
        within: None,
    };
    let mut known: Vec<usize> = (0..all.len())
        .filter(|k| all[*k].started.is_some())
        .collect();
    if !known.is_empty() {
        for (k, clock_info) in all.iter().enumerate() {
            if clock_info.started.is_none() {
                alignments[k].clock = Some(beginning);
            }
        }
    }
    known.sort_by_key(|k| (all[*k].started, *k));
    let mut sessions: Vec<Vec<usize>> = Vec::new();
    for k in known {
        let began = all[k].started.unwrap_or_default();
        match sessions.last_mut() {
            Some(session) if began.saturating_sub(last_start(all, session)) <= MAX_SESSION_GAP => {
                session.push(k)
            }
            _ => sessions.push(vec![k]),
        }
    }
    for (nth, session) in sessions.into_iter().enumerate() {
        align_session(all, &session, &mut alignments);
        if nth > 0 {
            for k in session {
                alignments[k].clock.get_or_insert(beginning);
            }
        }
    }
    alignments
}

fn last_start(all: &[ClockInfo], session: &[usize]) -> i64 {
    let last = session.last().and_then(|k| all[*k].started);
    last.unwrap_or_default()
}

/// Sets the alignments of the recordings of one session. `session` contains their positions in `all`, in order of their starts.
fn align_session(all: &[ClockInfo], session: &[usize], alignments: &mut [Alignment]) {
    let Some(first) = session.first() else {
        return;
    };
    // Clock offset by host: recordings of one host share a clock. A recording without a host name counts as a host of its own.
    let mut corrections: BTreeMap<&str, Option<(i64, i64)>> = BTreeMap::new();
    let mut begins: Vec<i64> = Vec::with_capacity(session.len());
    let reference = all[*first].host.as_str();
    let on = |host: &str| -> Vec<&ClockInfo> {
        let of = session.iter().map(|k| &all[*k]);
        of.filter(|m| !host.is_empty() && m.host == host).collect()
    };
    let base = match reference {
        "" => vec![&all[*first]],
        host => on(host),
    };
    for k in session {
        let clock_info = &all[*k];
        let started = clock_info.started.unwrap_or_default();
        if k == first || (!reference.is_empty() && clock_info.host == reference) {
            begins.push(started);
            continue;
        }
        let found = match clock_info.host.as_str() {
            "" => clock_offset(&base, &[clock_info]),
            host => *corrections
                .entry(host)
                .or_insert_with(|| clock_offset(&base, &on(host))),
        };
        begins.push(started.saturating_sub(found.map_or(0, |(offset, _)| offset)));
        alignments[*k].clock = Some(Clock {
            by: match found {
                Some(_) => ClockMethod::Steps,
                None => ClockMethod::WallClock,
            },
            within: found.map(|(_, within)| Nanos(within)),
        });
    }
    let earliest = begins.iter().min().copied().unwrap_or_default();
    for (k, began) in session.iter().zip(begins) {
        alignments[*k].shift = Nanos(began.saturating_sub(earliest).max(0));
    }
}

/// Returns the offset of the wall clock of `others` from that of `base`, and its uncertainty, ns. A positive offset means ahead.
///
/// The offset is the median over all pairs of ranks of one loader that are in step. Returns `None` without such a pair.
fn clock_offset(base: &[&ClockInfo], others: &[&ClockInfo]) -> Option<(i64, i64)> {
    let mut found: Vec<(i64, i64)> = Vec::new();
    for (a, b) in base
        .iter()
        .flat_map(|a| others.iter().map(move |b| (*a, *b)))
    {
        let began = |clock_info: &ClockInfo| clock_info.started.unwrap_or_default();
        let start_difference = began(b).saturating_sub(began(a));
        for ((job, rank), one) in &a.calls {
            let ranks = (job.clone(), 0)..=(job.clone(), u32::MAX);
            let same = b.calls.range(ranks).filter(|((_, r), _)| r != rank);
            found.extend(same.filter_map(|(_, other)| step_offset(one, other, start_difference)));
        }
    }
    found.sort_unstable();
    let offset = found.get(found.len() / 2)?.0;
    // The uncertainty is at least the median of the pairs, and at least their largest disagreement.
    let mut withins: Vec<i64> = found.iter().map(|(_, within)| *within).collect();
    withins.sort_unstable();
    let off = |(other, _): &(i64, i64)| other.saturating_sub(offset).saturating_abs();
    let disagree = found.iter().map(off).max().unwrap_or_default();
    Some((offset, withins[withins.len() / 2].max(disagree)))
}

/// Returns the clock offset of `b` from `a` and its 90 % interval, ns. Returns `None` if the ranks are not in step.
///
/// `start_difference` is the wall-clock start of `b` minus that of `a`, ns.
fn step_offset(
    a: &BTreeMap<(u32, u32), i64>,
    b: &BTreeMap<(u32, u32), i64>,
    start_difference: i64,
) -> Option<(i64, i64)> {
    let both: Vec<(i64, i64)> = a
        .iter()
        .filter_map(|(k, at)| Some((*at, *b.get(k)?)))
        .collect();
    if both.len() < MIN_STEPS {
        return None;
    }
    let mut differences: Vec<i64> = both.iter().map(|(a, b)| b.saturating_sub(*a)).collect();
    differences.sort_unstable();
    let median = differences[differences.len() / 2];
    let mut deviations: Vec<i64> = differences
        .iter()
        .map(|d| d.saturating_sub(median).saturating_abs())
        .collect();
    deviations.sort_unstable();
    let within = deviations[(deviations.len() * 9).div_ceil(10) - 1];
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
    if within as f64 > MAX_DEVIATION * step {
        return None;
    }
    let offset = median.saturating_add(start_difference);
    let is_plausible =
        offset.saturating_abs() <= PLAUSIBLE_OFFSET || correlation(&of_a, &of_b) >= MIN_CORRELATION;
    is_plausible.then_some((offset, within.max(1)))
}

/// Returns the Pearson correlation, −1 to 1. Returns 0 if `a` or `b` is constant.
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
