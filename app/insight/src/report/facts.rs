//! Texts that all formats of the report share.

use loadscope_trace::{Cause, Nanos, Summary, count, plural};
use loadscope_words::say;

use super::Report;

/// Causes of less than this share of the waited time are reported together.
const LITTLE: f64 = 0.005;

/// `64 batches, 256 samples, 303.2 samples/s`
pub fn facts(s: &Summary) -> String {
    say!(
        "{}, {}, {} samples/s",
        plural(s.batches, say!(n: "batch"), say!(n: "batches")),
        plural(s.samples, say!(n: "sample"), say!(n: "samples")),
        rate(s.samples_per_second)
    )
}

/// A rate: `303.2`, `49,358`.
pub fn rate(rate: f64) -> String {
    match rate {
        r if r.is_finite() && r >= 1_000.0 => count(r.round() as u64),
        r => format!("{r:.1}"),
    }
}

/// Causes with more than a little time, in the order of a batch's life, and what all others come to.
pub fn causes(report: &Report) -> (Vec<(Cause, Nanos)>, Nanos) {
    let blame = &report.survey.blame;
    let is_little = |time: Nanos| (time.0 as f64) < LITTLE * blame.waited.0 as f64;
    let (little, much): (Vec<_>, Vec<_>) = blame.iter().partition(|(_, t)| is_little(*t));
    let rest = little.into_iter().fold(Nanos::ZERO, |sum, (_, t)| sum + t);
    (much, rest)
}

/// Time for which finished batches were held, if it is noticeable.
pub fn ready(report: &Report) -> Option<Nanos> {
    let survey = &report.survey;
    let ready = survey.blame.ready_batches?;
    (survey.share(ready) >= LITTLE).then_some(ready)
}

#[cfg(test)]
mod tests {
    use loadscope_trace::Run;

    use super::*;

    #[test]
    fn one_is_one_and_large_rates_have_no_decimals() {
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
