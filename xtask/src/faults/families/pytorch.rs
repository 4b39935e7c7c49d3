//! A real PyTorch program under the most severe faults. Needs an installed PyTorch.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Result, ensure};

use crate::faults::case::{Case, Row, table};
use crate::faults::launch::{Launch, Stream};
use crate::faults::rule::{Act, Call, On, Rule, When};
use crate::faults::sandbox::{Sandbox, Skipped};

/// Program with two workers and 100 batches. It prints sums and exits with 7.
const PROGRAM: &str = "\
import sys, time
import torch.utils.data as data
class Slow(data.Dataset):
    def __len__(self):
        return 200
    def __getitem__(self, index):
        time.sleep(0.002)
        return index
if __name__ == '__main__':
    total = 0
    for batch in data.DataLoader(Slow(), batch_size=2, num_workers=2):
        total += int(batch.sum())
        print(total, flush=True)
    open('done', 'w').write(str(total))
    sys.exit(7)
";

/// Sum of the numbers from 0 to 199.
const TOTAL: &str = "19900";

const BATCHES: u64 = 100;

/// Deadline. Importing PyTorch takes seconds.
const PATIENCE: Duration = Duration::from_secs(120);

fn launch<'a>(sandbox: &'a Sandbox<'a>) -> Result<Launch<'a>> {
    let missing =
        || Skipped("there is no PyTorch; `cargo xtask setup --pytorch` gets one".to_owned());
    let python = sandbox.shared.pytorch.as_ref().ok_or_else(missing)?;
    fs::write(sandbox.at("train.py"), PROGRAM)?;
    let words: [OsString; 6] = [
        "record".into(),
        "-o".into(),
        "run.jsonl".into(),
        "--".into(),
        python.into(),
        "train.py".into(),
    ];
    Ok(sandbox.loadscope(&words).deadline(PATIENCE))
}

/// Returns true if the program finished its work.
fn is_done(sandbox: &Sandbox) -> bool {
    fs::read_to_string(sandbox.at("done")).is_ok_and(|total| total == TOTAL)
}

fn full_disk(sandbox: &Sandbox) -> Result<()> {
    sandbox.supervises()?;
    let rule = Rule::new(
        Call::Write,
        On::Named("run.jsonl".to_owned()),
        When::From(2),
        Act::Fail(libc::ENOSPC),
    );
    let ended = launch(sandbox)?.rule(rule).run()?;
    ended.check_injected()?;
    ended.code(7)?;
    ended.check_error_message(&["run.jsonl"])?;
    ensure!(is_done(sandbox), "the program was harmed");
    sandbox.opens_if_there(&sandbox.at("run.jsonl"))?;
    sandbox.check_no_leftovers()
}

fn no_streams(sandbox: &Sandbox) -> Result<()> {
    let ended = launch(sandbox)?
        .input(Stream::Closed)
        .errors(Stream::Broken)
        .run()?;
    ended.code(7)?;
    ensure!(is_done(sandbox), "the program was harmed");
    sandbox.check_whole(&sandbox.at("run.jsonl"), BATCHES)?;
    sandbox.check_no_leftovers()
}

/// Kills the recorder, and checks that the program and its workers are not affected.
fn recorder_killed(sandbox: &Sandbox) -> Result<()> {
    let log = sandbox.at("run.jsonl");
    let mut record = launch(sandbox)?.start()?;
    let size = |path: &Path| fs::metadata(path).map_or(0, |found| found.len());
    record.until("the recording grows", || size(&log) > 4000)?;
    record.signal(libc::SIGKILL);
    record.wait()?;
    let until = std::time::Instant::now() + PATIENCE;
    while !sandbox.alive().is_empty() && std::time::Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    ensure!(is_done(sandbox), "the program was harmed");
    ensure!(
        sandbox.facts(&log)?.batches > 0,
        "nothing is in the recording"
    );
    // The next start removes the leftovers of the killed recorder.
    launch(sandbox)?
        .replaced("run.jsonl", "next.jsonl")
        .run()?
        .code(7)?;
    sandbox.check_whole(&sandbox.at("next.jsonl"), BATCHES)?;
    sandbox.check_no_leftovers()
}

const HARMLESS: &str = "the program does all its work and ends with its own exit code";

#[rustfmt::skip]
const ROWS: &[Row] = &[
    Row::new("full disk", "ENOSPC from the second write on", HARMLESS, full_disk),
    Row::new("no streams", "standard input is closed, standard error has no reader", HARMLESS, no_streams),
    Row::new("the recorder is killed", "kill -9 of the recorder in the middle",
        "the program does all its work; the recording opens; nothing is left after the next start", recorder_killed),
];

pub fn cases() -> Vec<Case> {
    table("PyTorch", ROWS).collect()
}
