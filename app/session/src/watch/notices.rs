//! Notices about a program that is watched: which processes are recorded, and why no loader was seen.

use loadscope_live::{Introduction, Join, Lookout};
use loadscope_words::say;

/// `recording: process 123 (train.py), PyTorch 2.13.0, rank 1`
pub(super) fn recording(process: &Introduction) -> String {
    let mut text = format!("recording: process {}", process.pid);
    if !process.program.is_empty() {
        text += &format!(" ({})", process.program);
    }
    if !process.torch.is_empty() {
        text += &format!(", PyTorch {}", process.torch);
    }
    if let Some(rank) = process.rank {
        text += &format!(", rank {rank}");
    }
    text
}

/// What to say of a program in which no loader was seen: the true reason, as far as it is known.
pub(super) fn nothing_seen(join: &Join, lookout: Option<&Lookout>, running: Option<u32>) -> String {
    let others: Vec<&str> = join.others().collect();
    if !others.is_empty() {
        return say!(
            "No DataLoader was iterated in this program. It imported {}, which load data without one and cannot be recorded",
            others.join(" and ")
        );
    }
    if let Some(unrecorded) = lookout.and_then(|l| l.found().first()) {
        return unrecorded.sentence();
    }
    match (join.pids().len(), running) {
        (0, Some(pid)) => say!(
            "Process {pid} told nothing: no iterator of a DataLoader was made meanwhile, or its Python was started before `python -m \
             loadscope install` was called for it"
        ),
        (_, Some(pid)) => say!("No DataLoader was iterated in process {pid} meanwhile"),
        (0, None) => say!("No DataLoader was seen: no Python process of this program imported PyTorch. Python must not be told to \
              ignore its environment (-I, -E, -S)")
            .to_owned(),
        (_, None) => say!("No DataLoader was iterated in this program, though it imported PyTorch").to_owned(),
    }
}
