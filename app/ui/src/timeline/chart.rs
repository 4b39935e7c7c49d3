//! Quantities over time as small area charts, without a window.

use std::cmp::Reverse;

use loadscope_trace::{GaugeKind, Lane, Nanos, Run, Series};

use super::layout::Grid;

mod words;

/// Quantity of a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Chart {
    /// PyTorch's `_tasks_outstanding`.
    TasksOutstanding,
    /// Measured quantity.
    Gauge(Subject, GaugeKind),
}

/// Subject of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    /// The whole program.
    Program,
    /// Lane of the timeline.
    Lane(Lane),
    /// A part of a pipeline that is not a `DataLoader`, by its position in [`Run::parts`].
    Part(u16),
}

impl Subject {
    fn series(self, run: &Run, kind: GaugeKind) -> Option<&Series> {
        match self {
            Self::Program => run.gauge(None, kind),
            Self::Lane(lane) => run.gauge(Some(lane), kind),
            Self::Part(part) => run.part_gauge(part, kind),
        }
    }
}

/// Time range with a constant value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// First instant.
    pub start: Nanos,
    /// End (exclusive).
    pub end: Nanos,
    /// Value. If changes are too close to draw, this is their mean, or the maximum for measured quantities.
    pub value: f64,
}

impl Chart {
    /// Returns all charts of a run.
    pub fn all(run: &Run) -> Vec<Self> {
        let own = (run.info.options.num_workers > 0).then_some(Self::TasksOutstanding);
        let gauges = run.gauges().map(|(lane, kind, _)| (lane, kind));
        // Each process has one memory line. PSS is preferred, because it divides shared pages fairly.
        let is_measured_better = |lane, kind| {
            let is_other = matches!(kind, GaugeKind::Rss | GaugeKind::Uss);
            is_other && run.gauge(lane, GaugeKind::Pss).is_some()
        };
        let gauges = gauges.filter(|(lane, kind)| !is_measured_better(*lane, *kind));
        // Most processes read nothing from storage and run one thread.
        let is_usual = |lane, kind| {
            let highest = match kind {
                GaugeKind::BusyThreads => 1.0,
                GaugeKind::StorageRead | GaugeKind::MajorFaults | GaugeKind::IoBlocked => 0.0,
                _ => return false,
            };
            let series = run.gauge(lane, kind);
            let value = series.and_then(|s| s.highest(Nanos(i64::MIN), Nanos::MAX));
            value.is_none_or(|value| value <= highest)
        };
        let gauges = gauges.filter(|(lane, kind)| !is_usual(*lane, *kind));
        let gauges = gauges.map(|(lane, kind)| {
            let subject = lane.map_or(Subject::Program, Subject::Lane);
            Self::Gauge(subject, kind)
        });
        let mut gauges: Vec<Self> = gauges.collect();
        gauges.sort_by_key(|g| match g {
            Self::TasksOutstanding => None,
            Self::Gauge(subject, kind) => Some((*kind, *subject)),
        });
        // Parts are sorted by name in reverse. The names begin with a number, so the part that training reads from is first.
        let parts = run.part_gauges();
        let mut parts: Vec<(u16, GaugeKind)> = parts.map(|(p, kind, _)| (p, kind)).collect();
        let name = |part: u16| Reverse(&run.parts()[usize::from(part)]);
        parts.sort_by_key(|(part, kind)| (name(*part), *kind));
        let parts = parts.into_iter();
        let parts = parts.map(|(part, kind)| Self::Gauge(Subject::Part(part), kind));
        own.into_iter().chain(gauges).chain(parts).collect()
    }

    /// Returns the value at the upper edge. It covers the whole run, so that the chart does not rescale while the user scrolls.
    pub fn top(self, run: &Run) -> f64 {
        match self {
            Self::TasksOutstanding => {
                let options = &run.info.options;
                let planned = options.num_workers.saturating_mul(options.prefetch());
                planned.max(1) as f64
            }
            Self::Gauge(subject, kind) => {
                let least = match kind {
                    // The scale of a fraction ends at 1.
                    GaugeKind::Occupancy
                    | GaugeKind::GpuBusy
                    | GaugeKind::WaitingToGet
                    | GaugeKind::WaitingToPut => 1.0,
                    _ => f64::MIN_POSITIVE,
                };
                let series = subject.series(run, kind);
                series
                    .and_then(|s| s.highest(Nanos(i64::MIN), Nanos::MAX))
                    .unwrap_or_default()
                    .max(least)
            }
        }
    }

    /// Returns the value from `start` to `end`.
    pub fn value(self, run: &Run, start: Nanos, end: Nanos) -> Option<f64> {
        match self {
            Self::TasksOutstanding => {
                let level = run.tasks_outstanding();
                (start < end).then(|| level.mean(start, end))
            }
            Self::Gauge(subject, kind) => subject.series(run, kind)?.highest(start, end),
        }
    }

    /// Lays out the chart: each change if they are far enough apart, otherwise one value per bucket.
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
                        changes.extend(ticks.all().range(first..after));
                    }
                    changes.sort_unstable();
                } else {
                    changes = grid.edges();
                }
            }
            Self::Gauge(subject, kind) => {
                let Some(series) = subject.series(run, kind) else {
                    return;
                };
                let points = series.points();
                let first = points.partition_point(|(at, _)| *at <= start);
                let after = points.partition_point(|(at, _)| *at < end);
                if after.saturating_sub(first) <= grid.buckets() {
                    changes.extend(
                        points
                            .range(first..after.max(first))
                            .iter()
                            .map(|(at, _)| *at),
                    );
                } else {
                    changes = grid.edges();
                }
            }
        }
        if changes.last() != Some(&end) {
            changes.push(end);
        }
        // The sum at an edge serves both adjacent buckets.
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

#[cfg(test)]
mod tests {
    use egui::Rangef;
    use loadscope_trace::{BatchId, Event, EventKind, RunId, RunInfo, Stage};
    use proptest::prelude::*;

    use super::super::axis::TimeAxis;
    use super::*;
    use loadscope_model::view::TimeView;

    /// Returns a run with the given pauses before dispatch and the given times until arrival.
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
        fn the_drawn_area_equals_the_area_of_the_counter(
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
    fn chart_values_have_fitting_units() {
        let memory = Chart::Gauge(Subject::Program, GaugeKind::Rss);
        let texts =
            [512.0, 1_500.0, 12_345_678.0, 1.5e9].map(|v| memory.text(v).replace('\u{2009}', " "));
        assert_eq!(texts, ["512 B", "1.50 kB", "12.3 MB", "1.50 GB"]);
        assert_eq!(Chart::TasksOutstanding.text(6.0), "6");
        assert_eq!(Chart::TasksOutstanding.text(5.25), "5.2");
    }
}
