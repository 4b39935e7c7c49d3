//! The verdict with one fact per line: the waited time, its cause and the best change.

use loadscope_diagnose::{Cause, FindingId, ForecastSet, Severity, VerdictId, WaitSummary};
use loadscope_trace::{Nanos, Origin, percent};
use loadscope_words::{display_width, pad_end, say};

use super::Report;
use super::alarms::alarms;
use crate::format::signed;

/// Line of the verdict: a label and a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// Translated label, as in `Cause`.
    pub label: &'static str,
    /// Text of the fact, as in `batch 4: sample 4 took 1.00 s in worker 0`.
    pub text: String,
}

/// Returns the facts of the verdict in the order of the report.
pub fn facts(report: &Report) -> Vec<Fact> {
    let (verdict, survey) = (&report.diagnosis.verdict, &report.survey);
    let wait_summary = WaitSummary::of(survey.run);
    let is_error = verdict.headline != wait_summary.headline();
    let mut facts = Vec::new();
    if is_error {
        facts.push(Fact {
            label: say!("Error"),
            text: verdict.headline.clone(),
        });
    }
    let mut waited = (wait_summary.amount()).unwrap_or_else(|| say!("not measured").to_owned());
    // The cause is a finding or the longest wait.
    let cause = match &verdict.cause {
        Some(_) if is_error => None,
        Some(text) if verdict.is_apart => Some(Fact {
            label: match is_cause(report, text) {
                true => say!("Cause"),
                false => say!("Finding"),
            },
            text: text.clone(),
        }),
        Some(_) => wait_summary.longest_wait().map(|wait| {
            let (took, why) = (wait_summary.format_time(wait.took), wait.describe_cause());
            if !wait.is_most {
                return Fact {
                    label: say!("Longest wait"),
                    text: say!("{took} for {why}"),
                };
            }
            waited = say!("{waited}, {took} of it for {}", wait.batch);
            Fact {
                label: say!("Cause"),
                text: why,
            }
        }),
        None => None,
    };
    facts.extend(alarms(report.survey.run).map(|(_, text)| Fact {
        label: say!("Warning"),
        text: text.to_owned(),
    }));
    let program = report.loader.as_ref().and_then(|of| of.program.as_ref());
    facts.extend(program.map(|program| Fact {
        label: say!("Program"),
        text: program.waited(),
    }));
    facts.extend(wait_summary.device_idle().map(|text| Fact {
        label: say!("Device idle"),
        text,
    }));
    facts.push(Fact {
        label: say!("Waited"),
        text: waited,
    });
    facts.extend(wait_summary.left_out().map(|text| Fact {
        label: say!("Left out"),
        text,
    }));
    facts.extend(cause);
    let line = match survey.starved() >= Severity::WARNING_SHARE {
        true => super::code::headline(&report.code, true).filter(|_| is_by_code(report)),
        false => super::code::headline(&report.code, false),
    };
    // The cause can be the line itself.
    let is_known = verdict.id == VerdictId::Finding(FindingId::SlowLine);
    facts.extend(line.filter(|_| !is_known).map(|text| Fact {
        label: say!("Line"),
        text,
    }));
    facts.extend(best_change(report));
    facts
}

/// Returns true if code in the workers causes much of the waiting, and not only their start or the transfer of batches.
fn is_by_code(report: &Report) -> bool {
    /// Minimum share of the waiting.
    const MIN_SHARE: f64 = 0.2;
    let blame = &report.survey.blame;
    let causes = [Cause::Fetching, Cause::Collating, Cause::Queued].into_iter();
    let times = causes.filter_map(|cause| blame.time_of(cause));
    let time = times.fold(Nanos::ZERO, |sum, time| sum + time);
    time.0 as f64 >= MIN_SHARE * blame.waited.0 as f64
}

/// Returns true if the finding with this text explains the wait.
fn is_cause(report: &Report, text: &str) -> bool {
    let mut findings = report.diagnosis.findings.iter();
    let found = findings.find(|f| f.text == text);
    found.is_some_and(|f| f.cost.is_some() || f.id == FindingId::TrainingBound)
}

/// Returns the forecast for the best other setting, and the settings without a forecast.
///
/// The list is empty if the report has no forecasts, or if the verdict mentions none.
pub fn best_change(report: &Report) -> Vec<Fact> {
    let Some(Ok(prospects)) = &report.prospects else {
        return Vec::new();
    };
    if report.diagnosis.verdict.outlook.is_none() {
        return Vec::new();
    }
    let time = |time| report.survey.format_time(time);
    let is_fixed = prospects.workers_refused.is_some();
    let text = match prospects.recommended(report.survey.workers) {
        _ if !prospects.fits() => unreliable(report, prospects),
        None if is_fixed => say!("none with the same num_workers").to_owned(),
        None => say!("none: no other setting is clearly faster in the forecasts").to_owned(),
        Some(first) => {
            let gain = signed(prospects.change(first.took));
            let (change, took) = (first.change, time(first.took));
            let now = time(prospects.now());
            let said = match prospects.differs_from_recorded() {
                true => say!("{change}: {took} instead of {now} (both forecast, {gain})"),
                false => say!("{change}: {took} forecast instead of {now} ({gain})"),
            };
            let said = match super::outlook::outside(report, prospects) {
                Some(outside) => say!("{said}, both with {} outside the loop", time(outside)),
                None => said,
            };
            said + prospects.condition(first.change)
        }
    };
    let best = Fact {
        label: say!("Best change"),
        text,
    };
    let left_out = prospects
        .describe_unforecast_workers()
        .filter(|_| prospects.fits());
    let left_out = left_out.map(|text| Fact {
        label: say!("Not forecast"),
        text,
    });
    [Some(best), left_out].into_iter().flatten().collect()
}

/// Describes the model's error, with a setting to try.
fn unreliable(report: &Report, prospects: &ForecastSet) -> String {
    let time = |time| report.survey.format_time(time);
    let text = say!(
        "not known: the model misses the recorded time by {} ({} instead of {})",
        percent(prospects.error().abs()),
        time(prospects.recorded_refit()),
        time(prospects.recorded)
    );
    let is_program = !matches!(
        report.survey.run.info.origin,
        Origin::Engine | Origin::Simulation
    );
    match report.diagnosis.suggested_change() {
        Some(change) if is_program => say!("{text}. Try {change} with `loadscope tune`."),
        Some(change) => say!("{text}. Try {change}."),
        None => text,
    }
}

/// Returns the facts as lines with their texts aligned in one column.
pub fn lines(facts: &[Fact]) -> Vec<String> {
    let longest = facts.iter().map(|fact| display_width(fact.label)).max();
    let width = longest.unwrap_or_default() + 2;
    let line = |fact: &Fact| format!("{}{}", pad_end(fact.label, width), fact.text);
    facts.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use loadscope_trace::RunOptions;

    use super::*;
    use crate::Datasets;
    use crate::simulated;

    fn verdict(options: &RunOptions) -> Vec<String> {
        let run = simulated(options);
        let report = Report::with_prospects(&run, false, Datasets::default());
        let plain = |line: &String| line.replace('\u{2009}', " ");
        lines(&facts(&report)).iter().map(plain).collect()
    }

    #[test]
    fn each_fact_of_the_verdict_has_a_line() {
        assert_eq!(
            verdict(&RunOptions {
                dataset: "synthetic:len=24,cost_ms=50,slow=4:1000".to_owned(),
                batch_size: Some(1),
                num_workers: 2,
                step_ms: 20.0,
                ..RunOptions::default()
            }),
            [
                "Waited       1.11 s of 1.59 s (70 %), 0.96 s of it for batch 4",
                "Cause        batch 4: sample 4 took 1.00 s in worker 0 while batches 5 and 7 were already finished",
                "Best change  in_order=False: 1.17 s forecast instead of 1.59 s (−26 %)",
            ]
        );
    }

    #[test]
    fn a_fast_loader_has_no_best_change() {
        let lines = verdict(&RunOptions {
            dataset: "synthetic:len=400,cost_ms=1".to_owned(),
            batch_size: Some(4),
            num_workers: 4,
            step_ms: 20.0,
            ..RunOptions::default()
        });
        assert!(lines[0].starts_with("Waited"), "{lines:?}");
        assert!(
            !lines.iter().any(|l| l.contains("Best change")),
            "{lines:?}"
        );
    }
}
