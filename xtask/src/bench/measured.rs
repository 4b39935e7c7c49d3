//! Compares the figures of the programs for one workload, and checks its goals.

use std::fmt::Write as _;
use std::thread;

use super::measurement::{Cost, Measurement};
use super::programs::{Program, Task};
use super::workload::{Goal, Unit, Workload};
use crate::spread::Spread;

/// Figures of one workload.
pub struct Measured {
    pub workload: &'static Workload,
    /// Tasks with one turn per round.
    pub measurements: Vec<(Task, Vec<Measurement>)>,
    /// Messages about programs that did different work.
    pub differences: Vec<String>,
}

impl Measured {
    pub fn new(workload: &'static Workload) -> Self {
        let tasks = workload.tasks();
        Self {
            workload,
            measurements: tasks.into_iter().map(|task| (task, Vec::new())).collect(),
            differences: Vec::new(),
        }
    }

    /// Checks that all programs loaded the same samples, and that PyTorch and Loadscope loaded them in the same order.
    pub fn compare_work(&mut self) {
        let first = |measurements: &[Measurement]| {
            measurements
                .first()
                .and_then(|measurement| measurement.checksums)
        };
        let ours = self
            .measurements
            .iter()
            .find(|(task, _)| task.program == Program::Loadscope);
        let Some((sum, order)) = ours.and_then(|(_, measurements)| first(measurements)) else {
            return;
        };
        for (task, measurements) in &self.measurements {
            let Some((its_sum, its_order)) = first(measurements) else {
                continue;
            };
            if its_sum != sum {
                self.differences
                    .push(format!("{task} loaded other samples."));
            } else if its_order != order && !task.program.has_its_own_order() {
                self.differences.push(format!("{task} had another order."));
            }
        }
    }

    /// Returns the task of a program with the best median, without recording, and its values.
    pub fn best(&self, program: Program) -> Option<(&Task, Vec<f64>)> {
        let of_program = |task: &&(Task, Vec<Measurement>)| {
            task.0.program == program && task.0.recording == "off"
        };
        let candidates =
            self.measurements
                .iter()
                .filter(of_program)
                .filter_map(|(task, measurements)| {
                    let values: Vec<f64> = measurements
                        .iter()
                        .map(|measurement| measurement.value)
                        .collect();
                    Some((Spread::of(values.clone())?.median, task, values))
                });
        candidates
            .max_by(|a, b| self.workload.unit.ratio(a.0, b.0).total_cmp(&1.0))
            .map(|(_, task, values)| (task, values))
    }

    /// Returns the median of the best task of a program.
    pub fn median(&self, program: Program) -> Option<f64> {
        Some(Spread::of(self.best(program)?.1)?.median)
    }

    /// Returns the median of a program with this number of workers or threads.
    pub fn median_of(&self, program: Program, workers: u8) -> Option<f64> {
        let is_it = |task: &Task| {
            task.program == program && task.workers == workers && task.recording == "off"
        };
        let found = self.measurements.iter().find(|(task, _)| is_it(task))?;
        Some(Spread::of(found.1.iter().map(|measurement| measurement.value))?.median)
    }

    /// Returns the cost of recording in Loadscope, one per round.
    pub fn costs(&self, workers: u8, recording: &str) -> impl Iterator<Item = Cost> {
        let found = self.measurements.iter().find(|(task, _)| {
            task.program == Program::Loadscope
                && task.workers == workers
                && task.recording == recording
        });
        let measurements = found.into_iter().flat_map(|(_, measurements)| measurements);
        measurements.filter_map(|measurement| measurement.cost)
    }

    /// Returns how many times better Loadscope is than a program, per round.
    pub fn times(&self, program: Program) -> Option<Spread> {
        let (_, ours) = self.best(Program::Loadscope)?;
        let (_, theirs) = self.best(program)?;
        let unit = self.workload.unit;
        Spread::of(ours.iter().zip(&theirs).map(|(a, b)| unit.ratio(*a, *b)))
    }

    /// Returns the relative slowdown by recording.
    pub fn cost(&self, workers: u8, recording: &str) -> Option<Spread> {
        Spread::of(self.costs(workers, recording).map(|cost| cost.slower))
    }

    /// Returns the goal in words, the measured value, and true if the goal is met.
    pub fn check_goal(&self, goal: Goal) -> Option<(String, String, bool)> {
        let times = |least: f64, program: Program| {
            let spread = self.times(program)?;
            let said = format!("at least {least}× {program}");
            Some((
                said,
                spread.format(|v| format!("{v:.2}×")),
                spread.median >= least,
            ))
        };
        let recording = |most: f64, workers: u8, recording: &str, what: &str| {
            let spread = self.cost(workers, recording)?;
            let said = format!(
                "{what} costs at most {:.0} %, {workers} workers",
                most * 100.0
            );
            let shown = spread.format(|v| format!("{:.1} %", v * 100.0));
            Some((said, shown, spread.median <= most))
        };
        match goal {
            Goal::TimesPytorch(least) => times(least, Program::Pytorch),
            Goal::TimesDataloaderRs(least) => {
                let (said, mut shown, met) = times(least, Program::DataloaderRs)?;
                if let Some(spread) = self.times(Program::DataloaderRsMimalloc) {
                    let _ = write!(shown, "; {:.2}× with mimalloc there, too", spread.median);
                }
                Some((said, shown, met))
            }
            Goal::TimesCounterpart(least) => times(least, Program::Counterpart),
            Goal::TimesDataloaderRsMimalloc(least) => times(least, Program::DataloaderRsMimalloc),
            Goal::Events(most, workers) => recording(most, workers, "events", "hearing events"),
            Goal::Log(most, workers) => recording(most, workers, "log", "a compressed log"),
            Goal::NoneLost => {
                let lost: u64 = (self.measurements.iter())
                    .flat_map(|(_, measurements)| {
                        measurements.iter().map(|measurement| measurement.lost)
                    })
                    .sum();
                Some(("no event is lost".to_owned(), format!("{lost}"), lost == 0))
            }
            Goal::AtMost(limit) | Goal::AtLeast(limit) => {
                let unit = self.workload.unit;
                let spread = Spread::of(self.best(Program::Loadscope)?.1)?;
                let (which, met) = match goal {
                    Goal::AtMost(_) => ("most", spread.median <= limit),
                    _ => ("least", spread.median >= limit),
                };
                let said = format!("at {which} {}", figure(unit, limit));
                Some((said, spread.format(|v| figure(unit, v)), met))
            }
        }
    }
}

/// Formats a value with its unit.
pub fn figure(unit: Unit, value: f64) -> String {
    let (name, scaled) = match unit {
        Unit::Milliseconds => return format!("{value:.3} ms"),
        Unit::Megabytes => return format!("{value:.1} MB"),
        Unit::Nanoseconds => return format!("{value:.1} ns"),
        Unit::ItemsPerSecond if value >= 1e6 => ("M/s", value / 1e6),
        Unit::ItemsPerSecond if value >= 1e3 => ("k/s", value / 1e3),
        Unit::ItemsPerSecond => ("/s", value),
    };
    // The figure has three significant digits.
    let digits = usize::from(scaled < 100.0) + usize::from(scaled < 10.0);
    format!("{scaled:.digits$} {name}")
}

/// Returns the number of cores.
pub fn cores() -> u32 {
    thread::available_parallelism().map_or(1, |cores| cores.get() as u32)
}
