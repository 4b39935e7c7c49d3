//! Open files whose position workers share, because they inherited them over a fork.

use std::collections::BTreeSet;

use super::{Evidence, Finding, FindingId, Severity, Survey};
use loadscope_trace::{Fact, count, plural};
use loadscope_words::say;

/// Reports files whose position two or more workers share.
pub(super) fn shared(survey: &Survey) -> Option<Finding> {
    let facts = survey
        .run
        .facts()
        .iter()
        .filter_map(|(_, fact)| match fact {
            Fact::SharedFile {
                file,
                descriptor,
                workers,
            } if workers.len() >= 2 => Some((file, *descriptor, workers)),
            _ => None,
        });
    let facts: Vec<_> = facts.collect();
    let (file, descriptor, workers) = *facts.first()?;
    let files: BTreeSet<&String> = facts.iter().map(|(file, ..)| *file).collect();
    let of = plural(workers.len() as u64, say!(n: "worker"), say!(n: "workers"));
    let text = match files.len() {
        1 => say!(
            "{of} share one position in {file}, which they inherited from the main process (file descriptor {descriptor}). A read of one worker moves the position of the others, so without a common lock they can read wrong data."
        ),
        n => say!(
            "{of} share one position in each of {} files, which they inherited from the main process, such as {file} (file descriptor {descriptor}). A read of one worker moves the position of the others, so without a common lock they can read wrong data.",
            count(n as u64)
        ),
    };
    Some(Finding {
        id: FindingId::SharedFile,
        text,
        // A program with a common lock reads the right data.
        severity: Severity::Warning,
        evidence: workers
            .first()
            .map_or(Evidence::Run, |worker| Evidence::Worker(*worker)),
        remedy: say!("Open the file in each worker, in worker_init_fn or at the first __getitem__, so that each worker has its own position. Or read it with os.pread(). Without either, all workers must hold one multiprocessing.Lock during each seek and read.").to_owned(),
        cost: None,
    })
}
