//! Verdict: a summary of the diagnosis in one or two sentences.

use loadscope_words::say;

use super::{Evidence, Finding, FindingId, ForecastSet, Severity, Survey, VerdictId, WaitSummary};

/// Findings that explain the end of a run.
const END_FINDINGS: [FindingId; 4] = [
    FindingId::Failed,
    FindingId::DeadWorker,
    FindingId::SilentWorker,
    FindingId::StepFailed,
];

/// Summary of a diagnosis: how long training waited, the cause, and the best change.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Name for scripts: the name of the first finding, or `fine`, `waiting`, `empty` or `not_measured`.
    pub id: VerdictId,
    /// Severity of the first finding. Without a warning or a critical finding, it is a warning if training waits, otherwise a note.
    pub severity: Severity,
    /// `The trainer waited 1.11 s of 1.59 s (70 %)`, or the error that ended the run.
    pub headline: String,
    /// Cause of the waiting. `None` if training hardly waits and no problem was found.
    ///
    /// It is the first finding or, without one, the longest wait. If the longest wait is at least half of the waiting, it replaces a
    /// finding about time, and continues the headline: `0.96 s of it for batch 4: sample 4 took 1.00 s in worker 0 while batches 5 and 7
    /// were already finished`. If the headline is an error, the cause is the length of the waiting.
    pub cause: Option<String>,
    /// True if the headline or the cause is a finding.
    pub is_apart: bool,
    /// True if the cause continues the sentence of the headline.
    is_part: bool,
    /// Time of the program outside the loader's loop: `Left out: evaluation 2.00 s`. `None` if it is short.
    pub left_out: Option<String>,
    /// Forecast for other settings: `in_order=False would take 1.17 s`. `None` without a forecast, or if no outlook is wanted.
    pub outlook: Option<String>,
    /// True if forecasts are useful: training waits, and the first finding is not about an error, lost data or a short run.
    pub wants_outlook: bool,
    /// Evidence of the first finding, the batch of the longest wait, or the run.
    pub evidence: Evidence,
}

impl Verdict {
    /// Returns all parts as one text.
    pub fn text(&self) -> String {
        let mut text = self.headline.clone();
        match &self.cause {
            Some(cause) if self.is_part => text = say!("{text}, {cause}"),
            Some(cause) => text = join(&text, cause),
            None => {}
        }
        let more = self.left_out.iter().chain(&self.outlook);
        more.fold(text, |text, more| join(&text, more))
    }

    pub(super) fn of(
        survey: &Survey,
        findings: &[Finding],
        prospects: Option<&ForecastSet>,
    ) -> Self {
        let wait_summary = WaitSummary::of(survey.run);
        let top = findings.first().filter(|f| f.severity > Severity::Note);
        let is_waiting = survey.starved() >= Severity::WARNING_SHARE;
        let is_short = findings.iter().any(|f| f.id == FindingId::ShortRun);
        let (id, severity) = match top {
            Some(finding) => (VerdictId::Finding(finding.id), finding.severity),
            None if survey.run.has_only_parts() => (VerdictId::NotMeasured, Severity::Note),
            None if survey.yielded == 0 => (VerdictId::Empty, Severity::Note),
            None if is_short => (VerdictId::Finding(FindingId::ShortRun), Severity::Note),
            None if is_waiting => (VerdictId::Waiting, Severity::Warning),
            None => (VerdictId::Fine, Severity::Note),
        };
        // A finding without a cost is about an error or lost data, which faster settings do not repair.
        let wants_outlook = is_waiting && top.map_or(!is_short, |f| f.cost.is_some());
        let longest = wait_summary.batch().filter(|_| is_waiting);
        // The longest wait explains the waiting only if it is at least half of the waited time.
        let is_one_wait = wait_summary.is_one_wait();
        let bound = || findings.iter().find(|f| f.id == FindingId::TrainingBound);
        let found = match top {
            Some(finding) => Some(finding).filter(|f| f.cost.is_none() || !is_one_wait),
            None if is_waiting && !is_one_wait => bound(),
            None => None,
        };
        // The headline of a failed run is its error. The length of the waiting comes second.
        let end = top.filter(|f| END_FINDINGS.contains(&f.id));
        let (headline, cause) = match (end, found) {
            (Some(end), _) => (end.text.clone(), Some(wait_summary.headline())),
            (None, Some(finding)) => (wait_summary.headline(), Some(finding.text.clone())),
            (None, None) => (
                wait_summary.headline(),
                longest.and_then(|_| wait_summary.cause()),
            ),
        };
        Self {
            id,
            severity,
            headline,
            is_apart: found.is_some(),
            is_part: found.is_none() && end.is_none() && is_one_wait,
            left_out: wait_summary
                .left_out()
                .map(|parts| say!("Left out: {parts}")),
            cause,
            outlook: prospects
                .filter(|_| wants_outlook)
                .map(|p| p.sentence(survey.workers, |time| survey.format_time(time))),
            wants_outlook,
            evidence: match (top, longest) {
                (Some(finding), _) => finding.evidence,
                (None, Some(row)) => Evidence::Batch(survey.run.batches()[row].id),
                (None, None) => Evidence::Run,
            },
        }
    }
}

/// Joins two texts of one or more sentences each, with a period after each.
fn join(text: &str, more: &str) -> String {
    let open = |text: &str| text.trim_end_matches(['.', '。']).to_owned();
    let (text, more) = (open(text), open(more));
    say!("{text}. {more}.")
}
