//! Changes to the options of the next run.

use std::path::Path;

use loadscope_plan::plan::normalized;
use loadscope_trace::{Activity, Lane, Nanos, Origin, Run, RunOptions, Track, parts, quote};

use crate::state::State;

pub(super) fn edit(state: &mut State, options: RunOptions) {
    // Fields that are hidden for the chosen values get no effect.
    let options = normalized(options);
    if options != state.prefs.options {
        state.look.history.change(&state.prefs.options);
        state.prefs.options = options;
    }
}

/// Returns the dataset `word` at `path`, with the options of `old` if that has the same kind.
pub(super) fn dataset(old: &str, word: &str, path: &Path) -> String {
    let of_same = old
        .strip_prefix(word)
        .and_then(|rest| rest.strip_prefix(':'));
    let options = of_same.and_then(parts).unwrap_or_default();
    let options = options
        .iter()
        .skip(1)
        .map(|part| match part.split_once('=') {
            Some((name, value)) => format!(",{name}={}", quote(value)),
            None => format!(",{}", quote(part)),
        });
    format!(
        "{word}:{}{}",
        quote(&path.display().to_string()),
        options.collect::<String>()
    )
}

/// Number of samples and steps for the median durations.
const SOME: usize = 20_000;
/// Samplers of the options panel that need no file.
const KNOWN: [&str; 4] = ["", "sequential", "random", "distributed"];

/// Returns options for a run similar to `run`.
/// For a Python program, synthetic samples with the median duration replace the dataset, and its median step replaces the training.
pub(super) fn options_of_run(run: &Run) -> RunOptions {
    let mut options = run.info.options.clone();
    if !matches!(run.info.origin, Origin::Pytorch(_)) {
        return options;
    }
    if !KNOWN.contains(&options.sampler.as_str()) {
        options.sampler.clear();
        options.shuffle = false;
    }
    if options.sampler != "distributed" {
        (options.world_size, options.rank) = (1, 0);
    }
    let rows = 0..run.batches().len();
    let samples = rows.flat_map(|row| run.samples(row)).take(SOME);
    let cost = middle(samples.map(|s| s.wall).collect());
    if let (Some(cost), Some(len)) = (cost, run.info.dataset_len) {
        options.dataset = format!("synthetic:len={len},cost_ms={:.3}", cost.as_millis_f64());
    }
    let trainer = Track {
        lane: Lane::Trainer,
        row: 0,
    };
    let spans = run.spans(trainer, Nanos(i64::MIN), Nanos::MAX).iter();
    let steps = spans.filter(|span| span.activity == Activity::Training);
    let steps = steps
        .take(SOME)
        .map(|span| span.end.min(run.end()) - span.start);
    if let Some(step) = middle(steps.collect()) {
        options.step_ms = (step.as_millis_f64() * 100.0).round() / 100.0;
    }
    options.epochs = u32::try_from(run.epochs().len()).unwrap_or(1).max(1);
    options
}

fn middle(mut times: Vec<Nanos>) -> Option<Nanos> {
    times.sort_unstable();
    times.get(times.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_path_keeps_the_dataset_options() {
        let of = |old, path: &str| dataset(old, "csv", Path::new(path));
        assert_eq!(of("digits", "/a.csv"), "csv:/a.csv");
        assert_eq!(
            of("csv:/b.csv,sep=tab,columns=\"a,b\"", "/a,1.csv"),
            "csv:\"/a,1.csv\",sep=tab,columns=\"a,b\""
        );
        assert_eq!(of("csv:", "/a.csv"), "csv:/a.csv");
    }
}
