//! Gauges: quantities that are measured at intervals, such as memory and CPU use.

use serde::{Deserialize, Serialize};

use crate::Lane;

/// Measured quantity at an instant.
#[derive(Clone, Debug, PartialEq)]
pub struct Gauge {
    /// Measured lane. `None` for the whole program, or if `part` is set.
    pub lane: Option<Lane>,
    /// Measured part of a pipeline other than a `DataLoader`, as that pipeline names it.
    pub part: Option<String>,
    /// Measured quantity. It determines the unit of `value`.
    pub what: GaugeKind,
    /// Value in the unit of `what`.
    pub value: f64,
}

/// Quantity that a gauge measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GaugeKind {
    /// Resident set size (RSS): memory in all pages of a process, bytes.
    Rss,
    /// Proportional set size (PSS): resident memory with shared pages divided by the number of their processes, bytes.
    Pss,
    /// Unique set size (USS): memory in pages that no other process shares, bytes.
    Uss,
    /// CPU use, cores.
    Cpu,
    /// Cores of the program that other programs use.
    OtherCpu,
    /// Threads of a process that used the CPU since the last measurement, at least a tenth as long as its busiest thread.
    BusyThreads,
    /// Used space in `/dev/shm` by all programs of the host or container, bytes.
    Shm,
    /// Free space in `/dev/shm`, bytes.
    ShmLeft,
    /// Memory that the program can still allocate, limited by the host or the control group, bytes.
    MemoryLeft,
    /// Bytes that a process has read from storage since its start, without those from the page cache.
    StorageRead,
    /// Page faults of a process that read from storage since its start.
    MajorFaults,
    /// Time in which the main thread of a process was blocked on I/O (state `D`) since the first measurement, from samples, seconds.
    IoBlocked,
    /// Open file descriptors.
    Descriptors,
    /// Page-locked memory, bytes.
    PinnedBytes,
    /// Mean share of the time in which the GPUs of the program execute kernels, of all programs, 0 to 1.
    GpuBusy,
    /// Used memory of the GPUs of the program, of all programs, bytes.
    GpuMemory,
    /// Share of the time in which a queue was not empty, 0 to 1.
    Occupancy,
    /// Throughput, items per second.
    Throughput,
    /// Mean time per task, seconds.
    TaskTime,
    /// Failed tasks.
    Failures,
    /// Mean number of tasks that wait for an item from a queue.
    WaitingToGet,
    /// Mean number of tasks that wait for room in a queue.
    WaitingToPut,
}

impl GaugeKind {
    /// Returns the name in recordings and tables.
    pub fn id(self) -> &'static str {
        match self {
            Self::Rss => "rss",
            Self::Pss => "pss",
            Self::Uss => "uss",
            Self::Cpu => "cpu",
            Self::OtherCpu => "other_cpu",
            Self::BusyThreads => "busy_threads",
            Self::Shm => "shm",
            Self::ShmLeft => "shm_left",
            Self::MemoryLeft => "memory_left",
            Self::StorageRead => "storage_read",
            Self::MajorFaults => "major_faults",
            Self::IoBlocked => "io_blocked",
            Self::Descriptors => "descriptors",
            Self::PinnedBytes => "pinned_bytes",
            Self::GpuBusy => "gpu_busy",
            Self::GpuMemory => "gpu_memory",
            Self::Occupancy => "occupancy",
            Self::Throughput => "throughput",
            Self::TaskTime => "task_time",
            Self::Failures => "failures",
            Self::WaitingToGet => "waiting_to_get",
            Self::WaitingToPut => "waiting_to_put",
        }
    }

    /// Returns the unit of the values in tables.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Rss
            | Self::Pss
            | Self::Uss
            | Self::Shm
            | Self::ShmLeft
            | Self::MemoryLeft
            | Self::StorageRead
            | Self::PinnedBytes
            | Self::GpuMemory => "bytes",
            Self::Cpu | Self::OtherCpu => "cores",
            Self::Occupancy | Self::GpuBusy => "share",
            Self::Throughput => "1/s",
            Self::TaskTime | Self::IoBlocked => "s",
            Self::BusyThreads
            | Self::MajorFaults
            | Self::Descriptors
            | Self::Failures
            | Self::WaitingToGet
            | Self::WaitingToPut => "count",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gauge_ids_match_their_json_names() {
        for kind in [
            GaugeKind::PinnedBytes,
            GaugeKind::WaitingToGet,
            GaugeKind::MemoryLeft,
            GaugeKind::StorageRead,
            GaugeKind::GpuBusy,
        ] {
            let text = serde_json::to_string(&kind).expect("a word");
            assert_eq!(text, format!("\"{}\"", kind.id()));
        }
    }
}
