//! Assumed cost of worker processes, for recordings without workers.

use crate::{Nanos, Origin, RunInfo, StartMethod};

/// Cost of a worker process, without fetching.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessCost {
    /// Time that the main process needs to start one worker. Workers are started sequentially.
    pub start: Nanos,
    /// Time from the start of a worker to its first fetch.
    pub begin: Nanos,
    /// CPU time of importing PyTorch, as a part of `begin`.
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
    /// Maximum CPU time of an import: 10 min. A recording can contain any number.
    const MAX_IMPORT: Nanos = Nanos::from_millis(600_000);

    /// Returns the assumed cost for a program. Returns `None` if workers are threads or the cost is unknown. Processes are forked unless the
    /// recording contains another start method. A process that is not forked imports PyTorch again.
    pub fn assumed(info: &RunInfo) -> Option<Self> {
        let Origin::Pytorch(_) = info.origin else {
            return None;
        };
        let import = i64::try_from(info.import_ns).unwrap_or(i64::MAX);
        let import = Nanos(import).clamp(Nanos::ZERO, Self::MAX_IMPORT);
        let is_unknown = import == Nanos::ZERO;
        let import = match info.start_method {
            None | Some(StartMethod::Fork) => return Some(Self::FORKED),
            // A fork server of newer versions of Python imports the program once, and forks workers afterwards.
            Some(StartMethod::Forkserver) if is_unknown => return Some(Self::FORKED),
            Some(StartMethod::Spawn) if is_unknown => Self::IMPORT,
            Some(StartMethod::Forkserver | StartMethod::Spawn) => import,
        };
        // A spawned process removes its imported modules at its end.
        let end = match info.start_method {
            Some(StartMethod::Spawn) => Nanos(import.0 / 8 * 3),
            _ => Self::FORKED.end,
        };
        Some(Self {
            begin: import + Self::FORKED.begin,
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
