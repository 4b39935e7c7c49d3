use loadscope_trace::{
    BatchId, Event, EventKind, Fact, Function, RunId, Stack, StackSamples, Stacks,
};

use super::*;

const MS: i64 = 1_000_000;
const DATASET: &str = "/home/me/dataset.py";
const TRAIN: &str = "/home/me/train.py";

fn function(name: &str, file: &str) -> Function {
    let (name, file) = (name.to_owned(), file.to_owned());
    Function { name, file }
}

fn stack(caller: impl Into<Option<u32>>, function: u32, line: u32) -> Stack {
    Stack {
        caller: caller.into(),
        function,
        line,
    }
}

fn samples(all: &[(u32, u32)]) -> Vec<StackSamples> {
    let all = all.iter();
    all.map(|(stack, count)| StackSamples {
        stack: Some(*stack),
        count: *count,
    })
    .collect()
}

/// Returns a run of one batch: 0 to 60 ms fetching, until 80 ms collating in worker 0, until 120 ms training. A sample each 10 ms.
fn run() -> Run {
    let torch = "/v/site-packages/torch/utils/data/_utils";
    let of_worker = Stacks {
        worker: Some(0),
        period: Nanos(10 * MS),
        functions: vec![
            function("_MapDatasetFetcher.fetch", &format!("{torch}/fetch.py")),
            function("Photos.__getitem__", DATASET),
            function("open", "/v/site-packages/PIL/Image.py"),
            function("collate", DATASET),
        ],
        stacks: vec![
            stack(None, 0, 54),
            stack(0, 1, 2),
            stack(1, 2, 3000),
            stack(0, 1, 3),
            stack(0, 3, 7),
        ],
        samples: samples(&[(2, 2), (3, 1), (2, 3), (4, 2)]),
        ..Stacks::default()
    };
    let of_main = Stacks {
        worker: None,
        start: Nanos(80 * MS),
        period: Nanos(10 * MS),
        first_function: 4,
        functions: vec![
            function("train", TRAIN),
            function(
                "Module._call_impl",
                "/v/site-packages/torch/nn/modules/module.py",
            ),
        ],
        first_stack: 5,
        stacks: vec![stack(None, 4, 2), stack(None, 4, 3), stack(6, 5, 1800)],
        samples: samples(&[(5, 1), (7, 2), (6, 1)]),
    };
    let batch = BatchId::default();
    let enter = |stage| EventKind::Entered { batch, stage };
    let source = |file: &str, text: &str| {
        let (file, text) = (file.to_owned(), text.to_owned());
        EventKind::Fact(Box::new(Fact::Source { file, text }))
    };
    let dataset = source(DATASET, "class Photos:\n\tdef __getitem__(self, k):\n");
    let train = source(
        TRAIN,
        "for x in loader:\n    x = x.to(device)\n    net(x)\n",
    );
    let kinds = [
        (0, EventKind::EpochStarted { epoch: 0 }),
        (0, EventKind::dispatched(batch, Some(0), [0])),
        (0, enter(Stage::Fetching)),
        (60, enter(Stage::Collating)),
        (80, enter(Stage::Returning)),
        (80, enter(Stage::Training)),
        (120, EventKind::Consumer { waiting: true }),
        (120, EventKind::Stacks(Box::new(of_worker))),
        (120, EventKind::Stacks(Box::new(of_main))),
        (120, dataset),
        (120, train),
    ];
    let mut run = Run::default();
    for (at, kind) in kinds {
        let (at, id) = (Nanos(at * MS), RunId(0));
        run.apply(&Event { at, run: id, kind });
    }
    run
}

fn profile(subject: Subject, work: Option<Work>, over_time: bool) -> CodeProfile {
    let question = Question {
        subject,
        work,
        over_time,
    };
    CodeProfile::of(&run(), question, &Progress::default()).expect("it is needed")
}

#[test]
fn each_kind_of_work_has_its_samples() {
    let batch = profile(Subject::Batch(0), None, false);
    assert_eq!((batch.work, batch.counts), (Work::Fetching, [6, 2, 4, 12]));
    assert!(batch.is_rough());
    let [line, other] = &batch.lines[..] else {
        panic!("{:?}", batch.lines)
    };
    assert_eq!(
        (line.place.short().as_str(), line.samples),
        ("dataset.py:2", 5)
    );
    assert_eq!(line.callee.as_deref(), Some("PIL.Image.open"));
    assert_eq!((other.place.line, other.samples), (3, 1));
    assert_eq!(batch.time(5), Nanos(50 * MS));
    let trainer = profile(Subject::Process(None), None, false);
    assert_eq!((trainer.work, trainer.total), (Work::Training, 4));
    let phases = trainer.phases.expect("the source calls `to`");
    let counts: Vec<u64> = phases.counts().map(|(_, count)| count).collect();
    assert_eq!(counts, [1, 2, 0, 0, 1]);
    assert_eq!(batch.phases, None);
    let part = profile(Subject::Range(Nanos(0), Nanos(30 * MS)), None, false);
    assert_eq!(part.counts, [3, 0, 0, 3]);
    let nothing = profile(Subject::Process(Some(7)), Some(Work::Collating), false);
    assert_eq!((nothing.work, nothing.total), (Work::Collating, 0));
}

#[test]
fn a_flame_graph_is_left_heavy_or_in_order_of_time() {
    let places = |flame: &Flame, row: usize| {
        let row = flame.rows()[row].iter();
        row.map(|f| (f.start, f.end, f.line)).collect::<Vec<_>>()
    };
    let heavy = profile(Subject::Batch(0), None, false);
    assert_eq!(places(&heavy.flame, 0), [(0, 5, 2), (5, 6, 3)]);
    assert_eq!(places(&heavy.flame, 1), [(0, 5, 3000)]);
    let ordered = profile(Subject::Batch(0), None, true);
    assert_eq!(places(&ordered.flame, 0), [(0, 2, 2), (2, 3, 3), (3, 6, 2)]);
    assert_eq!(ordered.no_order, None);
    let many = profile(Subject::Run, None, true);
    assert!(many.no_order.is_some(), "two processes have no order");
    assert_eq!(many.flame, heavy.flame);
}

#[test]
fn heat_includes_called_functions_and_needs_no_source() {
    let batch = profile(Subject::Batch(0), None, false);
    let heat = |file: &str, line| {
        let file = file.to_owned();
        batch.heat(&Place { file, line })
    };
    assert_eq!(heat(DATASET, 2), 5);
    assert_eq!(heat("/v/site-packages/PIL/Image.py", 3000), 5);
    assert_eq!(heat(DATASET, 1), 0);
    let text = |file: &str| batch.files[file].text.clone();
    let lines = text(DATASET).expect("it is recorded");
    assert_eq!(lines[1], "    def __getitem__(self, k):");
    assert_eq!(text("/v/site-packages/PIL/Image.py"), None);
}

#[test]
fn library_functions_are_named_with_their_modules() {
    let cases = [
        ("/v/site-packages/PIL/Image.py", "PIL.Image.f"),
        ("/v/site-packages/numpy/__init__.py", "numpy.f"),
        ("/usr/lib/python3.11/json/decoder.py", "json.decoder.f"),
        ("/home/me/train.py", "f"),
        ("<string>", "f"),
    ];
    for (file, wanted) in cases {
        assert_eq!(qualified(file, "f"), wanted);
    }
}
