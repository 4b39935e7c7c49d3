//! Records the sampled stacks of a program's processes, and the source code of the sampled functions.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use loadscope_live::{Join, Process};
use loadscope_stacks::{Sampler, Samples, StackNode};
use loadscope_trace::{
    Event, EventKind, Function, Nanos, RunId, Stack, StackSamples, Stacks, Stage, WorkerId,
};

use super::sources::Sources;

/// Interval of the events with samples.
const EVERY: Duration = Duration::from_secs(1);

/// Maximum number of changes of the iterated loader that are stored per process.
const MAX_CHANGES: usize = 4096;

/// Beginning of the file name of the probe's code.
const PROBE: &str = "<loadscope";

/// Age of an event that the window does not count as late.
const IN_TIME: Nanos = Nanos(100_000_000);

/// Time limit for reading source code at the end of the recording.
const LAST_SOURCES: Duration = Duration::from_millis(300);

/// Settings of the sampled stacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackSampling {
    /// Samples per second of each process.
    pub rate: u32,
    /// Records the source code of the user's files.
    pub has_source: bool,
}

impl Default for StackSampling {
    fn default() -> Self {
        Self {
            rate: 100,
            has_source: true,
        }
    }
}

/// Recorder of the sampled stacks.
pub(super) struct StackRecorder {
    sampler: Sampler,
    /// Reader of source code. `None` if it is not recorded.
    sources: Option<Sources>,
    period: Nanos,
    taken: Instant,
    /// Processes that run.
    running: Vec<Process>,
    /// Processes since the last event with samples. Some have ended.
    seen: Vec<Process>,
    /// True after the first process that cannot be sampled.
    is_refused: bool,
    /// Stacks of the sampler so far.
    nodes: Vec<StackNode>,
    tables: BTreeMap<RunId, Table>,
    /// Changes of the loader that a main process iterates.
    iterated: HashMap<u64, Vec<(Nanos, RunId)>>,
}

/// Equal consecutive samples of a process, on the clock of the recording.
struct TimedSamples {
    at: Nanos,
    /// Stack of the sampler.
    node: u32,
    count: u32,
}

impl TimedSamples {
    /// Returns the end of the last sample.
    fn end(&self, period: Nanos) -> Nanos {
        let passed = i64::from(self.count).saturating_mul(period.0);
        Nanos(self.at.0.saturating_add(passed))
    }
}

/// Functions and stacks of a loader that are recorded.
#[derive(Default)]
struct Table {
    functions: HashMap<Function, u32>,
    /// Recorded stack of each stack of the sampler.
    known: HashMap<u32, Option<u32>>,
    /// Number of recorded stacks.
    stacks: u32,
    /// Time of the last event.
    last: Nanos,
    /// Definitions for the next event.
    new: (Vec<Function>, Vec<Stack>),
}

impl StackRecorder {
    /// Starts a sampler. Returns `None` if the system has no sampler or refuses the thread.
    pub fn start(sampling: StackSampling) -> Option<Self> {
        let rate = sampling.rate.max(1);
        Some(Self {
            sampler: Sampler::start(rate).ok()?,
            sources: sampling.has_source.then(Sources::start).flatten(),
            period: Nanos(1_000_000_000 / i64::from(rate)),
            taken: Instant::now(),
            running: Vec::new(),
            seen: Vec::new(),
            is_refused: false,
            nodes: Vec::new(),
            tables: BTreeMap::new(),
            iterated: HashMap::new(),
        })
    }

    /// Notes the loader that each main process iterates.
    pub fn observe(&mut self, event: &Event) {
        let is_iteration = match event.kind {
            EventKind::Consumer { .. } => true,
            EventKind::Entered { stage, .. } => stage == Stage::Training,
            _ => false,
        };
        let mut mains = self.seen.iter().filter(|one| one.worker.is_none());
        let main = mains.find(|one| is_iteration && one.run == event.run);
        let Some(main) = main else { return };
        let changes = self.iterated.entry(main.pid).or_default();
        if changes.last().is_none_or(|(_, run)| *run != event.run) && changes.len() < MAX_CHANGES {
            changes.push((event.at, event.run));
        }
    }

    /// Appends the samples since the last call, if it is time or at the end. Returns the first
    /// process that cannot be sampled, and the reason.
    pub fn take(
        &mut self,
        join: &Join,
        now: Nanos,
        is_end: bool,
        out: &mut Vec<Event>,
    ) -> Option<(u32, String)> {
        let has_ended = self.set_processes(join.processes());
        let time = if is_end { LAST_SOURCES } else { Duration::ZERO };
        let found = self.sources.iter_mut().flat_map(|one| one.take(time));
        out.extend(found.map(|(run, fact)| Event {
            at: now,
            run,
            kind: EventKind::Fact(Box::new(fact)),
        }));
        // The last samples of a process come before its end.
        if !is_end && !has_ended && self.taken.elapsed() < EVERY {
            return None;
        }
        self.taken = Instant::now();
        let Samples {
            nodes,
            samples,
            refused,
            ..
        } = self.sampler.take();
        self.nodes.extend(nodes);
        let mut lists: BTreeMap<(RunId, Option<WorkerId>), Vec<TimedSamples>> = BTreeMap::new();
        for one in samples {
            let at = i64::try_from(one.at).ok().and_then(|at| join.time_of(at));
            let Some(at) = at else { continue };
            if let Some(of) = self.loader_of(u64::from(one.pid), at) {
                let (node, count) = (one.node.0, one.count);
                lists
                    .entry(of)
                    .or_default()
                    .push(TimedSamples { at, node, count });
            }
        }
        for ((run, worker), samples) in lists {
            let Some(stacks) = self.event(run, worker, &samples) else {
                continue;
            };
            let of = (self.seen.iter()).find(|one| (one.run, one.worker) == (run, worker));
            if let (Some(sources), Some(of)) = (&mut self.sources, of) {
                let files = stacks.functions.iter().map(|function| &function.file);
                files.for_each(|file| sources.request(run, of.pid, file));
            }
            let end = samples.last().map_or(now, |last| last.end(self.period));
            // An event refers to the stacks of earlier ones.
            let table = self.tables.entry(run).or_default();
            table.last = end.max(now - IN_TIME).min(now).max(table.last);
            out.push(Event {
                at: table.last,
                run,
                kind: EventKind::Stacks(Box::new(stacks)),
            });
        }
        self.seen.clone_from(&self.running);
        self.forget_changes();
        let first = refused.into_iter().next();
        first.filter(|_| !std::mem::replace(&mut self.is_refused, true))
    }

    /// Notes the processes that run. Returns true if one has ended.
    fn set_processes(&mut self, processes: Vec<Process>) -> bool {
        if processes == self.running {
            return false;
        }
        let has_ended = self.running.iter().any(|one| !processes.contains(one));
        let mut pids: Vec<u32> = (processes.iter())
            .filter_map(|one| u32::try_from(one.pid).ok())
            .collect();
        pids.sort_unstable();
        pids.dedup();
        self.sampler.set_processes(pids);
        let new = processes.iter().filter(|one| !self.running.contains(one));
        self.seen.extend(new.cloned());
        self.running = processes;
        has_ended
    }

    /// Returns the loader and the worker of a process. A main process can have several loaders.
    fn loader_of(&self, pid: u64, at: Nanos) -> Option<(RunId, Option<WorkerId>)> {
        let of = self.seen.iter().filter(|one| one.pid == pid);
        let worker = of.clone().find(|one| one.worker.is_some());
        if let Some(Process { run, worker, .. }) = worker {
            return Some((*run, *worker));
        }
        let changes = self
            .iterated
            .get(&pid)
            .map(Vec::as_slice)
            .unwrap_or_default();
        let before = changes.partition_point(|(time, _)| *time <= at);
        let iterated = before.checked_sub(1).and_then(|k| changes.get(k));
        let run = iterated.map(|(_, run)| *run);
        run.or_else(|| of.map(|one| one.run).min())
            .map(|run| (run, None))
    }

    /// Keeps the newest change of each process.
    fn forget_changes(&mut self) {
        for changes in self.iterated.values_mut() {
            changes.drain(..changes.len().saturating_sub(1));
        }
    }

    fn event(
        &mut self,
        run: RunId,
        worker: Option<WorkerId>,
        samples: &[TimedSamples],
    ) -> Option<Stacks> {
        let period = self.period.0;
        let start = samples.first()?.at;
        let table = self.tables.entry(run).or_default();
        let first_function = u32::try_from(table.functions.len()).ok()?;
        let first_stack = table.stacks;
        let mut list: Vec<StackSamples> = Vec::with_capacity(samples.len());
        let mut end = start;
        for TimedSamples { at, node, count } in samples {
            // The sampler keeps a grid, so a gap is a multiple of the period.
            let missed = (at.0 - end.0 + period / 2).div_euclid(period).max(0);
            let missed = u32::try_from(missed).unwrap_or(u32::MAX);
            list.extend((missed > 0).then_some(StackSamples {
                stack: None,
                count: missed,
            }));
            let stack = table.stack(&self.nodes, *node);
            match list
                .last_mut()
                .filter(|last| missed == 0 && last.stack == stack)
            {
                Some(last) => last.count = last.count.saturating_add(*count),
                None => list.push(StackSamples {
                    stack,
                    count: *count,
                }),
            }
            let passed = i64::from(missed) + i64::from(*count);
            end = Nanos(end.0.saturating_add(passed.saturating_mul(period)));
        }
        let (functions, stacks) = std::mem::take(&mut table.new);
        Some(Stacks {
            worker,
            start,
            period: self.period,
            first_function: if functions.is_empty() {
                0
            } else {
                first_function
            },
            functions,
            first_stack: if stacks.is_empty() { 0 } else { first_stack },
            stacks,
            samples: list,
        })
    }
}

impl Table {
    /// Returns the recorded stack of a stack of the sampler, after those of its callers. `None` inside the probe, which is no code of the
    /// program: on a busy host, the kernel often suspends a process at the system calls of the probe.
    fn stack(&mut self, nodes: &[StackNode], node: u32) -> Option<u32> {
        if nodes.get(node as usize)?.frame.file.starts_with(PROBE) {
            return None;
        }
        let mut path = vec![node];
        while let Some(last) = path.last()
            && !self.known.contains_key(last)
            && let Some(parent) = nodes.get(*last as usize)?.parent
        {
            path.push(parent.0);
        }
        let mut caller = None;
        for node in path.into_iter().rev() {
            caller = match self.known.get(&node) {
                Some(known) => *known,
                None => self.define(nodes, node, caller),
            };
        }
        caller
    }

    /// Adds the innermost call of a stack of the sampler.
    fn define(&mut self, nodes: &[StackNode], node: u32, caller: Option<u32>) -> Option<u32> {
        let frame = &nodes.get(node as usize)?.frame;
        let stack = match frame.file.starts_with(PROBE) {
            true => caller,
            false => {
                let function = self.function(&frame.function, &frame.file);
                self.new.1.push(Stack {
                    caller,
                    function,
                    line: frame.line,
                });
                self.stacks += 1;
                Some(self.stacks - 1)
            }
        };
        self.known.insert(node, stack);
        stack
    }

    fn function(&mut self, name: &str, file: &str) -> u32 {
        let function = Function {
            name: name.to_owned(),
            file: file.to_owned(),
        };
        if let Some(known) = self.functions.get(&function) {
            return *known;
        }
        let number = u32::try_from(self.functions.len()).unwrap_or(u32::MAX);
        self.functions.insert(function.clone(), number);
        self.new.0.push(function);
        number
    }
}
