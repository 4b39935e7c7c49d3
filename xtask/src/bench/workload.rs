//! A compared workload, its programs and its goals.

use super::programs::{Program, Task};

/// Workload that the programs run.
#[derive(Debug)]
pub struct Workload {
    /// Name of the workload, also for Loadscope.
    pub id: &'static str,
    /// Description for the report.
    pub description: &'static str,
    pub unit: Unit,
    /// Names for PyTorch, one per implementation. The fastest one counts.
    pub pytorch: &'static [&'static str],
    /// Name for dataloader-rs, if it can run the workload.
    pub dataloader_rs: Option<&'static str>,
    /// Name for the Python reader of a format.
    pub counterpart: Option<&'static str>,
    /// Tried numbers of workers. Only [`Workers::Tried`] is also recorded.
    pub workers: Workers,
    pub goals: &'static [Goal],
    /// Goals for the cost of recording.
    pub recording: &'static [Goal],
}

/// Tried numbers of workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workers {
    /// 0 and 2 for PyTorch, 0, 1 and 2 for the others. Runs of Loadscope with 0 and 2 are also recorded.
    Tried,
    /// Always 2.
    Two,
    /// No workers, or no loader.
    NoLoader,
    /// No loader, but 1 and 2 threads. PyTorch uses one thread.
    Threads,
}

/// Unit of the figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// More is better.
    ItemsPerSecond,
    Milliseconds,
    Megabytes,
    Nanoseconds,
}

/// Goal of a workload.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goal {
    /// At least this many times as good as PyTorch at its best.
    TimesPytorch(f64),
    /// At least this many times as good as dataloader-rs at its best.
    TimesDataloaderRs(f64),
    /// At least this many times as good as the Python reader of the format.
    TimesCounterpart(f64),
    /// At least this many times as good as dataloader-rs with mimalloc, Loadscope's allocator.
    TimesDataloaderRsMimalloc(f64),
    /// At most this share slower while events are received, with this number of workers.
    Events(f64, u8),
    /// At most this share slower while events are written to a compressed log, with this number of workers.
    Log(f64, u8),
    /// No task loses an event.
    NoneLost,
    /// At most this value, in the unit of the workload.
    AtMost(f64),
    /// At least this value, in the unit of the workload.
    AtLeast(f64),
}

impl Workload {
    /// Returns true if `name` is the ID of the workload or the name of its group: `w4` is the group of `w4-random` and others.
    pub fn is_called(&self, name: &str) -> bool {
        self.id == name || self.id.split('-').next() == Some(name)
    }

    /// Returns true if the workload measures a data format.
    pub fn is_format(&self) -> bool {
        self.counterpart.is_some()
    }

    /// Returns the tasks of all programs, alternating between peers and Loadscope.
    pub fn tasks(&self) -> Vec<Task> {
        let task = |program, workload, workers, recording| Task {
            program,
            workload,
            workers,
            recording,
        };
        let (for_pytorch, for_others): (&[u8], &[u8]) = match self.workers {
            Workers::Tried => (&[0, 2], &[0, 1, 2]),
            Workers::Two => (&[2], &[2]),
            Workers::NoLoader => (&[0], &[0]),
            Workers::Threads => (&[0], &[1, 2]),
        };
        let recordings: &[&str] = match self.workers {
            Workers::Tried => &["off", "events", "log"],
            _ => &["off"],
        };
        let mut peers: Vec<Task> = Vec::new();
        for &workload in self.pytorch {
            peers.extend(
                for_pytorch
                    .iter()
                    .map(|&w| task(Program::Pytorch, workload, w, "off")),
            );
        }
        if let Some(workload) = self.dataloader_rs {
            let tasks = for_others.iter();
            peers.extend(tasks.flat_map(|&w| {
                let programs = [Program::DataloaderRs, Program::DataloaderRsMimalloc];
                programs.map(|program| task(program, workload, w, "off"))
            }));
        }
        if let Some(workload) = self.counterpart {
            peers.push(task(Program::Counterpart, workload, 0, "off"));
        }
        let mut ours = for_others.iter().flat_map(|&workers| {
            // The goals of recording are for 0 and 2 workers.
            let count = if workers == 1 { 1 } else { recordings.len() };
            let tasks = recordings.iter().take(count);
            tasks.map(move |recording| task(Program::Loadscope, self.id, workers, recording))
        });
        let mut all = Vec::new();
        for peer in peers {
            all.push(peer);
            all.extend(ours.next());
        }
        all.extend(ours);
        all
    }
}

impl Unit {
    /// Returns how many times better `one` is than `other`.
    pub fn ratio(self, one: f64, other: f64) -> f64 {
        match self {
            Self::ItemsPerSecond => one / other,
            _ => other / one,
        }
    }
}
