//! Texts about stragglers and clocks.

use std::collections::BTreeSet;

use loadscope_diagnose::{Straggler, WaitSummary};
use loadscope_trace::{Nanos, Run, RunId, percent};
use loadscope_words::say;

/// Describes the straggler among the loaders with the name `called`. `None` omits the name, for use below a heading.
pub fn describe_straggler(
    runs: &[(RunId, &Run)],
    slow: Option<&Straggler>,
    called: Option<&str>,
) -> Option<String> {
    if runs.len() < 2 {
        return None;
    }
    let whose = called.map_or(String::new(), |name| say!(" for {name}"));
    let Some(slow) = slow else {
        return Some(say!("No rank is a straggler{whose}"));
    };
    let slowest = runs.iter().find(|(id, _)| *id == slow.run);
    let whole = slowest.map_or(Nanos::ZERO, |(_, run)| WaitSummary::of(run).total);
    let often = match slow.of_epochs {
        0 | 1 => String::new(),
        of => say!(", slowest in {} of {of} epochs", slow.epochs),
    };
    Some(say!(
        "Rank {} is the straggler{whose}: its trainer waited {}, the median of the other ranks is {} ({} of the run{often})",
        slow.rank,
        slow.waited.format_in_unit_of(whole),
        slow.usual.format_in_unit_of(whole),
        percent(slow.share)
    ))
}

/// Describes the accuracy of the clocks of other hosts, one sentence per clock.
pub fn clocks(all: &[(RunId, &Run)]) -> Vec<String> {
    let mut said = BTreeSet::new();
    for (_, run) in all {
        let Some(clock) = run.info.clock else {
            continue;
        };
        let whose = match (run.info.host.as_str(), run.info.recording.as_str()) {
            ("", "") => say!("Another host"),
            ("", recording) => recording,
            (host, _) => host,
        };
        said.insert(say!("{whose}: clock aligned {}", clock.label()));
    }
    said.into_iter().collect()
}
