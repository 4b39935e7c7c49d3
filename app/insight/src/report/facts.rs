//! Texts and numbers that all formats of the report share.

use loadscope_diagnose::Cause;
use loadscope_trace::{Nanos, Origin, RunInfo, Summary, count, plural};
use loadscope_words::say;

use super::Report;

/// Minimum share of the time for an entry of its own. Smaller causes are reported together.
const LITTLE: f64 = 0.005;

/// Returns counts and throughput, as in `64 batches, 256 samples, 303.2 samples/s`.
pub fn facts(s: &Summary) -> String {
    say!(
        "{}, {}, {} samples/s",
        plural(s.batches, say!(n: "batch"), say!(n: "batches")),
        plural(s.samples, say!(n: "sample"), say!(n: "samples")),
        rate(s.samples_per_second)
    )
}

/// Returns dataset and source, as in `Dataset: ImageFolder (1,281,167 samples) from train.py · PyTorch 2.13.0`.
///
/// Returns only the source if the dataset is unknown.
pub fn source(info: &RunInfo) -> String {
    let origin = info.origin.label();
    match crate::dataset(info).as_str() {
        "" => origin,
        dataset => say!("Dataset: {dataset} · {origin}"),
    }
}

/// Formats a rate: `303.2`, or `49,358` without decimals from 1,000.
pub fn rate(rate: f64) -> String {
    match rate {
        r if r.is_finite() && r >= 1_000.0 => count(r.round() as u64),
        r => format!("{r:.1}"),
    }
}

/// Returns the causes of at least 0.5 % of the waited time, and the sum of the others.
///
/// The causes have the order of the stages of a batch.
pub fn causes(report: &Report) -> (Vec<(Cause, Nanos)>, Nanos) {
    let blame = &report.survey.blame;
    let is_little = |time: Nanos| (time.0 as f64) < LITTLE * blame.waited.0 as f64;
    let (little, much): (Vec<_>, Vec<_>) = blame.iter().partition(|(_, t)| is_little(*t));
    let rest = little.into_iter().fold(Nanos::ZERO, |sum, (_, t)| sum + t);
    (much, rest)
}

/// Returns the steps of fetching that took at least 0.5 % of the waited time.
///
/// The rest of `dataset[i]` follows the named stages. The list is empty if the recording has no named stages.
pub fn steps(report: &Report) -> Vec<(String, Nanos)> {
    let waited = report.survey.blame.waited.0 as f64;
    let fetching = &report.fetching;
    if fetching.stages.is_empty() {
        return Vec::new();
    }
    let rest = say!("the rest of dataset[i]").to_owned();
    let steps = fetching.stages.iter().cloned();
    let steps = steps.chain([(rest, fetching.unnamed)]);
    steps
        .filter(|(_, time)| time.0 as f64 >= LITTLE * waited)
        .collect()
}

/// Returns the time that finished batches waited in the reorder buffer.
///
/// Returns `None` if it is unknown or less than 0.5 % of the run.
pub fn ready(report: &Report) -> Option<Nanos> {
    let survey = &report.survey;
    let ready = survey.blame.ready_batches?;
    (survey.share(ready) >= LITTLE).then_some(ready)
}

/// Describes `ready`, as in `Finished batches waited 1.74 s in total in the reorder buffer`.
pub fn held(report: &Report, ready: Nanos) -> String {
    let time = report.survey.format_time(ready);
    say!("Finished batches waited {time} in total in the reorder buffer")
}

/// Describes the time in `iter`, which no cause includes.
///
/// Returns `None` without workers, or if the time is less than 0.5 % of the run.
pub fn opening(report: &Report) -> Option<String> {
    let survey = &report.survey;
    let opening = survey.run.opening();
    let is_noticeable = survey.share(opening) >= LITTLE && survey.workers > 0;
    is_noticeable.then(|| {
        say!(
            "Not included: iter() took {} to start workers and send them their first tasks",
            survey.format_time(opening)
        )
    })
}

/// Returns the warning above the report of a truncated or unfinished recording. Returns `None` for a complete recording.
pub fn truncated(report: &Report) -> Option<String> {
    let batches = report.summary.batches;
    let batches = || plural(batches, say!(n: "batch"), say!(n: "batches"));
    match (report.cut, report.is_growing) {
        (true, true) => Some(say!(
            "The recording is still being written. The report covers the {} so far. Run the command again to see more.",
            batches()
        )),
        (true, false) if matches!(report.survey.run.info.origin, Origin::Import(_)) => Some(say!(
            "Warning: the file is truncated. The report covers the {} before the cut. Copy it again, or record again.",
            batches()
        )),
        (true, false) => Some(say!(
            "Warning: the recording is truncated. The report covers the {} before the cut. `loadscope repair` writes an intact copy.",
            batches()
        )),
        (false, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use loadscope_trace::Run;

    use super::*;

    #[test]
    fn the_source_line_has_the_dataset_and_the_origin() {
        let mut info = RunInfo {
            dataset: "Recordings (320 samples) from late.py".to_owned(),
            ..RunInfo::default()
        };
        let origin = info.origin.label();
        assert_eq!(
            source(&info),
            format!("Dataset: Recordings (320 samples) from late.py · {origin}")
        );
        info.dataset.clear();
        assert_eq!(source(&info), origin);
    }

    #[test]
    fn one_batch_is_singular_and_large_rates_have_no_decimals() {
        let one = Summary {
            batches: 1,
            samples: 1_234,
            samples_per_second: 49_357.7,
            ..Summary::of(&Run::default())
        };
        assert_eq!(facts(&one), "1 batch, 1,234 samples, 49,358 samples/s");
        assert_eq!(rate(118.43), "118.4");
    }
}
