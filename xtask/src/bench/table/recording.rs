//! What recording needs of the processor: the reasons behind what it costs.

use std::fmt::Write as _;

use super::{Measured, Spread};
use crate::bench::turn::Cost;

const HEAD: &str = "\n## What recording needs\n\nMedians, microseconds a batch. *Loading* is what all threads of the loader need of the \
    processor, without recording and with it; *the recorder* is the thread that takes the events, and writes and compresses them where \
    there is a log. Where the loader leaves no core free, the loader waits for as long as the recorder needs one.\n\n\
    | work | workers | recording | slower | a batch takes | loading | loading, recorded | the recorder | events a batch | ns an event |\n\
    |---|---|---|---|---|---|---|---|---|---|\n";

/// A row for each way in which work was recorded; nothing if none was.
pub fn section(text: &mut String, measured: &[Measured]) {
    let mut head = Some(HEAD);
    for one in measured {
        for recording in ["events", "log"] {
            for workers in [0, 2] {
                let costs: Vec<Cost> = one.costs(workers, recording).collect();
                let median = |of: fn(&Cost) -> f64| Spread::of(costs.iter().map(of));
                let Some(row) = row(median) else { continue };
                text.push_str(head.take().unwrap_or_default());
                let _ = writeln!(
                    text,
                    "| {} | {workers} | {recording} | {row} |",
                    one.work.id
                );
            }
        }
    }
}

fn row(median: impl Fn(fn(&Cost) -> f64) -> Option<Spread>) -> Option<String> {
    let median = |of| median(of).map(|spread| spread.median);
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
