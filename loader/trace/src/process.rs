//! Assumed cost of worker processes, for recordings without workers.

use crate::{Nanos, Origin, RunInfo, StartMethod};

/// Cost of a worker process, without fetching.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessCost {
    /// Time that the main process needs to start one worker. Workers are started sequentially.
    pub start: Nanos,
    /// Time from the start of a worker to its first fetch.
    pub begin: Nanos,
    /// CPU time in `begin`.
    pub import: Nanos,
    /// Time at the end of an epoch until all workers have ended.
    pub end: Nanos,
}

impl ProcessCost {
    /// Cost of a forked process with PyTorch 2.13 on Linux, measured on idle hosts with two cores.
    pub const FORKED: Self = Self {
        start: Nanos::from_millis(15),
        begin: Nanos::from_millis(15),
        import: Nanos::ZERO,
        end: Nanos::from_millis(25),
    };
    /// Assumed CPU time of importing PyTorch if it was not recorded.
    const IMPORT: Nanos = Nanos::from_millis(2000);

    /// Returns the assumed cost for a program. Returns `None` if workers are threads or the cost is unknown. Processes are forked unless the
    /// recording contains another start method: then each imports PyTorch again.
    pub fn assumed(info: &RunInfo) -> Option<Self> {
        let Origin::Pytorch(_) = info.origin else {
            return None;
        };
        let import = match info.start_method {
            None | Some(StartMethod::Fork) => return Some(Self::FORKED),
            Some(StartMethod::Spawn | StartMethod::Forkserver) if info.import_ns == 0 => {
                Self::IMPORT
            }
            Some(StartMethod::Spawn | StartMethod::Forkserver) => {
                Nanos(i64::try_from(info.import_ns).unwrap_or(i64::MAX))
            }
        };
        let begin = Nanos(import.0.saturating_add(Self::FORKED.begin.0));
        // A spawned process removes at its end the modules that it imported.
        let end = match info.start_method {
            Some(StartMethod::Spawn) => Nanos(import.0 / 8 * 3),
            _ => Self::FORKED.end,
        };
        Some(Self {
            begin,
            import,
            end,
            ..Self::FORKED
        })
    }

    /// Returns the time from the first fork to the last end of `workers` workers, without their work.
    pub fn total_time(self, workers: usize) -> Nanos {
        let starts = (self.start.0).saturating_mul(i64::try_from(workers).unwrap_or(i64::MAX));
        Nanos(starts.saturating_add(self.begin.0.saturating_add(self.end.0)))
    }
}
