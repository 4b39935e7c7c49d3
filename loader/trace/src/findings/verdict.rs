//! The verdict: one sentence with its number.

use super::{Evidence, Finding, Glance, Prospects, Severity, Survey};

/// What a run comes to, in a sentence or two.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Its name for scripts: that of the first finding, or `fine`, `waiting` or `empty`.
    pub id: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// `The trainer waited 1.11 s of 1.59 s (70 %)`
    pub headline: String,
    /// `0.96 s of it for batch 4: sample 4 took 1.00 s in worker 0 while batches 5 and 7 lay ready`
    pub cause: Option<String>,
    /// What other settings would bring: `in_order=False would end after 1.17 s`.
    pub outlook: Option<String>,
    /// True if it is worth a word what other settings would bring: the trainer waits, and nothing is worse than that.
    pub wants_outlook: bool,
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

    pub(super) fn of(survey: &Survey, findings: &[Finding], prospects: Option<&Prospects>) -> Self {
        let glance = Glance::of(survey.run);
        let share = survey.share(survey.blame.waited);
        let top = findings.first().filter(|f| f.severity > Severity::Note);
        let is_waiting = share >= Severity::WARNING_SHARE;
        let (id, severity) = match top {
            Some(finding) => (finding.id, finding.severity),
            None if survey.handed_out == 0 => ("empty", Severity::Note),
            None if is_waiting => ("waiting", Severity::Warning),
            None => ("fine", Severity::Note),
        };
        // What was lost or is wrong does not become right by being faster.
        let wants_outlook = is_waiting && top.is_none_or(|f| f.cost.is_some());
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
            outlook: prospects
                .filter(|_| wants_outlook)
                .map(|p| p.sentence(survey.workers, |time| survey.say(time))),
            wants_outlook,
            evidence: match (top, longest) {
                (Some(finding), _) => finding.evidence,
                (None, Some(row)) => Evidence::Batch(survey.run.batches()[row].id),
                (None, None) => Evidence::Run,
            },
        }
    }
}
