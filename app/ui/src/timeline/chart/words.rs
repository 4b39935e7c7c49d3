//! Names and values of charts as text.

use loadscope_insight::format;
use loadscope_trace::{GaugeKind, Nanos, Run, bytes};
use loadscope_words::say;

use super::{Chart, Subject};

impl Chart {
    /// Returns the name, and the lane or part that it belongs to.
    pub fn label(self, run: &Run) -> (&'static str, Option<String>) {
        match self {
            Self::TasksOutstanding => ("tasks_outstanding", None),
            Self::Gauge(subject, kind) => {
                let name = match kind {
                    GaugeKind::Rss => say!("memory, RSS"),
                    GaugeKind::Pss => say!("memory, PSS"),
                    GaugeKind::Uss => say!("memory, USS"),
                    GaugeKind::Cpu => say!("CPU, cores"),
                    GaugeKind::OtherCpu => say!("CPU of other programs, cores"),
                    GaugeKind::BusyThreads => say!("busy threads"),
                    GaugeKind::Shm => "/dev/shm",
                    GaugeKind::ShmLeft => say!("/dev/shm, free"),
                    GaugeKind::MemoryLeft => say!("memory, available"),
                    GaugeKind::StorageRead => say!("read from storage"),
                    GaugeKind::MajorFaults => say!("major page faults"),
                    GaugeKind::IoBlocked => say!("blocked on I/O"),
                    GaugeKind::Descriptors => say!("open files"),
                    GaugeKind::PinnedBytes => say!("pinned memory"),
                    GaugeKind::GpuBusy => say!("GPU, busy"),
                    GaugeKind::GpuMemory => say!("GPU memory"),
                    GaugeKind::Occupancy => say!("not empty"),
                    GaugeKind::Throughput => say!("throughput"),
                    GaugeKind::TaskTime => say!("task time"),
                    GaugeKind::Failures => say!("failed tasks"),
                    GaugeKind::WaitingToGet => say!("waiting for items"),
                    GaugeKind::WaitingToPut => say!("waiting for space"),
                };
                let of = match subject {
                    Subject::Program => None,
                    Subject::Lane(lane) => Some(lane.to_string()),
                    Subject::Part(part) => run.parts().get(usize::from(part)).cloned(),
                };
                (name, of)
            }
        }
    }

    /// Returns true for a chart of a part that is not a `DataLoader`.
    pub fn is_of_part(&self) -> bool {
        matches!(self, Self::Gauge(Subject::Part(_), _))
    }

    /// Returns the name in recordings, and the part it belongs to.
    pub fn id(self, run: &Run) -> (&'static str, Option<String>) {
        match self {
            Self::TasksOutstanding => ("tasks_outstanding", None),
            Self::Gauge(_, kind) => (kind.id(), self.label(run).1),
        }
    }

    /// Returns the mean over the measured time.
    pub fn mean(self, run: &Run) -> Option<f64> {
        let Self::Gauge(subject, kind) = self else {
            let level = run.tasks_outstanding();
            return Some(level.mean(Nanos::ZERO, run.end()));
        };
        let points = subject.series(run, kind)?.points();
        let after = points.iter().skip(1).map(|(at, _)| *at).chain([run.end()]);
        let known = points.iter().zip(after).filter(|((_, v), _)| v.is_finite());
        let (sum, time) = known.fold((0.0, 0.0), |(sum, time), ((at, value), end)| {
            let took = (end - *at).as_secs_f64();
            (sum + value * took, time + took)
        });
        (time > 0.0).then_some(sum / time)
    }

    /// Describes the quantity in one sentence.
    pub fn about(self) -> &'static str {
        match self {
            Self::TasksOutstanding => say!("Batches dispatched and not yet received"),
            Self::Gauge(_, GaugeKind::Rss) => say!("Resident set size (RSS)"),
            Self::Gauge(_, GaugeKind::Pss) => {
                say!("Proportional set size (PSS): shared pages divided among processes")
            }
            Self::Gauge(_, GaugeKind::Uss) => {
                say!("Unique set size (USS): memory not shared with other processes")
            }
            Self::Gauge(_, GaugeKind::Cpu) => say!("CPU cores in use"),
            Self::Gauge(_, GaugeKind::OtherCpu) => {
                say!("CPU cores that other programs use")
            }
            Self::Gauge(_, GaugeKind::BusyThreads) => say!("Threads that use the CPU"),
            Self::Gauge(_, GaugeKind::StorageRead) => {
                say!("Data read from storage since the start of the process")
            }
            Self::Gauge(_, GaugeKind::MajorFaults) => {
                say!("Page faults that read from storage, since the start of the process")
            }
            Self::Gauge(_, GaugeKind::IoBlocked) => {
                say!("Time in which the main thread was blocked on I/O")
            }
            Self::Gauge(_, GaugeKind::Shm) => say!("Shared memory used by all programs"),
            Self::Gauge(_, GaugeKind::ShmLeft) => say!("Free shared memory"),
            Self::Gauge(_, GaugeKind::MemoryLeft) => say!("Memory still available to the program"),
            Self::Gauge(_, GaugeKind::Descriptors) => say!("Open file descriptors"),
            Self::Gauge(_, GaugeKind::PinnedBytes) => say!("Page-locked memory"),
            Self::Gauge(_, GaugeKind::GpuBusy) => {
                say!("Mean utilization of the program's GPUs, by all programs")
            }
            Self::Gauge(_, GaugeKind::GpuMemory) => {
                say!("Memory in use on the program's GPUs, by all programs")
            }
            Self::Gauge(_, GaugeKind::Occupancy) => {
                say!(
                    "Share of time in which the queue was not empty. Near 0 %, its reader waits most of the time."
                )
            }
            Self::Gauge(_, GaugeKind::Throughput) => say!("Items per second"),
            Self::Gauge(_, GaugeKind::TaskTime) => say!("Mean time of successful tasks"),
            Self::Gauge(_, GaugeKind::Failures) => say!("Tasks that failed"),
            Self::Gauge(_, GaugeKind::WaitingToGet) => {
                say!("Average number of readers waiting for an item")
            }
            Self::Gauge(_, GaugeKind::WaitingToPut) => {
                say!("Average number of writers waiting for space in the queue")
            }
        }
    }

    /// Formats a value for people.
    pub fn text(self, value: f64) -> String {
        match self {
            Self::TasksOutstanding
            | Self::Gauge(
                _,
                GaugeKind::BusyThreads
                | GaugeKind::MajorFaults
                | GaugeKind::Descriptors
                | GaugeKind::Failures,
            ) => {
                // `top` may be the smallest positive number.
                if value.fract() == 0.0 || value < 1e-6 {
                    format::count(value.max(0.0) as u64)
                } else {
                    format!("{value:.1}")
                }
            }
            Self::Gauge(
                _,
                GaugeKind::Cpu
                | GaugeKind::OtherCpu
                | GaugeKind::WaitingToGet
                | GaugeKind::WaitingToPut,
            ) => format!("{value:.2}"),
            Self::Gauge(_, GaugeKind::Occupancy | GaugeKind::GpuBusy) => format::percent(value),
            Self::Gauge(_, GaugeKind::Throughput) => format!("{value:.1}\u{2009}/s"),
            Self::Gauge(_, GaugeKind::TaskTime | GaugeKind::IoBlocked) => {
                Nanos::from_secs_f64(value).to_string()
            }
            Self::Gauge(
                _,
                GaugeKind::Rss
                | GaugeKind::Pss
                | GaugeKind::Uss
                | GaugeKind::Shm
                | GaugeKind::ShmLeft
                | GaugeKind::MemoryLeft
                | GaugeKind::StorageRead
                | GaugeKind::PinnedBytes
                | GaugeKind::GpuMemory,
            ) => bytes(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_their_units() {
        let text = |kind, value| Chart::Gauge(Subject::Program, kind).text(value);
        assert_eq!(text(GaugeKind::OtherCpu, 1.04), "1.04");
        assert_eq!(
            text(GaugeKind::GpuBusy, 0.31).replace('\u{2009}', " "),
            "31 %"
        );
        assert_eq!(
            text(GaugeKind::GpuMemory, 3e9).replace('\u{2009}', " "),
            "3.00 GB"
        );
        assert_eq!(text(GaugeKind::Descriptors, 12.0), "12");
    }
}
