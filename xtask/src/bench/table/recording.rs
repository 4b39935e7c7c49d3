//! CPU time of recording.

use std::fmt::Write as _;

use crate::bench::measured::Measured;
use crate::bench::measurement::Cost;
use crate::spread::Spread;

const HEAD: &str = "\n## What recording needs\n\nMedians, microseconds a batch. *Loading* is what all threads of the loader need of the \
    processor, without recording and with it; *the recorder* is the thread that takes the events, and writes and compresses them where \
    there is a log. Where the loader leaves no core free, the loader waits for as long as the recorder needs one.\n\n\
    | work | workers | recording | slower | a batch takes | loading | loading, recorded | the recorder | events a batch | ns an event |\n\
    |---|---|---|---|---|---|---|---|---|---|\n";

/// Appends a row for each way of recording. Appends nothing if no workload was recorded.
pub fn section(text: &mut String, measured: &[Measured]) {
    let mut head = Some(HEAD);
    for one in measured {
        let mut measurements: Vec<_> = one.measurements.iter().collect();
        measurements.sort_by_key(|(task, _)| (task.recording, task.workers));
        for (task, measurements) in measurements {
            let costs: Vec<Cost> = measurements
                .iter()
                .filter_map(|measurement| measurement.cost)
                .collect();
            let Some(row) = row(&costs) else { continue };
            text.push_str(head.take().unwrap_or_default());
            let (workload, workers, recording) = (one.workload.id, task.workers, task.recording);
            let _ = writeln!(text, "| {workload} | {workers} | {recording} | {row} |");
        }
    }
}

fn row(costs: &[Cost]) -> Option<String> {
    let median = |of: fn(&Cost) -> f64| Some(Spread::of(costs.iter().map(of))?.median);
    let (listening, events) = (median(|cost| cost.listening)?, median(|cost| cost.events)?);
    Some(format!(
        "{:.1} % | {:.2} | {:.2} | {:.2} | {listening:.2} | {events:.1} | {:.0}",
        median(|cost| cost.slower)? * 100.0,
        median(|cost| cost.batch)?,
        median(|cost| cost.loading)?,
        median(|cost| cost.recorded_loading)?,
        listening * 1e3 / events,
    ))
}
