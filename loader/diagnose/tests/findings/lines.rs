use loadscope_diagnose::HotCode;
use loadscope_trace::{Activity, Function, Stack, StackSamples, Stacks};

use super::*;

/// Returns samples of each batch at 10 ms: `slow` samples in line 12, which calls a library, then one in line 30.
fn stacks(batches: u32, slow: u32) -> EventKind {
    let open = ("open", "/v/lib/python3.12/site-packages/PIL/Image.py");
    stacks_in(batches, slow, open)
}

/// Returns these samples with another function in line 12.
fn stacks_in(batches: u32, slow: u32, (called, file): (&str, &str)) -> EventKind {
    let function = |name: &str, file: &str| Function {
        name: name.to_owned(),
        file: file.to_owned(),
    };
    let stack = |caller, function, line| Stack {
        caller,
        function,
        line,
    };
    let entry = |stack, count| StackSamples { stack, count };
    let batch = [
        entry(Some(2), slow),
        entry(Some(1), 4 - slow),
        entry(None, 1),
    ];
    let batch: Vec<StackSamples> = batch.into_iter().filter(|one| one.count > 0).collect();
    EventKind::Stacks(Box::new(Stacks {
        worker: Some(0),
        start: Nanos::ZERO,
        period: Nanos::from_millis(10),
        functions: vec![
            function("Photos.__getitem__", "/home/me/photos.py"),
            function(called, file),
        ],
        stacks: vec![
            stack(None, 0, 12),
            stack(None, 0, 30),
            stack(Some(0), 1, 3000),
        ],
        samples: std::iter::repeat_n(batch, batches as usize)
            .flatten()
            .collect(),
        ..Stacks::default()
    }))
}

/// A batch takes 50 ms: 39 ms of fetching, 1 ms of collating, a step of 10 ms.
const SAMPLED: Program = Program {
    fetch: 39,
    ..PROGRAM
};

#[test]
fn the_line_that_takes_the_time_of_fetching_is_named() {
    let run = SAMPLED.run(vec![(0, ENDED), (0, stacks(40, 3))]);
    let (text, severity) = says(&run, "slow_line").expect("line 12 is slow");
    assert!(
        text.starts_with("photos.py:12 in Photos.__getitem__ takes 75 % ± 6.7 % of the time of fetching, mostly in open (PIL/Image.py): 1.17 s of waiting"),
        "{text}"
    );
    assert_eq!(severity, Severity::Critical);
    let code = HotCode::of(&run, Activity::Fetching).expect("there are samples");
    let sentence = code.sentence().expect("it has lines");
    assert!(
        sentence.starts_with("photos.py:12 in Photos.__getitem__ takes 75"),
        "{sentence}"
    );
    let remedy = &diagnosis(&run)
        .findings
        .into_iter()
        .find(|f| f.id.as_str() == "slow_line");
    let remedy = remedy.as_ref().map(|f| f.remedy.as_str());
    assert!(
        remedy.is_some_and(|remedy| remedy.starts_with("Store the images")),
        "{remedy:?}"
    );
}

#[test]
fn few_samples_and_fast_loaders_name_no_line() {
    let few = SAMPLED.run(vec![(0, ENDED), (0, stacks(5, 3))]);
    assert_eq!(says(&few, "slow_line"), None, "20 samples");
    let fast = Program {
        fetch: 1,
        collate: 0,
        step: 49,
        ..PROGRAM
    };
    let fast = fast.run(vec![(0, ENDED), (0, stacks(40, 3))]);
    assert_eq!(says(&fast, "slow_line"), None, "training hardly waits");
    assert_eq!(
        says(&PROGRAM.run(vec![(0, ENDED)]), "slow_line"),
        None,
        "no stacks"
    );
}

#[test]
fn a_line_that_waits_in_a_system_call_has_the_remedy_of_its_object() {
    let found = |called| {
        let run = SAMPLED.run(vec![(0, ENDED), (0, stacks_in(40, 3, called))]);
        let all = diagnosis(&run).findings.into_iter();
        let mut slow = all.filter(|found| found.id.as_str() == "slow_line");
        slow.next().expect("line 12 is slow")
    };
    let cases = [
        (("recvfrom", "<socket>"), "recvfrom (socket)", "Download"),
        (("pread64", "<file>"), "pread64 (file)", "Copy the dataset"),
        (
            ("clock_nanosleep", "<sleep>"),
            "clock_nanosleep (sleep)",
            "Make this line",
        ),
    ];
    for (called, text, remedy) in cases {
        let found = found(called);
        let called = format!(", mostly in {text}: ");
        assert!(found.text.contains(&called), "{}", found.text);
        assert!(found.remedy.starts_with(remedy), "{}", found.remedy);
    }
}
