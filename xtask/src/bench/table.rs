//! Markdown tables of the figures.

mod reasons;
mod recording;

use std::fmt::Write as _;
use std::fs;

use super::measured::{Measured, cores, figure};
use crate::spread::Spread;

const FORMATS: &str = "# Data formats compared with Python readers\n\n\
    Written by `cargo xtask bench --peers --only formats`. Both sides use a loader with the same interface around the \
    dataset, without workers, in one thread, with equal batches in equal order, checked by sums of the labels. The \
    programs took turns, and ratios are within a round. Figures are medians, with minimum and maximum in brackets. Files \
    are in the page cache. Loadscope uses mimalloc, Python the C library's allocator. `tests/peers/make_formats.py` writes \
    the data, `tests/peers/formats.py` is the counterpart.\n\n";

/// Formats the report about data formats.
pub fn formats(measured: &[Measured], rounds: u32) -> String {
    report(FORMATS, measured, rounds)
}

/// Formats the report about loaders.
pub fn written(measured: &[Measured], rounds: u32) -> String {
    let text = "# Loadscope compared with PyTorch and dataloader-rs\n\n\
         Written by `cargo xtask bench --peers`. The programs took turns, and ratios are within a round. Figures are medians, \
         with minimum and maximum in brackets. Each program uses its best number of workers. Loadscope uses mimalloc, PyTorch \
         and dataloader-rs the C library's allocator. dataloader-rs is also measured with mimalloc. The cost of recording is \
         measured in one process, in which a recorded and an unrecorded loader take turns, after the first 0.3 s of content \
         capture.\n\n";
    report(text, measured, rounds)
}

fn report(head: &str, measured: &[Measured], rounds: u32) -> String {
    let mut text = head.to_owned();
    let _ = writeln!(text, "{}; {rounds} rounds.\n", host());
    text.push_str("## Goals\n\n| work | goal | measured | |\n|---|---|---|---|\n");
    for one in measured {
        for goal in one.workload.goals.iter().chain(one.workload.recording) {
            let row = one.check_goal(*goal);
            let (goal, shown, met) =
                row.unwrap_or_else(|| (format!("{goal:?}"), "–".into(), false));
            let met = if met { "met" } else { "**missed**" };
            let _ = writeln!(text, "| {} | {goal} | {shown} | {met} |", one.workload.id);
        }
    }
    reasons::section(&mut text, measured);
    recording::section(&mut text, measured);
    text.push_str("\n## Figures\n");
    for one in measured {
        section(&mut text, one);
    }
    text
}

/// Appends the table of a workload: one row per program, number of workers and kind of recording.
fn section(text: &mut String, one: &Measured) {
    let _ = writeln!(
        text,
        "\n**{}**: {}\n",
        one.workload.id, one.workload.description
    );
    for difference in &one.differences {
        let _ = writeln!(text, "Not the same work: {difference}\n");
    }
    text.push_str("| program | workers | recording | figure |\n|---|---|---|---|\n");
    let mut measurements: Vec<_> = one.measurements.iter().collect();
    measurements.sort_by_key(|(task, _)| {
        (
            task.program as u8,
            task.workload,
            task.recording,
            task.workers,
        )
    });
    for (task, measurements) in measurements {
        let Some(spread) = Spread::of(measurements.iter().map(|measurement| measurement.value))
        else {
            continue;
        };
        let lost: u64 = measurements
            .iter()
            .map(|measurement| measurement.lost)
            .sum();
        let recording = match (task.recording, lost) {
            ("off", _) => String::new(),
            (recording, 0) => recording.to_owned(),
            (recording, lost) => format!("{recording}, {lost} events lost"),
        };
        let program = match task.workload.split_once('-') {
            Some((_, way)) if task.workload != one.workload.id => {
                format!("{} ({way})", task.program)
            }
            _ => task.program.to_string(),
        };
        let shown = spread.format(|v| figure(one.workload.unit, v));
        let _ = writeln!(
            text,
            "| {program} | {} | {recording} | {shown} |",
            task.workers
        );
    }
}

/// Returns the processor name and the number of cores.
fn host() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info
        .lines()
        .find_map(|line| line.strip_prefix("model name"))
        .map_or("unknown processor", |rest| {
            rest.trim_start_matches([' ', '\t', ':'])
        });
    format!("{name}, {} cores", cores())
}

#[cfg(test)]
mod tests;
