//! Findings about the loaders of all ranks together.

use loadscope_trace::{
    Diagnosis, Epoch, Evidence, Finding, FindingId, Run, RunId, Severity, count, plural,
};
use loadscope_words::say;

use super::{crews, name};

/// Ranks that are named.
const NAMED: usize = 6;

/// Findings about the loader `id` that only the other loaders of `all` show.
pub fn findings(all: &[(RunId, &Run)], id: RunId) -> Vec<Finding> {
    let crews = crews(all);
    let crew = crews
        .iter()
        .find(|crew| crew.iter().any(|at| all[*at].0 == id));
    let crew: Vec<(RunId, &Run)> = crew.into_iter().flatten().map(|at| all[*at]).collect();
    let mut found = failed_elsewhere(all, id);
    found.extend(uneven(&crew));
    found
}

/// Errors in the training steps of the other loaders.
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

/// Ranks of one loader with different numbers of batches in an epoch.
fn uneven(crew: &[(RunId, &Run)]) -> Option<Finding> {
    let epochs = crew.iter().map(|(_, run)| run.epochs().len()).max()?;
    let counts = (0..epochs).find_map(|at| counts(crew, at))?;
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
        severity: match crew.iter().any(|(_, run)| run.step_failure().is_some()) {
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

/// Number of batches of each rank in its epoch at `at`, if they differ and a rank has no more.
fn counts(crew: &[(RunId, &Run)], at: usize) -> Option<Vec<(u32, usize)>> {
    let with_epoch = |(_, run): &(RunId, &'_ Run)| -> Option<(u32, usize, bool)> {
        let epoch = run.epochs().get(at)?;
        let yielded = run.yielded_in(epoch);
        (yielded > 0).then(|| (run.info.rank, yielded, has_no_more(run, epoch)))
    };
    let mut ranks: Vec<(u32, usize, bool)> = crew.iter().filter_map(with_epoch).collect();
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

/// True if the rank got all batches of the epoch.
fn has_no_more(run: &Run, epoch: &Epoch) -> bool {
    let all = run.info.batches_per_epoch;
    run.is_exhausted(epoch) || all.is_some_and(|all| run.yielded_in(epoch) as u64 == all)
}

#[cfg(test)]
mod tests {
    use loadscope_trace::{BatchId, Event, EventKind, Level, Message, Nanos, RunInfo, Stage};

    use super::*;

    /// A rank with so many batches in each epoch. It asks for one batch more unless its last step raises `error`.
    fn rank(rank: u32, epochs: &[u32], error: Option<&str>) -> Run {
        let mut run = Run::new(RunInfo {
            rank,
            world_size: 2,
            dataset: format!("Shard of {} samples", epochs[0]),
            made_at: Some(loadscope_trace::MadeAt {
                file: "train.py".to_owned(),
                line: 21,
                name: "train.py:21".to_owned(),
            }),
            ..RunInfo::default()
        });
        let mut now = 0;
        let mut tell = |ms: i64, kind| {
            now += ms;
            run.apply(&Event {
                at: Nanos::from_millis(now),
                run: RunId(rank),
                kind,
            });
        };
        for (epoch, batches) in epochs.iter().enumerate() {
            let epoch = epoch as u32;
            tell(1, EventKind::EpochStarted { epoch });
            for idx in 0..*batches {
                let batch = BatchId { epoch, idx };
                let stage = Stage::Training;
                tell(0, EventKind::dispatched(batch, Some(0), [1]));
                tell(0, EventKind::Consumer { waiting: true });
                tell(5, EventKind::Entered { batch, stage });
                tell(10, EventKind::Dropped { count: 0 });
            }
            let about = Some(BatchId {
                epoch,
                idx: batches.saturating_sub(1),
            });
            match error {
                Some(text) => tell(
                    6_000,
                    EventKind::Message(Box::new(Message {
                        level: Level::Error,
                        text: text.to_owned(),
                        about,
                        worker: None,
                        sample: None,
                    })),
                ),
                None => tell(0, EventKind::Consumer { waiting: true }),
            }
            tell(0, EventKind::EpochEnded { epoch });
        }
        run
    }

    fn found(a: &Run, b: &Run, id: u32) -> Vec<(FindingId, String)> {
        let found = findings(&[(RunId(0), a), (RunId(1), b)], RunId(id));
        let text = |finding: Finding| (finding.id, finding.text.replace('\u{2009}', " "));
        found.into_iter().map(text).collect()
    }

    #[test]
    fn unequal_numbers_of_batches_are_found_on_each_rank() {
        for (a, b) in [(13, 12), (100, 90), (12, 13)] {
            let ranks = (rank(0, &[a], None), rank(1, &[b], None));
            for id in [0, 1] {
                let found = found(&ranks.0, &ranks.1, id);
                assert_eq!(found.len(), 1, "{found:?}");
                assert_eq!(found[0].0, FindingId::UnevenRanks);
                let expected = format!("rank 0 {a}, rank 1 {b}.");
                assert!(found[0].1.contains(&expected), "{found:?}");
            }
        }
        let later = found(&rank(0, &[8, 9], None), &rank(1, &[8, 8], None), 0);
        assert!(later[0].1.contains("rank 0 9, rank 1 8."), "{later:?}");
        assert!(found(&rank(0, &[8, 8], None), &rank(1, &[8, 8], None), 0).is_empty());
    }

    #[test]
    fn a_rank_that_waits_for_one_that_is_done_is_named_on_both() {
        let error = "RuntimeError: Timed out waiting 6000ms for recv operation";
        let (long, short) = (rank(0, &[13], Some(error)), rank(1, &[12], None));
        let on_short = found(&long, &short, 1);
        let ids: Vec<FindingId> = on_short.iter().map(|(id, _)| *id).collect();
        assert_eq!(ids, [FindingId::StepFailed, FindingId::UnevenRanks]);
        let text = &on_short[0].1;
        assert!(
            text.starts_with("rank 0 · train.py:21: The training step on batch 12 raised"),
            "{text}"
        );
        assert!(
            text.contains("after 6.01 s. A step usually takes"),
            "{text}"
        );
        let runs = [(RunId(0), &long), (RunId(1), &short)];
        assert_eq!(loadscope_trace::fleet::straggler(runs), None);
    }
}
