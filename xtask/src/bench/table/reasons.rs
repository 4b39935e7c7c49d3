//! Reasons for missed goals, from other figures of the same run.

use std::fmt::Write as _;

use crate::bench::measured::{Measured, cores, figure};
use crate::bench::measurement::Cost;
use crate::bench::programs::Program;
use crate::bench::workload::Goal;
use crate::spread::Spread;

const HEAD: &str = "\n## Why goals are missed\n\nMedians of the same run.\n\n";

/// Workload that does only a part of another workload. Its figure bounds the whole workload.
pub(super) struct Part {
    /// ID of the whole workload.
    pub of: &'static str,
    /// ID of the workload that does only the part.
    pub workload: &'static str,
    /// Description of the part, the subject of a sentence.
    description: &'static str,
}

pub(super) const PARTS: [Part; 5] = [
    Part {
        of: "w1",
        workload: "w1-copy",
        description: "Copying alone, with no loader,",
    },
    Part {
        of: "w1-samples",
        workload: "w1-copy",
        description: "Copying alone, with no loader,",
    },
    Part {
        of: "w3",
        workload: "w3-decode",
        description: "Decoding alone, with no loader, no reading and no resizing,",
    },
    Part {
        of: "w5-round-trip",
        workload: "w5-round-trip-main",
        description: "Making the same batches in the main thread, with no queue,",
    },
    Part {
        of: "w6",
        workload: "w6-copy",
        description: "Copying alone, with no loader,",
    },
];

/// Appends a line for each missed goal whose reason was measured. Appends nothing if no goal was missed.
pub fn section(text: &mut String, measured: &[Measured]) {
    let mut head = Some(HEAD);
    for one in measured {
        for goal in one.workload.goals.iter().chain(one.workload.recording) {
            let missed = one.check_goal(*goal).filter(|(_, _, met)| !met);
            let (Some((said, ..)), Some(reason)) = (missed, reason(one, *goal, measured)) else {
                continue;
            };
            text.push_str(head.take().unwrap_or_default());
            let _ = writeln!(text, "- **{}**, {said}: {reason}", one.workload.id);
        }
    }
}

fn reason(one: &Measured, goal: Goal, all: &[Measured]) -> Option<String> {
    match goal {
        Goal::Events(most, workers) => recording(one, most, workers, "events"),
        Goal::Log(most, workers) => recording(one, most, workers, "log"),
        Goal::TimesPytorch(least) => part(one, Some(least * one.median(Program::Pytorch)?), all),
        Goal::TimesDataloaderRs(least) => {
            part(one, Some(least * one.median(Program::DataloaderRs)?), all)
        }
        Goal::TimesDataloaderRsMimalloc(least) => part(
            one,
            Some(least * one.median(Program::DataloaderRsMimalloc)?),
            all,
        ),
        Goal::AtLeast(_) => part(one, None, all),
        Goal::TimesCounterpart(_) | Goal::NoneLost | Goal::AtMost(_) => None,
    }
}

/// Compares a workload with its part, where more is better. `wanted` is the required value, unless the goal already states it.
fn part(one: &Measured, wanted: Option<f64>, all: &[Measured]) -> Option<String> {
    let part = PARTS.iter().find(|part| part.of == one.workload.id)?;
    let alone = all
        .iter()
        .find(|other| other.workload.id == part.workload)?;
    let (ours, most) = (
        one.median(Program::Loadscope)?,
        alone.median(Program::Loadscope)?,
    );
    let shown = |value| figure(one.workload.unit, value);
    let mut text = match wanted {
        Some(wanted) => format!("that would be {}. ", shown(wanted)),
        None => String::new(),
    };
    let _ = write!(
        text,
        "{} comes to {}; Loadscope comes to {}, {:.0} % of it.",
        part.description,
        shown(most),
        shown(ours),
        ours / most * 100.0
    );
    if let Some(theirs) = alone.median(Program::Pytorch) {
        let one_thread = alone.median_of(Program::Loadscope, 1)?;
        let _ = write!(
            text,
            " With one thread the same part comes to {} here, and to {} in PyTorch's program.",
            shown(one_thread),
            shown(theirs)
        );
    }
    Some(text)
}

/// Compares the allowed slowdown with the time that the events of a batch need.
fn recording(one: &Measured, most: f64, workers: u8, recording: &str) -> Option<String> {
    let costs: Vec<Cost> = one.costs(workers, recording).collect();
    let median = |of: fn(&Cost) -> f64| Some(Spread::of(costs.iter().map(of))?.median);
    let (batch, loading) = (median(|cost| cost.batch)?, median(|cost| cost.loading)?);
    let (events, recorder) = (median(|cost| cost.events)?, median(|cost| cost.listening)?);
    let told = median(|cost| cost.recorded_loading - cost.loading)?;
    let loader = match told > 0.0 {
        true => format!(
            "take the loader's threads {told:.2} µs more ({:.0} ns each)",
            told * 1e3 / events
        ),
        // A loader that waits for the recorder does not wait for its own other threads during that time.
        false => "take the loader's threads no more".to_owned(),
    };
    let busy = loading / batch;
    let room = if busy > f64::from(cores()) - 0.5 {
        "; the loader leaves it no core"
    } else if recorder > batch {
        ", longer than a batch takes; nothing may be lost, so the loader waits for it"
    } else {
        ", which has a core of its own"
    };
    Some(format!(
        "a batch takes {batch:.2} µs, so that would be {:.2} µs. Its {events:.1} events {loader} and the recorder {recorder:.2} µs \
         ({:.0} ns each){room}.",
        batch * most,
        recorder * 1e3 / events
    ))
}
