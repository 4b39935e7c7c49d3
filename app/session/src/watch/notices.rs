//! Notices about a watched program: its recorded processes, and the reason if no loader was found.

use loadscope_live::{Introduction, Join, UnrecordedScanner};
use loadscope_words::say;

/// Formats `recording: process 123 (train.py), PyTorch 2.13.0, rank 1`.
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

/// Returns the reason why no loader was found, as far as it is known.
pub(super) fn nothing_seen(
    join: &Join,
    unrecorded_scanner: Option<&UnrecordedScanner>,
    running: Option<u32>,
) -> String {
    let others: Vec<&str> = join.other_libraries().collect();
    if !others.is_empty() {
        return say!(
            "This program used no DataLoader. It imported {}, which Loadscope cannot record.",
            others.join(" and ")
        );
    }
    if let Some(unrecorded) = unrecorded_scanner.and_then(|l| l.found().first()) {
        return unrecorded.sentence();
    }
    match (join.pids().len(), running) {
        (0, Some(pid)) => say!(
            "Process {pid} sent no events. If it started before `python -m loadscope install`, restart it. Otherwise attach again, and record until its next epoch begins."
        ),
        (_, Some(pid)) => say!("Process {pid} iterated no DataLoader while it was recorded"),
        (0, None) => say!("No Python process of this program imported PyTorch, so no DataLoader was recorded. If Python runs with -I, -E or -S, remove the flag.")
            .to_owned(),
        (_, None) => say!("This program imported PyTorch but iterated no DataLoader").to_owned(),
    }
}
