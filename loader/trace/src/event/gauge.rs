//! What is measured beside the batches.

use serde::{Deserialize, Serialize};

use crate::Lane;

/// A measured quantity at a moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Gauge {
    /// Of which lane; `None` for the whole program.
    pub lane: Option<Lane>,
    /// Of which part of a pipeline that has other parts than a `DataLoader`, by the name its tool gives it.
    pub part: Option<String>,
    /// What was measured.
    pub what: GaugeKind,
    /// The value, in the unit of `what`.
    pub value: f64,
}

/// What a gauge measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GaugeKind {
    /// Resident memory, bytes.
    Rss,
    /// Proportional share of memory, bytes.
    Pss,
    /// Memory that no other process shares, bytes.
    Uss,
    /// Processor use, cores.
    Cpu,
    /// Cores of the program that other programs use.
    OtherCpu,
    /// Shared memory in `/dev/shm`, bytes: of all programs of the host, or of the container.
    Shm,
    /// What is left of it, bytes.
    ShmLeft,
    /// Memory that the program may still take, bytes: of the host, or of its control group.
    MemoryLeft,
    /// Open file descriptors.
    Descriptors,
    /// Page-locked memory, bytes.
    PinnedBytes,
    /// Share of the time in which a queue was not empty, 0 to 1.
    Occupancy,
    /// What goes through, items per second.
    Throughput,
    /// Mean time of a task, seconds.
    TaskTime,
    /// Tasks that failed.
    Failures,
    /// How many wait on average for something to come out of a queue.
    WaitingToGet,
    /// How many wait on average for room in a queue.
    WaitingToPut,
}

impl GaugeKind {
    /// Its name in recordings and tables.
    pub fn id(self) -> &'static str {
        match self {
            Self::Rss => "rss",
            Self::Pss => "pss",
            Self::Uss => "uss",
            Self::Cpu => "cpu",
            Self::OtherCpu => "other_cpu",
            Self::Shm => "shm",
            Self::ShmLeft => "shm_left",
            Self::MemoryLeft => "memory_left",
            Self::Descriptors => "descriptors",
            Self::PinnedBytes => "pinned_bytes",
            Self::Occupancy => "occupancy",
            Self::Throughput => "throughput",
            Self::TaskTime => "task_time",
            Self::Failures => "failures",
            Self::WaitingToGet => "waiting_to_get",
            Self::WaitingToPut => "waiting_to_put",
        }
    }

    /// The unit of its values, in tables.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Rss
            | Self::Pss
            | Self::Uss
            | Self::Shm
            | Self::ShmLeft
            | Self::MemoryLeft
            | Self::PinnedBytes => "bytes",
            Self::Cpu | Self::OtherCpu => "cores",
            Self::Occupancy => "share",
            Self::Throughput => "1/s",
            Self::TaskTime => "s",
            Self::Descriptors | Self::Failures | Self::WaitingToGet | Self::WaitingToPut => "count",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gauges_have_one_name() {
        for kind in [
            GaugeKind::PinnedBytes,
            GaugeKind::WaitingToGet,
            GaugeKind::MemoryLeft,
        ] {
            let text = serde_json::to_string(&kind).expect("a word");
            assert_eq!(text, format!("\"{}\"", kind.id()));
        }
    }
}
