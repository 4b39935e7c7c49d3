//! A piece of work that is compared, who takes part, and its goals.

use super::programs::{Program, Task};

/// A piece of work.
#[derive(Debug)]
pub struct Work {
    /// Its name, also for Loadscope.
    pub id: &'static str,
    /// What is done.
    pub says: &'static str,
    pub unit: Unit,
    /// Its names for PyTorch, where there are several ways; the fastest counts.
    pub pytorch: &'static [&'static str],
    /// Its name for dataloader-rs, if that can do it.
    pub dataloader_rs: Option<&'static str>,
    /// Its name for what reads a format in Python.
    pub counterpart: Option<&'static str>,
    /// Whether it depends on the number of workers, and can be recorded.
    pub workers: Workers,
    pub goals: &'static [Goal],
    /// What recording it may cost.
    pub recording: &'static [Goal],
}

/// Which numbers of workers are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workers {
    /// 0 and 2 for PyTorch, 0, 1 and 2 for the others; with 0 and 2 also recorded.
    Tried,
    /// Always 2.
    Two,
    /// There are none: no loader at all, or one without workers.
    NoLoader,
    /// No loader, but as many threads as there would be workers: 1 and 2. PyTorch has one.
    Threads,
}

/// What the figures are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// More is better.
    ItemsPerSecond,
    Milliseconds,
    Megabytes,
    Nanoseconds,
}

/// What is to be reached.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goal {
    /// At least this many times as good as PyTorch at its best.
    TimesPytorch(f64),
    /// At least this many times as good as dataloader-rs at its best.
    TimesDataloaderRs(f64),
    /// At least this many times as good as what reads the format in Python.
    TimesCounterpart(f64),
    /// The same of dataloader-rs with the allocator that Loadscope has.
    TimesDataloaderRsMimalloc(f64),
    /// At most this share slower while events are heard, with so many workers.
    Events(f64, u8),
    /// At most this share slower while events are written to a compressed log, with so many workers.
    Log(f64, u8),
    /// No event is lost, of none of the tasks.
    NoneLost,
    /// At most this, in the unit of the work.
    AtMost(f64),
    /// At least this, in the unit of the work.
    AtLeast(f64),
}

impl Work {
    /// Whether a name is its own or that of its group: `w4` is `w4-random` and others.
    pub fn is_called(&self, name: &str) -> bool {
        self.id == name || self.id.split('-').next() == Some(name)
    }

    /// Whether it is one of the formats of data.
    pub fn is_format(&self) -> bool {
        self.counterpart.is_some()
    }

    /// Everybody's tasks, in turn: peers first, then ours, and so on.
    pub fn tasks(&self) -> Vec<Task> {
        let task = |program, work, workers, recording| Task {
            program,
            work,
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
        for &work in self.pytorch {
            peers.extend(
                for_pytorch
                    .iter()
                    .map(|&w| task(Program::Pytorch, work, w, "off")),
            );
        }
        if let Some(work) = self.dataloader_rs {
            let tasks = for_others.iter();
            peers.extend(tasks.flat_map(|&w| {
                let programs = [Program::DataloaderRs, Program::DataloaderRsMimalloc];
                programs.map(|program| task(program, work, w, "off"))
            }));
        }
        if let Some(work) = self.counterpart {
            peers.push(task(Program::Counterpart, work, 0, "off"));
        }
        let mut ours = for_others.iter().flat_map(|&workers| {
            // The goals of recording are those of 0 and of 2 workers.
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
    /// How many times as good the first is as the second.
    pub fn ratio(self, one: f64, other: f64) -> f64 {
        match self {
            Self::ItemsPerSecond => one / other,
            _ => other / one,
        }
    }
}
