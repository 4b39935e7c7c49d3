//! Queries of a user on an opened recording. None may panic or contradict another.

#[path = "../../trace/tests/ask/mod.rs"]
mod ask;

use loadscope_diagnose::{Blame, Diagnosis, WaitSummary};
use loadscope_exchange::{ExportError, Format, export, files};
use loadscope_files::Existing;
use loadscope_trace::{Fleet, Nanos, Run, RunId, fleet};

use crate::scratch;

/// Maximum number of examined runs. The cost grows with each run.
const MOST_RUNS: usize = 6;

/// Runs the common queries. With `thoroughly`, runs all queries and writes every export format.
pub fn fleet(fleet: &Fleet, thoroughly: bool) {
    let runs: Vec<(RunId, &Run)> = fleet.runs().take(MOST_RUNS).collect();
    for (_, run) in &runs {
        check_run(run);
        if thoroughly {
            ask::ask_everything(run);
        }
    }
    assert_eq!(fleet.longest_waiting().is_some(), fleet.runs().len() > 0);
    let all = runs.iter().map(|(_, run)| *run);
    if let Some((start, end)) = fleet::extent(all.clone()) {
        assert!(start <= end);
        for run in all {
            let ready = fleet::readiness(run, start, end, 7);
            assert!(ready.iter().flatten().all(|r| (0.0..=1.0).contains(r)));
        }
    }
    if thoroughly {
        write(&runs);
    }
}

/// Checks the pipeline at some instants, the causes of waits, and the findings.
fn check_run(run: &Run) {
    let (end, count) = (run.end(), run.batches().len());
    for at in [Nanos(-1), Nanos::ZERO, Nanos(end.0 / 2), end, Nanos::MAX] {
        let pipeline = run.pipeline_at(at);
        assert!(pipeline.batches().all(|b| b.row < count));
        assert!(pipeline.tasks_outstanding <= pipeline.send_idx);
        let _ = (pipeline.awaited(), pipeline.task_info().count());
    }
    let blame = Blame::whole(run);
    let sum = blame.iter().fold(Nanos::ZERO, |sum, (_, t)| sum + t);
    assert_eq!(sum, blame.waited);
    let range = run.range(Nanos(end.0 / 3), end);
    assert!(range.batches <= run.batches().len() as u64);
    let wait_summary = WaitSummary::of(run);
    let diagnosis = Diagnosis::of(run, None, Vec::new());
    let said = [wait_summary.headline(), diagnosis.verdict.text()];
    let found = diagnosis.findings.iter().flat_map(|f| [&f.text, &f.remedy]);
    // Findings quote messages of the program, which can contain any text.
    let quotes = run.messages().iter().any(|(_, m)| m.text.contains("NaN"));
    for text in said.iter().chain(found) {
        assert!(quotes || !text.contains("NaN"), "{text}");
        assert!(!text.is_empty());
    }
}

/// Writes every export format.
fn write(runs: &[(RunId, &Run)]) {
    scratch::with(|folder| {
        for format in Format::ALL {
            let out = folder.join(format!("export-{format:?}"));
            match export(runs, format, &out, Existing::Replace, |_| true) {
                Ok(written) => assert_eq!(written, files(format, &out)),
                Err(ExportError::NoStacks) => {
                    assert!(runs.iter().all(|(_, run)| run.stacks().is_empty()));
                }
                Err(e) => panic!("{e}"),
            }
        }
    });
}
