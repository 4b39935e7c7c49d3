//! What a finding consists of.

use loadscope_words::say;
use serde::{Serialize, Serializer};

use super::FindingId;
use loadscope_trace::{BatchId, Nanos, WorkerId};

/// How bad it is. By the share of the run's time that it costs: from [`Severity::CRITICAL_SHARE`] on critical, from
/// [`Severity::WARNING_SHARE`] on a warning. What loses data or makes it wrong is critical or a warning by its nature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Good to know.
    Note,
    /// Worth a change.
    Warning,
    /// Training is much slower than it should be, or something was lost.
    Critical,
}

impl Severity {
    /// From this share of the run's time on it is a warning.
    pub const WARNING_SHARE: f64 = 0.05;
    /// From this share of the run's time on it is critical.
    pub const CRITICAL_SHARE: f64 = 0.2;

    /// Of what costs this share of the run's time; `None` if it is not worth a word.
    pub fn of_share(share: f64) -> Option<Self> {
        match share {
            s if s >= Self::CRITICAL_SHARE => Some(Self::Critical),
            s if s >= Self::WARNING_SHARE => Some(Self::Warning),
            _ => None,
        }
    }

    /// One word.
    pub fn label(self) -> &'static str {
        match self {
            Self::Note => say!("Note"),
            Self::Warning => say!("Warning"),
            Self::Critical => say!("Critical"),
        }
    }
}

/// Where to look. Positions are those of [`Run::batches`](loadscope_trace::Run::batches); in JSON batches have their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// The run as a whole.
    Run,
    /// From the first instant until the second.
    Range(Nanos, Nanos),
    /// A batch.
    Batch(BatchId),
    /// A sample: its batch, its position in it, its index in the dataset.
    Sample(BatchId, usize, Option<u64>),
    /// A worker.
    Worker(WorkerId),
    /// A position in the order of an epoch.
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

/// Something found, with a number, its evidence and a remedy.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// Its name for scripts.
    pub id: FindingId,
    /// The sentence.
    pub text: String,
    /// How bad it is.
    pub severity: Severity,
    /// Where to look.
    pub evidence: Evidence,
    /// What to do about it, in PyTorch's words.
    pub remedy: String,
    /// How much of the trainer's time it costs, s; `None` if that is not what it is about.
    #[serde(rename = "cost_seconds", serialize_with = "seconds")]
    pub cost: Option<Nanos>,
}

fn seconds<S: Serializer>(time: &Option<Nanos>, s: S) -> Result<S::Ok, S::Error> {
    time.map(Nanos::as_secs_f64).serialize(s)
}
