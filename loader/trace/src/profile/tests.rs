use crate::event::{Event, EventKind, Stack, StackSamples, Stacks};
use crate::{BatchId, RunId, Stage};

use super::*;

const MS: i64 = 1_000_000;

fn function(name: &str, file: &str) -> Function {
    let (name, file) = (name.to_owned(), file.to_owned());
    Function { name, file }
}

fn samples(all: &[(Option<u32>, u32)]) -> Vec<StackSamples> {
    let all = all.iter();
    all.map(|(stack, count)| StackSamples {
        stack: *stack,
        count: *count,
    })
    .collect()
}

/// Returns a run whose worker fetches a batch from 10 to 60 ms, and collates it until 80 ms.
fn run(events: &[Stacks]) -> Run {
    let mut run = Run::default();
    let batch = BatchId::default();
    let enter = |stage| EventKind::Entered { batch, stage };
    let kinds = [
        (0, EventKind::EpochStarted { epoch: 0 }),
        (5, EventKind::dispatched(batch, Some(0), [0])),
        (10, enter(Stage::Fetching)),
        (60, enter(Stage::Collating)),
        (80, enter(Stage::Returning)),
        (90, enter(Stage::Training)),
        (120, EventKind::Consumer { waiting: true }),
    ];
    let stacks = events
        .iter()
        .map(|one| EventKind::Stacks(Box::new(one.clone())));
    for (at, kind) in kinds.into_iter().chain(stacks.map(|kind| (130, kind))) {
        let (at, id) = (Nanos(at * MS), RunId(0));
        run.apply(&Event { at, run: id, kind });
    }
    run
}

fn worker() -> Stacks {
    let torch = "/v/site-packages/torch/utils/data/_utils";
    let stack = |caller, function, line| Stack {
        caller,
        function,
        line,
    };
    Stacks {
        worker: Some(0),
        start: Nanos(10 * MS),
        period: Nanos(10 * MS),
        functions: vec![
            // A forked worker has the calls of the main process.
            function("<module>", "/home/me/train.py"),
            function("_worker_loop", &format!("{torch}/worker.py")),
            function("_MapDatasetFetcher.fetch", &format!("{torch}/fetch.py")),
            function("Photos.__getitem__", "/home/me/photos.py"),
            function("open", "/v/site-packages/PIL/Image.py"),
            function("default_collate", &format!("{torch}/collate.py")),
        ],
        stacks: vec![
            stack(None, 0, 30),
            stack(Some(0), 1, 349),
            stack(Some(1), 2, 54),
            stack(Some(2), 3, 12),
            stack(Some(3), 4, 3000),
            stack(Some(1), 2, 58),
            stack(Some(5), 5, 100),
        ],
        // 10 to 50 ms in `open`, at 50 ms in line 12, at 60 ms in `default_collate`, then a wait.
        samples: samples(&[(Some(4), 4), (Some(3), 1), (Some(6), 2), (None, 3)]),
        ..Stacks::default()
    }
}

#[test]
fn a_line_of_the_user_includes_the_library_that_it_calls() {
    let run = run(&[worker()]);
    let all = Nanos(0)..Nanos::MAX;
    let fetching = run.profile(Activity::Fetching, all.clone());
    let lines = fetching.lines(run.stacks());
    let [line] = &lines[..] else {
        panic!("{lines:?}")
    };
    assert_eq!((line.place(), line.samples), ("photos.py:12".to_owned(), 5));
    assert_eq!(line.callee.map(|(f, n)| (&*f.name, n)), Some(("open", 4)));
    let collating = run.profile(Activity::Collating, all);
    let lines = collating.lines(run.stacks());
    assert_eq!(
        lines[0].place(),
        "collate.py:100",
        "a library contains the dataset"
    );
    assert_eq!(collating.total(), 2);
}

/// A busy host reads a stack late.
#[test]
fn a_late_sample_belongs_to_the_work_of_its_line() {
    let mut late = worker();
    // The last sample of `fetch` is read while the batch is collated.
    late.samples = samples(&[(Some(4), 6), (Some(6), 1)]);
    let run = run(&[late]);
    let count = |activity| run.profile(activity, Nanos(0)..Nanos::MAX).total();
    assert_eq!(count(Activity::Fetching), 6);
    assert_eq!(count(Activity::Collating), 1);
    assert_eq!(count(Activity::Training), 0);
}

/// Before Python 3.12, `fetch` calls the dataset in a list comprehension.
#[test]
fn a_dataset_of_a_library_is_named_in_its_own_file() {
    let mut library = worker();
    let torch = "/v/site-packages/torch/utils/data";
    library.functions[3] = function(
        "ImageFolder.__getitem__",
        "/v/site-packages/torchvision/folder.py",
    );
    let fetch = format!("{torch}/_utils/fetch.py");
    library.functions.push(function(
        "_MapDatasetFetcher.fetch.<locals>.<listcomp>",
        &fetch,
    ));
    library.functions.push(function(
        "Subset.__getitem__",
        &format!("{torch}/dataset.py"),
    ));
    let stack = |caller, function, line| Stack {
        caller: Some(caller),
        function,
        line,
    };
    library.stacks.extend([
        stack(2, 6, 54),
        stack(7, 7, 400),
        stack(8, 3, 247),
        stack(9, 4, 3000),
    ]);
    library.samples = samples(&[(Some(10), 5), (Some(6), 1)]);
    let run = run(&[library]);
    let fetching = run.profile(Activity::Fetching, Nanos(0)..Nanos::MAX);
    let lines = fetching.lines(run.stacks());
    assert_eq!(
        (lines[0].place(), lines[0].samples),
        ("folder.py:247".to_owned(), 5)
    );
}

/// Lost definitions are no code of the user.
#[test]
fn a_stack_without_a_file_is_no_hot_line() {
    let mut lost = worker();
    lost.functions[3] = function("", "");
    let run = run(&[lost]);
    let lines = run.profile(Activity::Fetching, Nanos(0)..Nanos::MAX);
    let lines = lines.lines(run.stacks());
    assert!(
        lines.iter().all(|line| !line.function.file.is_empty()),
        "{lines:?}"
    );
}

#[test]
fn the_tree_begins_inside_the_dataset() {
    let run = run(&[worker()]);
    let profile = run.profile_of(Some(0), Nanos(0)..Nanos(60 * MS));
    let tree = profile.tree(run.stacks());
    let [item] = &tree.calls[..] else {
        panic!("{tree:?}")
    };
    assert_eq!(
        item.call.map(|(f, line)| (&*f.name, line)),
        Some(("Photos.__getitem__", 12))
    );
    assert_eq!(
        (tree.samples, item.samples, item.calls[0].samples),
        (5, 5, 4)
    );
}

#[test]
fn samples_are_cut_at_the_borders_of_a_range() {
    let run = run(&[worker()]);
    let count = |from: i64, to: i64| {
        let profile = run.profile_of(Some(0), Nanos(from * MS)..Nanos(to * MS));
        profile.total()
    };
    assert_eq!((count(0, 10), count(0, 11), count(10, 20)), (0, 1, 1));
    assert_eq!((count(11, 41), count(25, 26), count(0, 1000)), (3, 0, 7));
    assert_eq!(run.profile_of(None, Nanos(0)..Nanos::MAX).total(), 0);
}

#[test]
fn repeated_definitions_change_nothing_and_gaps_are_counted() {
    let mut later = worker();
    (later.start, later.samples) = (Nanos(90 * MS), samples(&[(Some(4), 2)]));
    let whole = run(&[worker(), later.clone()]);
    assert_eq!(whole.profile_of(Some(0), Nanos(0)..Nanos::MAX).total(), 9);
    assert_eq!(whole.anomalies(), (0, 0));
    later.first_stack = 8;
    let lost = run(&[worker(), later]);
    assert_eq!(lost.anomalies(), (0, 1));
}

#[test]
fn a_place_is_short_and_unambiguous() {
    let cases = [
        ("/home/me/data.py", 7, "data.py:7"),
        ("data.py", 7, "data.py:7"),
        ("/home/me/data/__init__.py", 7, "data/__init__.py:7"),
        ("__main__.py", 7, "__main__.py:7"),
        ("/home/me/data.py", 0, "data.py"),
    ];
    for (file, line, wanted) in cases {
        assert_eq!(place(file, line), wanted);
    }
}

#[test]
fn a_system_call_belongs_to_the_line_that_waits_in_it() {
    let mut waits = worker();
    let stack = |caller, function| Stack {
        caller: Some(caller),
        function,
        line: 0,
    };
    waits.functions.push(function("pread64", "<file>"));
    // In `open` of PIL, which line 12 calls, and in `default_collate`, without any code of the user.
    waits.stacks.extend([stack(4, 6), stack(6, 6)]);
    waits.samples = samples(&[(Some(7), 4), (Some(3), 1), (Some(8), 2)]);
    let run = run(&[waits]);
    let lines = |activity| {
        let profile = run.profile(activity, Nanos(0)..Nanos::MAX);
        let lines = profile.lines(run.stacks()).into_iter();
        let name = |found: Option<(&Function, u64)>| found.map(|(f, n)| (f.name.clone(), n));
        lines
            .map(|line| (line.place(), name(line.callee), name(line.wait)))
            .collect::<Vec<_>>()
    };
    let called = |name: &str, samples| Some((name.to_owned(), samples));
    let fetching = (
        "photos.py:12".to_owned(),
        called("open", 4),
        called("pread64", 4),
    );
    assert_eq!(lines(Activity::Fetching), [fetching]);
    let collating = ("collate.py:100".to_owned(), None, called("pread64", 2));
    assert_eq!(lines(Activity::Collating), [collating]);
}
