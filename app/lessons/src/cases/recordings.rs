//! Embedded recordings, created by `assets/lessons/cases/make.py`.

use loadscope_trace::{LogReader, Nanos, Run, Sorter};

use super::Culprit;

/// Recordings of PyTorch programs with their causes, two per program.
pub(super) const RECORDINGS: [(&str, Culprit, [&[u8]; 2]); 4] = [
    (
        "no_workers.py",
        Culprit::NoWorkers,
        [
            include_bytes!("../../../../assets/lessons/cases/no_workers_0.jsonl.zst"),
            include_bytes!("../../../../assets/lessons/cases/no_workers_1.jsonl.zst"),
        ],
    ),
    (
        "late_workers.py",
        Culprit::LateWorkers,
        [
            include_bytes!("../../../../assets/lessons/cases/late_workers_0.jsonl.zst"),
            include_bytes!("../../../../assets/lessons/cases/late_workers_1.jsonl.zst"),
        ],
    ),
    (
        "slow_samples.py",
        Culprit::SlowSamples,
        [
            include_bytes!("../../../../assets/lessons/cases/slow_samples_0.jsonl.zst"),
            include_bytes!("../../../../assets/lessons/cases/slow_samples_1.jsonl.zst"),
        ],
    ),
    (
        "few_workers.py",
        Culprit::TooFewWorkers,
        [
            include_bytes!("../../../../assets/lessons/cases/few_workers_0.jsonl.zst"),
            include_bytes!("../../../../assets/lessons/cases/few_workers_1.jsonl.zst"),
        ],
    ),
];

/// Name of the program in every case.
const NEUTRAL: &str = "train.py";

/// Reads an embedded recording. The name of its program reveals the cause, so it is replaced.
pub(super) fn recorded(program: &str, log: &'static [u8]) -> Option<Run> {
    let mut run = Run::default();
    let mut sorter = Sorter::new(Nanos::ZERO);
    for event in LogReader::new(log).ok()? {
        sorter.push(event.ok()?);
    }
    while let Some(event) = sorter.flush() {
        run.take(event);
    }
    let info = &mut run.info;
    let neutral = |text: &mut String| *text = text.replace(program, NEUTRAL);
    neutral(&mut info.dataset);
    neutral(&mut info.recording);
    neutral(&mut info.class);
    if let Some(made_at) = &mut info.made_at {
        neutral(&mut made_at.file);
        neutral(&mut made_at.name);
    }
    Some(run)
}
