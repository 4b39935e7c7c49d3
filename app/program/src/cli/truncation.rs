//! Message about a recording that is truncated or still being written.

use std::path::Path;

use loadscope_files::is_being_written;
use loadscope_trace::{Origin, Run, RunId, Summary, plural};
use loadscope_words::{say, shell_quoted};

/// Returns the message about a truncated or growing recording at `path`: the readable part of `runs`, and the way to an intact file.
pub(super) fn truncation_message(path: &Path, runs: &[(RunId, &Run)]) -> String {
    let batches: u64 = (runs.iter().map(|(_, run)| Summary::of(run).batches)).sum();
    let batches = plural(batches, say!(n: "batch"), say!(n: "batches"));
    // `repair` reads recordings of Loadscope only.
    let is_import = |run: &Run| matches!(run.info.origin, Origin::Import(_));
    let shown = path.display();
    if is_being_written(path) {
        return say!(
            "{shown} is still being written. Readable so far: {batches}. Run the command again to see more."
        );
    }
    if path.is_dir() {
        return say!(
            "{shown} has truncated recordings. Readable before the cuts: {batches}. To get an intact file of one, run `loadscope repair FILE`."
        );
    }
    if runs.iter().any(|(_, run)| is_import(run)) {
        return say!(
            "{shown} is truncated. Readable before the cut: {batches}. Copy it again, or record again."
        );
    }
    say!(
        "{shown} is truncated. Readable before the cut: {batches}. To get an intact file, run `loadscope repair {}`.",
        shell_quoted(path)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_truncated_recording_is_reported_with_a_remedy() {
        let mut run = Run::default();
        let said = truncation_message(Path::new("a b.jsonl"), &[(RunId(0), &run)]);
        assert_eq!(
            said,
            "a b.jsonl is truncated. Readable before the cut: 0 batches. To get an intact file, run `loadscope repair 'a b.jsonl'`."
        );
        run.info.origin = Origin::Import("torch.profiler".to_owned());
        let said = truncation_message(Path::new("trace.json"), &[(RunId(0), &run)]);
        assert!(
            said.contains("Copy it again") && !said.contains("repair"),
            "{said}"
        );
    }
}
