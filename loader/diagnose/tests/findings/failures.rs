//! Runs that ended with an error or a killed worker.

use loadscope_trace::{Fact, WorkerId};

use super::*;

fn error(text: &str, about: Option<u32>, sample: Option<u64>) -> EventKind {
    EventKind::Message(Box::new(Message {
        level: Level::Error,
        text: text.to_owned(),
        about: about.map(|idx| BatchId { epoch: 0, idx }),
        worker: Some(0),
        sample,
    }))
}

#[test]
fn an_error_that_ended_the_run_is_reported_first() {
    let failing = BatchId { epoch: 0, idx: 40 };
    let entered = |stage| EventKind::Entered {
        batch: failing,
        stage,
    };
    let end = vec![
        (0, EventKind::dispatched(failing, Some(0), [77])),
        (0, EventKind::Consumer { waiting: true }),
        (0, entered(Stage::Fetching)),
        (30, entered(Stage::Failed)),
        (
            30,
            error("ValueError: corrupt\nTraceback", Some(40), Some(77)),
        ),
        (900, ENDED),
        (900, EventKind::RunEnded),
    ];
    let run = PROGRAM.run(end.clone());
    let verdict = diagnosis(&run).verdict;
    assert_eq!(verdict.id, VerdictId::Finding(FindingId::Failed));
    let text = verdict.text().replace('\u{2009}', " ");
    assert!(
        text.starts_with(
            "The run ended with an error at 2.07 s in sample 77 of batch 40 in worker 0: ValueError: corrupt. The trainer waited"
        ),
        "{text}"
    );
    // An error in `collate_fn` does not concern a single sample.
    let remedy = |stage| {
        let mut end = end.clone();
        end.insert(3, (20, entered(stage)));
        let all = diagnosis(&PROGRAM.run(end)).findings;
        let found = all.into_iter().find(|f| f.id == FindingId::Failed);
        found.expect("it failed").remedy
    };
    assert!(remedy(Stage::Collating).starts_with("Make collate_fn accept this batch"));
    assert!(remedy(Stage::Fetching).starts_with("Catch the error in __getitem__"));
    // A run that continues after errors, or catches them, does not end with an error.
    let mut goes_on = run.clone();
    goes_on.info.options.on_error = loadscope_trace::OnError::Continue;
    assert_eq!(says(&goes_on, "failed"), None);
    let mut caught = end[..5].to_vec();
    let next = BatchId { epoch: 0, idx: 41 };
    for (after, stage) in [
        (40, Stage::Fetching),
        (50, Stage::Training),
        (60, Stage::Done),
    ] {
        if stage == Stage::Fetching {
            caught.push((after, EventKind::dispatched(next, Some(0), [78])));
        }
        let batch = next;
        caught.push((after, EventKind::Entered { batch, stage }));
    }
    caught.push((70, ENDED));
    assert_eq!(says(&PROGRAM.run(caught), "failed"), None);
    // A message after the last epoch did not end the run.
    let after = vec![(5, ENDED), (9, error("Exception ignored", None, None))];
    assert_eq!(says(&PROGRAM.run(after), "failed"), None);
}

#[test]
fn a_full_disk_is_not_reported_as_full_shared_memory() {
    let has = |text: &str| {
        let run = PROGRAM.run(vec![
            (30, error(text, None, None)),
            (900, EventKind::RunEnded),
        ]);
        says(&run, "shared_memory").is_some()
    };
    assert!(!has(
        "OSError: [Errno 28] No space left on device: '/cache/1.png'"
    ));
    assert!(has(
        "RuntimeError: unable to write to file </torch_8_1>: No space left on device (28)"
    ));
    assert!(has("ERROR: Unexpected bus error: Bus error"));
}

#[test]
fn a_killed_worker_is_reported_first_and_once() {
    let reason = EndReason::Died;
    let lost = BatchId { epoch: 0, idx: 40 };
    let end = vec![
        (0, EventKind::dispatched(lost, Some(0), [77])),
        (
            1,
            EventKind::Entered {
                batch: lost,
                stage: Stage::Fetching,
            },
        ),
        (
            20,
            error("DataLoader worker exited unexpectedly", None, None),
        ),
        (
            20,
            EventKind::WorkerEnded {
                worker: 0,
                reason,
                os_id: None,
            },
        ),
        (
            20,
            error("Worker 0 (process 7) was killed by signal 9", None, None),
        ),
        (500, ENDED),
        (500, EventKind::RunEnded),
    ];
    let run = PROGRAM.run(end.clone());
    let diagnosis = diagnosis(&run);
    let text = diagnosis.verdict.text().replace('\u{2009}', " ");
    assert!(
        text.starts_with(
            "Worker 0 (process 7) was killed by signal 9 at 2.06 s while it worked on batch 40. The trainer waited"
        ),
        "{text}"
    );
    assert_eq!(says(&run, "failed"), None);
    // The wording of the message is irrelevant.
    let text = "Worker 0 left with code 9";
    let mut end = end;
    end[4].1 = error(text, None, None);
    let (said, _) = says(&PROGRAM.run(end), "dead_worker").expect("it died");
    assert!(said.starts_with(text), "{said}");
}

#[test]
fn a_file_position_that_two_workers_share_is_critical() {
    let shared = |file: &str, workers: &[WorkerId]| {
        let fact = Fact::SharedFile {
            file: file.to_owned(),
            descriptor: 7,
            workers: workers.to_vec(),
        };
        (0, EventKind::Fact(Box::new(fact)))
    };
    let of = |facts: &[(i64, EventKind)]| {
        let end = facts.iter().cloned().chain([(1, ENDED)]);
        says(&PROGRAM.run(end.collect()), "shared_file")
    };
    let (text, severity) = of(&[shared("/data/a.tar", &[0, 1, 3])]).expect("it is shared");
    assert_eq!(
        text,
        "3 workers share one position in /data/a.tar, which they inherited from the main process (file descriptor 7). A read of one worker moves the position of the others, so without a common lock they can read wrong data."
    );
    assert_eq!(severity, Severity::Warning);
    // A file can be reported again for other workers.
    let several = ["/data/a.tar", "/data/b.tar", "/data/a.tar"].map(|file| shared(file, &[0, 1]));
    let (text, _) = of(&several).expect("they are shared");
    assert!(
        text.starts_with("2 workers share one position in each of 2 files, which they inherited"),
        "{text}"
    );
    assert_eq!(of(&[shared("/data/a.tar", &[0])]), None);
}
