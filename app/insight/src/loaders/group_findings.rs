//! Findings about the loaders of all ranks together.

use std::collections::BTreeSet;

use loadscope_diagnose::{
    Diagnosis, Evidence, Finding, FindingId, Severity, Straggler, WaitSummary,
};
use loadscope_trace::{Epoch, Nanos, Run, RunId, count, percent, plural};
use loadscope_words::say;

use super::{name, rank_groups};

/// Maximum number of named ranks.
const NAMED: usize = 6;

/// Returns findings about the loader `id` that need the other loaders of `all`.
pub fn findings(all: &[(RunId, &Run)], id: RunId) -> Vec<Finding> {
    let rank_groups = rank_groups(all);
    let group = rank_groups
        .iter()
        .find(|group| group.iter().any(|at| all[*at].0 == id));
    let group: Vec<(RunId, &Run)> = group.into_iter().flatten().map(|at| all[*at]).collect();
    let mut found = failed_elsewhere(all, id);
    found.extend(uneven(&group));
    found
}

/// Finds errors in the training steps of the other loaders.
fn failed_elsewhere(all: &[(RunId, &Run)], id: RunId) -> Vec<Finding> {
    let others = all.iter().filter(|(other, _)| *other != id);
    let failed = others.filter(|(_, run)| run.step_failure().is_some());
    let found = failed.flat_map(|(_, run)| {
        let findings = Diagnosis::of(run, None, Vec::new()).findings.into_iter();
        let of_step = findings.filter(|finding| finding.id == FindingId::StepFailed);
        of_step.map(|finding| Finding {
            text: format!("{}: {}", name(&run.info), finding.text),
            evidence: Evidence::Run,
            ..finding
        })
    });
    found.take(NAMED).collect()
}

/// Finds ranks of one loader with different numbers of batches in an epoch.
fn uneven(group: &[(RunId, &Run)]) -> Option<Finding> {
    let epochs = group.iter().map(|(_, run)| run.epochs().len()).max()?;
    let counts = (0..epochs).find_map(|at| counts(group, at))?;
    let least = counts.iter().map(|(_, batches)| *batches).min()?;
    let each: Vec<String> = counts
        .iter()
        .take(NAMED)
        .map(|(rank, batches)| say!("rank {rank} {}", count(*batches as u64)))
        .collect();
    let more = match counts.len().saturating_sub(NAMED) {
        0 => String::new(),
        n => say!(
            " and {}",
            plural(n as u64, say!(n: "other"), say!(n: "others"))
        ),
    };
    Some(Finding {
        id: FindingId::UnevenRanks,
        text: say!(
            "Ranks yield different numbers of batches: {}{more}. A collective such as all_reduce after batch {} of a rank waits for a rank that has ended its loop.",
            each.join(say!(", ")),
            count(least as u64)
        ),
        severity: match group.iter().any(|(_, run)| run.step_failure().is_some()) {
            true => Severity::Critical,
            false => Severity::Warning,
        },
        evidence: Evidence::Run,
        remedy: say!(
            "Give all ranks the same number of batches: DistributedSampler for a map-style dataset, equal shards or a common limit for an IterableDataset. For unequal ranks, torch.distributed.algorithms.join.Join ends the collectives."
        )
        .to_owned(),
        cost: None,
    })
}

/// Returns each rank's number of batches in epoch `at`. Returns `None` unless the numbers differ because a rank ran out of batches.
fn counts(group: &[(RunId, &Run)], at: usize) -> Option<Vec<(u32, usize)>> {
    let with_epoch = |(_, run): &(RunId, &'_ Run)| -> Option<(u32, usize, bool)> {
        let epoch = run.epochs().get(at)?;
        let yielded = run.yielded_in(epoch);
        (yielded > 0).then(|| (run.info.rank, yielded, has_no_more(run, epoch)))
    };
    let mut ranks: Vec<(u32, usize, bool)> = group.iter().filter_map(with_epoch).collect();
    ranks.sort_unstable();
    let most = ranks.iter().map(|(_, batches, _)| *batches).max()?;
    let is_short = |(_, batches, is_over): &(u32, usize, bool)| *is_over && *batches < most;
    let differ = ranks.iter().any(is_short);
    differ.then(|| {
        ranks
            .into_iter()
            .map(|(rank, batches, _)| (rank, batches))
            .collect()
    })
}

/// Returns true if the rank received all batches of the epoch.
fn has_no_more(run: &Run, epoch: &Epoch) -> bool {
    let all = run.info.batches_per_epoch;
    run.is_exhausted(epoch) || all.is_some_and(|all| run.yielded_in(epoch) as u64 == all)
}

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
