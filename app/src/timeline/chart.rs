//! Quantities over time as small areas: what is drawn of them, without a window.

use loadscope_trace::{GaugeKind, Lane, Nanos, Run};

use super::layout::Grid;
use crate::format;

/// A quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Chart {
    /// PyTorch's `_tasks_outstanding`.
    TasksOutstanding,
    /// Something that was measured, of a lane or of the whole program.
    Gauge(Option<Lane>, GaugeKind),
}

/// A stretch of time and the value in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// First instant.
    pub start: Nanos,
    /// End (exclusive).
    pub end: Nanos,
    /// The value; where changes are too close to be told apart, their mean, or of what was measured the highest.
    pub value: f64,
}

impl Chart {
    /// What there is to see of a run.
    pub fn all(run: &Run) -> Vec<Self> {
        let own = (run.info.options.num_workers > 0).then_some(Self::TasksOutstanding);
        let mut gauges: Vec<Self> = run.gauges().map(|(l, k, _)| Self::Gauge(l, k)).collect();
        gauges.sort_by_key(|g| match g {
            Self::TasksOutstanding => None,
            Self::Gauge(lane, kind) => Some((*kind, *lane)),
        });
        own.into_iter().chain(gauges).collect()
    }

    /// Its name, and of what it is.
    pub fn label(self) -> (&'static str, Option<String>) {
        match self {
            Self::TasksOutstanding => ("tasks_outstanding", None),
            Self::Gauge(lane, kind) => {
                let name = match kind {
                    GaugeKind::Rss => "memory, RSS",
                    GaugeKind::Pss => "memory, PSS",
                    GaugeKind::Cpu => "CPU, cores",
                    GaugeKind::Shm => "/dev/shm",
                    GaugeKind::Descriptors => "open files",
                    GaugeKind::PinnedBytes => "pinned memory",
                };
                (name, lane.map(|l| l.to_string()))
            }
        }
    }

    /// What it is, in one sentence.
    pub fn about(self) -> &'static str {
        match self {
            Self::TasksOutstanding => "Batches dispatched and not yet received",
            Self::Gauge(_, GaugeKind::Rss) => "Resident memory",
            Self::Gauge(_, GaugeKind::Pss) => {
                "Resident memory, shared pages divided by their users"
            }
            Self::Gauge(_, GaugeKind::Cpu) => "Processors kept busy",
            Self::Gauge(_, GaugeKind::Shm) => "Shared memory in use",
            Self::Gauge(_, GaugeKind::Descriptors) => "Open file descriptors",
            Self::Gauge(_, GaugeKind::PinnedBytes) => "Page-locked memory",
        }
    }

    /// A value as people read it.
    pub fn text(self, value: f64) -> String {
        match self {
            Self::TasksOutstanding | Self::Gauge(_, GaugeKind::Descriptors) => {
                if value.fract() == 0.0 {
                    format::count(value.max(0.0) as u64)
                } else {
                    format!("{value:.1}")
                }
            }
            Self::Gauge(_, GaugeKind::Cpu) => format!("{value:.2}"),
            Self::Gauge(..) => bytes(value),
        }
    }

    /// The value at the upper edge. It belongs to the whole run, so that nothing grows or shrinks while one moves about.
    pub fn top(self, run: &Run) -> f64 {
        match self {
            Self::TasksOutstanding => {
                let options = &run.info.options;
                let planned = options.num_workers.saturating_mul(options.prefetch());
                planned.max(1) as f64
            }
            Self::Gauge(lane, kind) => run
                .gauge(lane, kind)
                .and_then(|s| s.highest(Nanos(i64::MIN), Nanos::MAX))
                .unwrap_or_default()
                .max(f64::MIN_POSITIVE),
        }
    }

    /// The value from `start` until `end`.
    pub fn value(self, run: &Run, start: Nanos, end: Nanos) -> Option<f64> {
        match self {
            Self::TasksOutstanding => {
                let level = run.tasks_outstanding();
                (start < end).then(|| level.mean(start, end))
            }
            Self::Gauge(lane, kind) => run.gauge(lane, kind)?.highest(start, end),
        }
    }

    /// Lays it out: every change as itself where they are far enough apart, a value a bucket where they are not.
    pub fn lay_out(self, run: &Run, grid: &Grid, out: &mut Vec<Step>) {
        let (start, end) = grid.range();
        if end <= start {
            return;
        }
        let mut changes = vec![start];
        match self {
            Self::TasksOutstanding => {
                let level = run.tasks_outstanding();
                if level.changes(start, end) <= grid.buckets() {
                    for ticks in [level.up, level.down] {
                        let (first, after) = (ticks.before(start), ticks.before(end));
                        changes.extend_from_slice(&ticks.all()[first..after]);
                    }
                    changes.sort_unstable();
                } else {
                    changes = grid.edges();
                }
            }
            Self::Gauge(lane, kind) => {
                let Some(series) = run.gauge(lane, kind) else {
                    return;
                };
                let points = series.points();
                let first = points.partition_point(|(at, _)| *at <= start);
                let after = points.partition_point(|(at, _)| *at < end);
                if after.saturating_sub(first) <= grid.buckets() {
                    changes.extend(points[first..after.max(first)].iter().map(|(at, _)| *at));
                } else {
                    changes = grid.edges();
                }
            }
        }
        if changes.last() != Some(&end) {
            changes.push(end);
        }
        // A sum at an edge serves the bucket before it and the one after it.
        let level = run.tasks_outstanding();
        let mut area = level.area(start);
        for pair in changes.windows(2).filter(|w| w[0] < w[1]) {
            let (start, end) = (pair[0], pair[1]);
            let value = match self {
                Self::TasksOutstanding => {
                    let before = std::mem::replace(&mut area, level.area(end));
                    Some(area.wrapping_sub(before) as f64 / (end - start).0 as f64)
                }
                Self::Gauge(..) => self.value(run, start, end),
            };
            out.extend(value.map(|value| Step { start, end, value }));
        }
    }
}

/// `1.50 GB`.
fn bytes(value: f64) -> String {
    let (unit, size) = match value.abs() {
        v if v >= 1e9 => ("GB", 1e9),
        v if v >= 1e6 => ("MB", 1e6),
        v if v >= 1e3 => ("kB", 1e3),
        _ => return format!("{value:.0}\u{2009}B"),
    };
    let value = value / size;
    let decimals = match value.abs() {
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        _ => 2,
    };
    format!("{value:.decimals$}\u{2009}{unit}")
}

#[cfg(test)]
mod tests {
    use eframe::egui::Rangef;
    use loadscope_trace::{BatchId, Event, EventKind, RunId, RunInfo, Stage};
    use proptest::prelude::*;

    use super::super::axis::TimeAxis;
    use super::*;
    use crate::view::TimeView;

    /// Batches that are dispatched and arrive after the given times.
    fn run(times: &[(i64, i64)]) -> Run {
        let mut run = Run::new(RunInfo::default());
        let mut events = vec![(0, EventKind::EpochStarted { epoch: 0 })];
        let mut at = 0;
        for (idx, (pause, takes)) in times.iter().enumerate() {
            let idx = idx as u32;
            let batch = BatchId { epoch: 0, idx };
            at += pause;
            events.push((at, EventKind::dispatched(batch, Some(0), [])));
            let stage = Stage::Ready;
            events.push((at + takes, EventKind::Entered { batch, stage }));
        }
        events.sort_by_key(|(at, _)| *at);
        for (at, kind) in events {
            let (at, run_id) = (Nanos(at), RunId(0));
            run.apply(&Event {
                at,
                run: run_id,
                kind,
            });
        }
        run
    }

    proptest! {
        #[test]
        fn the_area_that_is_drawn_is_the_area_there_is(
            times in prop::collection::vec((0..2_000i64, 0..50_000i64), 1..400),
            start in 0.0..1.0f64, len in 200..500_000i64,
        ) {
            let run = run(&times);
            let start = (start * run.end().0 as f64) as i64;
            let view = TimeView::new(Nanos(start), Nanos(start + len));
            let grid = Grid::new(&TimeAxis::new(view, Rangef::new(0.0, 300.0), 1.0), run.end());
            let mut steps = Vec::new();
            Chart::TasksOutstanding.lay_out(&run, &grid, &mut steps);
            let (from, to) = grid.range();
            let drawn: f64 = steps.iter().map(|s| s.value * (s.end - s.start).0 as f64).sum();
            let there = if to > from {
                run.tasks_outstanding().mean(from, to) * (to - from).0 as f64
            } else {
                0.0
            };
            prop_assert!((drawn - there).abs() <= there.abs() * 1e-9 + 1e-6, "{drawn} {there}");
            prop_assert!(steps.windows(2).all(|w| w[0].end == w[1].start));
            prop_assert!(steps.len() <= 104, "{}", steps.len());
        }
    }

    #[test]
    fn values_read_well() {
        let memory = Chart::Gauge(None, GaugeKind::Rss);
        let texts =
            [512.0, 1_500.0, 12_345_678.0, 1.5e9].map(|v| memory.text(v).replace('\u{2009}', " "));
        assert_eq!(texts, ["512 B", "1.50 kB", "12.3 MB", "1.50 GB"]);
        assert_eq!(Chart::TasksOutstanding.text(6.0), "6");
        assert_eq!(Chart::TasksOutstanding.text(5.25), "5.2");
    }
}
