//! Facts about workers that are found from outside: their thread pools, and the folders of their data.

use std::collections::{HashMap, HashSet};

use loadscope_trace::{Event, EventKind, Fact, Nanos, RunId};

use super::{files, threads};
use crate::Process;

/// Maximum number of processes whose open files are read, per run. It bounds the cost.
const MAX_SEARCHES: u32 = 50;

/// Facts found so far.
#[derive(Default)]
pub(super) struct Facts {
    with_pools: HashSet<RunId>,
    file_systems: HashSet<(RunId, String)>,
    searches: HashMap<RunId, u32>,
}

impl Facts {
    /// Appends the libraries with a thread pool of a worker with several busy threads.
    pub fn find_pools(&mut self, process: Process, at: Nanos, out: &mut Vec<Event>) {
        if process.worker.is_none() || self.with_pools.contains(&process.run) {
            return;
        }
        let libraries = threads::pools(process.pid);
        if !libraries.is_empty() {
            self.with_pools.insert(process.run);
            out.push(event(at, process.run, Fact::ThreadPools { libraries }));
        }
    }

    /// Appends the folders of the open files of a process that is blocked on I/O, one per type of file system.
    pub fn find_storage(&mut self, process: Process, at: Nanos, out: &mut Vec<Event>) {
        let run = process.run;
        let searches = self.searches.entry(run).or_default();
        *searches += 1;
        if *searches > MAX_SEARCHES {
            return;
        }
        for (file_system, folder) in files::folders(process.pid) {
            if self.file_systems.insert((run, file_system.clone())) {
                let fact = Fact::Storage {
                    file_system,
                    folder,
                };
                out.push(event(at, run, fact));
            }
        }
    }
}

fn event(at: Nanos, run: RunId, fact: Fact) -> Event {
    Event {
        at,
        run,
        kind: EventKind::Fact(Box::new(fact)),
    }
}
