//! A finding: text, severity, evidence, remedy and cost.

use loadscope_words::say;
use serde::{Serialize, Serializer};

use super::FindingId;
use loadscope_trace::{BatchId, Nanos, WorkerId};

/// Severity of a finding, from its share of the loop time: critical from [`Severity::CRITICAL_SHARE`] on, a warning from
/// [`Severity::WARNING_SHARE`] on. Other findings, such as errors, have a fixed severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Information that needs no immediate change.
    Note,
    /// A problem that is worth a change.
    Warning,
    /// Training waits for much of the time, the run failed, or its data is lost or wrong.
    Critical,
}

impl Severity {
    /// Minimum share of the loop time for a warning: 5 %.
    pub const WARNING_SHARE: f64 = 0.05;
    /// Minimum share of the loop time for a critical finding: 20 %.
    pub const CRITICAL_SHARE: f64 = 0.2;

    /// Returns the severity of a cost with this share of the loop time, 0 to 1. Returns `None` below [`Severity::WARNING_SHARE`].
    pub fn of_share(share: f64) -> Option<Self> {
        match share {
            s if s >= Self::CRITICAL_SHARE => Some(Self::Critical),
            s if s >= Self::WARNING_SHARE => Some(Self::Warning),
            _ => None,
        }
    }

    /// Returns the severity in one word, in the language of the program.
    pub fn label(self) -> &'static str {
        match self {
            Self::Note => say!("Note"),
            Self::Warning => say!("Warning"),
            Self::Critical => say!("Critical"),
        }
    }
}

/// Part of a run that shows a finding. In JSON, a batch has its epoch and its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// The run as a whole.
    Run,
    /// The time from the first to the second instant.
    Range(Nanos, Nanos),
    /// A batch, by epoch and number.
    Batch(BatchId),
    /// A sample: its batch, its position in the batch, and its dataset index if known.
    Sample(BatchId, usize, Option<u64>),
    /// A worker, by number.
    Worker(WorkerId),
    /// An epoch, and a position in its sample order.
    Position(u32, usize),
}

impl Serialize for Evidence {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        use serde_json::json;
        let batch = |id: &BatchId| json!({ "epoch": id.epoch, "batch": id.idx });
        let value = match self {
            Self::Run => json!({ "run": true }),
            Self::Range(start, end) => json!({
                "start_seconds": start.as_secs_f64(),
                "end_seconds": end.as_secs_f64(),
            }),
            Self::Batch(id) => batch(id),
            Self::Sample(id, position, index) => {
                let mut value = batch(id);
                value["position"] = json!(position);
                value["sample"] = json!(index);
                value
            }
            Self::Worker(worker) => json!({ "worker": worker }),
            Self::Position(epoch, position) => json!({ "epoch": epoch, "position": position }),
        };
        value.serialize(s)
    }
}

/// A problem or a fact about a run, with evidence and a remedy.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// Kind of the finding, stable for scripts.
    pub id: FindingId,
    /// One or more sentences with the measured numbers.
    pub text: String,
    /// Severity of the finding.
    pub severity: Severity,
    /// The part of the run that shows the finding.
    pub evidence: Evidence,
    /// Advice to the user, with PyTorch's names.
    pub remedy: String,
    /// Cost in training time. Seconds in JSON. `None` if the finding is not about time.
    #[serde(rename = "cost_seconds", serialize_with = "seconds")]
    pub cost: Option<Nanos>,
}

fn seconds<S: Serializer>(time: &Option<Nanos>, s: S) -> Result<S::Ok, S::Error> {
    time.map(Nanos::as_secs_f64).serialize(s)
}
