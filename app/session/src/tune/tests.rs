use std::path::PathBuf;

use loadscope_live::Effects;
use loadscope_trace::{BatchId, Event, EventKind, Nanos, RunOptions, SourceLine, Stage};

use super::*;

/// Returns the events of a loader that was created at `line`.
fn events(run: u32, line: u32, dataset: &str, workers: usize, batches: u32) -> Vec<Event> {
    let info = RunInfo {
        made_at: Some(SourceLine {
            file: "/home/me/train.py".to_owned(),
            line,
            name: format!("train.py:{line}"),
        }),
        dataset: dataset.to_owned(),
        options: RunOptions {
            num_workers: workers,
            ..RunOptions::default()
        },
        ..RunInfo::default()
    };
    let mut kinds = vec![
        EventKind::RunStarted(Box::new(info)),
        EventKind::EpochStarted { epoch: 0 },
    ];
    for idx in 0..batches {
        let batch = BatchId { epoch: 0, idx };
        kinds.push(EventKind::dispatched(batch, None, Vec::new()));
        for stage in [Stage::Fetching, Stage::Ready, Stage::Training] {
            kinds.push(EventKind::Entered { batch, stage });
        }
    }
    let run = RunId(run);
    let timed = kinds.into_iter().zip(0..);
    timed
        .map(|(kind, at)| Event {
            at: Nanos(at * 1000),
            run,
            kind,
        })
        .collect()
}

fn ran(end: End, stopped: bool, told: &[Vec<Event>]) -> TrialRun {
    let mut fleet = Fleet::default();
    told.iter().flatten().for_each(|event| fleet.apply(event));
    TrialRun {
        end,
        effects: Effects {
            stopped,
            ..Effects::default()
        },
        complaint: None,
        fleet,
        log: PathBuf::from("/folder/02.log"),
        recording: "02.jsonl.zst".to_owned(),
    }
}

fn first() -> First {
    let told = ran(End::Code(130), true, &[events(0, 42, "train", 1, 100)]);
    First {
        run: told.fleet.get(RunId(0)).cloned().unwrap_or_default(),
        name: "train.py:42".to_owned(),
        target: None,
    }
}

#[test]
fn loaders_of_two_runs_match_by_line_and_dataset() {
    let told = ran(
        End::Code(130),
        true,
        &[
            events(0, 40, "train", 1, 90),
            events(1, 42, "validation", 1, 100),
            events(2, 42, "train", 4, 80),
        ],
    );
    let found = counterpart(&told.fleet, &first().run.info).expect("it is there");
    assert_eq!((found.0, found.1.info.options.num_workers), (RunId(2), 4));
    let other = ran(End::Code(0), false, &[events(0, 40, "train", 1, 90)]);
    assert!(counterpart(&other.fleet, &first().run.info).is_none());
}

#[test]
fn a_failed_short_or_unchanged_run_is_not_compared() {
    let batches = std::num::NonZeroU64::new(100)
        .map(Stop::Batches)
        .expect("not zero");
    let four = Overrides {
        num_workers: Some(4),
        ..Overrides::default()
    };
    let why = |end, stopped, workers, count| {
        let told = ran(end, stopped, &[events(0, 42, "train", workers, count)]);
        let run = counterpart(&told.fleet, &first().run.info);
        why_not(&told, run, &first(), &four, batches)
    };
    assert_eq!(why(End::Code(130), true, 4, 100), None);
    // The program ended by itself, slightly earlier.
    assert_eq!(why(End::Code(0), false, 4, 60), None);
    let has = |why: Option<String>, word: &str| why.is_some_and(|why| why.contains(word));
    assert!(has(why(End::Code(3), false, 4, 100), "code 3, see 02.log"));
    assert!(has(why(End::Signal(9), false, 4, 100), "signal 9"));
    assert!(has(why(End::Code(0), false, 4, 20), "only 20 batches"));
    assert!(has(
        why(End::Code(130), true, 1, 100),
        "num_workers could not be set"
    ));
    let nothing = ran(End::Code(0), false, &[]);
    assert!(has(
        why_not(&nothing, None, &first(), &four, batches),
        "not iterated"
    ));
}

/// The error of `DataLoader` comes from the effects of the request, not from a message of the run.
#[test]
fn a_rejected_setting_gives_the_dataloader_error() {
    let batches = std::num::NonZeroU64::new(100)
        .map(Stop::Batches)
        .expect("not zero");
    let four = Overrides {
        num_workers: Some(4),
        ..Overrides::default()
    };
    let mut told = events(0, 42, "train", 1, 100);
    let text = "This loader cannot be made. DataLoader rejected the new ones".to_owned();
    told.push(Event::warning(RunId(0), Nanos(0), text));
    let mut told = ran(End::Code(130), true, &[told]);
    let why = |told: &TrialRun| {
        let run = counterpart(&told.fleet, &first().run.info);
        why_not(told, run, &first(), &four, batches)
    };
    assert_eq!(why(&told).as_deref(), Some("num_workers could not be set"));
    let error = "ValueError: no".to_owned();
    told.effects.refused.insert(RunId(0), error);
    let expected = "num_workers could not be set: ValueError: no";
    assert_eq!(why(&told).as_deref(), Some(expected));
}
