//! The verdict: one sentence with its number.

use super::{Evidence, Finding, Forecast, Glance, Severity, Survey};

/// What a run comes to, in a sentence or two.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Its name for scripts: that of the first finding, or `fine`, `waiting`, `empty` or `not_measured`.
    pub id: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// `The trainer waited 1.11 s of 1.59 s (70 %)`
    pub headline: String,
    /// `0.96 s of it for batch 4: sample 4 took 1.00 s in worker 0 while batches 5 and 7 lay ready`
    pub cause: Option<String>,
    /// What other settings would bring: `in_order=False would end after 1.17 s`.
    pub outlook: Option<String>,
    /// What to look at.
    pub evidence: Evidence,
}

impl Verdict {
    /// All of it.
    pub fn text(&self) -> String {
        let mut text = self.headline.clone();
        if let Some(cause) = &self.cause {
            // A part of the sentence, or one of its own.
            let is_sentence = cause.chars().next().is_some_and(char::is_uppercase);
            text.push_str(if is_sentence { ". " } else { ", " });
            text.push_str(cause);
        }
        if let Some(outlook) = &self.outlook {
            text.push_str(". ");
            text.push_str(outlook);
        }
        text
    }

    pub(super) fn of(survey: &Survey, findings: &[Finding], forecasts: &[Forecast]) -> Self {
        let glance = Glance::of(survey.run);
        let share = survey.share(survey.blame.waited);
        let top = findings.first().filter(|f| f.severity > Severity::Note);
        let is_waiting = share >= Severity::WARNING_SHARE;
        let (id, severity) = match top {
            Some(finding) => (finding.id, finding.severity),
            None if survey.run.tells_only_parts() => ("not_measured", Severity::Note),
            None if survey.handed_out == 0 => ("empty", Severity::Note),
            None if is_waiting => ("waiting", Severity::Warning),
            None => ("fine", Severity::Note),
        };
        let longest = glance.batch().filter(|_| is_waiting);
        Self {
            id,
            severity,
            headline: glance.headline(),
            // What costs no time is said by itself.
            cause: match top {
                Some(finding) if finding.cost.is_none() => Some(finding.text.clone()),
                _ => longest.and_then(|_| glance.cause()),
            },
            outlook: outlook(survey, forecasts),
            evidence: match (top, longest) {
                (Some(finding), _) => finding.evidence,
                (None, Some(row)) => Evidence::Batch(survey.run.batches()[row].id),
                (None, None) => Evidence::Run,
            },
        }
    }
}

/// What would be better, the best first, and what would help little.
fn outlook(survey: &Survey, forecasts: &[Forecast]) -> Option<String> {
    /// Less is within the error of a forecast.
    const BETTER: f64 = 0.02;
    /// A sentence does not hold more.
    const MOST: usize = 2;
    let total = survey.total();
    let is_better = |f: &&Forecast| survey.share(total - f.took) >= BETTER;
    let mut better: Vec<&Forecast> = forecasts.iter().filter(is_better).collect();
    better.sort_by_key(|f| f.took);
    let mut parts = Vec::new();
    for (k, forecast) in better.iter().take(MOST).enumerate() {
        let subject = forecast.change.subject(survey.workers);
        let took = survey.say(forecast.took);
        parts.push(match k {
            0 => format!("{subject} would end after {took}"),
            _ => format!("{subject} only after {took}"),
        });
    }
    let mut text = parts.join("; ");
    // A name of PyTorch's keeps its letters.
    if text.starts_with("a ") {
        text.replace_range(..1, "A");
    }
    (!text.is_empty()).then_some(text)
}
