//! Profiles: sampled stacks of a part of a run, with the lines of code that take the time.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use crate::event::Function;
use crate::stack_log::{Call, SampledStack, StackLog};
use crate::{Activity, Lane, Nanos, Run, Spans, WorkerId};

/// Number of samples per stack, in a part of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    counts: BTreeMap<u32, u64>,
    total: u64,
}

/// Line of code with its samples.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HotLine<'a> {
    /// Function.
    pub function: &'a Function,
    /// Line number. 0 if it is unknown.
    pub line: u32,
    /// Number of samples in this line and in the library functions that it calls.
    pub samples: u64,
    /// Function that the line calls in most of these samples, and their number. `None` if it usually calls none.
    pub callee: Option<(&'a Function, u64)>,
    /// System call in which most of these samples wait, and their number. `None` if they usually compute.
    pub wait: Option<(&'a Function, u64)>,
}

impl<'a> HotLine<'a> {
    /// Returns the library function that the user's line calls in at least half of its samples.
    pub fn usual_callee(&self) -> Option<&'a Function> {
        self.usual(self.callee).filter(|_| self.function.is_user())
    }

    /// Returns the system call in which at least half of the samples wait.
    pub fn usual_wait(&self) -> Option<&'a Function> {
        self.usual(self.wait)
    }

    fn usual(&self, found: Option<(&'a Function, u64)>) -> Option<&'a Function> {
        let usual = found.filter(|(_, samples)| 2 * samples >= self.samples);
        usual.map(|(function, _)| function)
    }

    /// Returns the name of the file without its folders, and the line: `dataset.py:42`.
    pub fn place(&self) -> String {
        place(&self.function.file, self.line)
    }
}

/// Returns the name of a file without its folders, and the line if it is known: `dataset.py:42`. Many packages have a file with the name
/// `__init__.py`, so that its folder is included.
pub fn place(file: &str, line: u32) -> String {
    let mut parts = file.rsplit('/');
    let name = parts.next().unwrap_or(file);
    let is_common = matches!(name, "__init__.py" | "__main__.py");
    let folder = parts
        .next()
        .filter(|folder| is_common && !folder.is_empty());
    let name = folder.map_or_else(|| name.to_owned(), |folder| format!("{folder}/{name}"));
    match line {
        0 => name,
        line => format!("{name}:{line}"),
    }
}

/// Calls of a function from one line of its caller, with the calls in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallTree<'a> {
    /// Function and its line. `None` for the root.
    pub call: Option<(&'a Function, u32)>,
    /// Number of samples with this call.
    pub samples: u64,
    /// Calls in this one, the most frequent first.
    pub calls: Vec<CallTree<'a>>,
}

impl Profile {
    /// Returns the number of samples.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Returns the stacks with their numbers of samples.
    pub fn counts(&self) -> impl Iterator<Item = (u32, u64)> {
        self.counts.iter().map(|(stack, count)| (*stack, *count))
    }

    /// Adds samples of a stack.
    pub fn add(&mut self, stack: u32, count: u64) {
        *self.counts.entry(stack).or_default() += count;
        self.total += count;
    }

    /// Keeps the samples of some stacks.
    fn retain(&mut self, is_kept: impl Fn(u32) -> bool) {
        self.counts.retain(|stack, _| is_kept(*stack));
        self.total = self.counts.values().sum();
    }

    /// Adds the samples of another profile of the same run.
    pub fn extend(&mut self, other: &Self) {
        other
            .counts()
            .for_each(|(stack, count)| self.add(stack, count));
    }

    /// Returns the lines with samples, the hottest first. A line of the user's code includes the library functions that it calls.
    pub fn lines<'a>(&self, log: &'a StackLog) -> Vec<HotLine<'a>> {
        /// Samples of a line, and of the functions that it calls.
        #[derive(Default)]
        struct Line<'a> {
            samples: u64,
            callees: HashMap<Option<&'a Function>, u64>,
            waits: HashMap<Option<&'a Function>, u64>,
        }
        let mut lines: HashMap<(&Function, u32), Line<'_>> = HashMap::new();
        for (stack, count) in self.counts() {
            let calls = log.own_calls(stack);
            let Some(at) = own_line(&calls) else { continue };
            let inside = calls.get(..at).unwrap_or_default().iter().rev();
            let wait = inside
                .clone()
                .find(|call| call.function.waits_for().is_some());
            let inside = inside.filter(|call| call.function.waits_for().is_none());
            let callee = inside.clone().find(|call| !call.function.is_wrapper());
            let callee = callee.or_else(|| inside.clone().next());
            let Some(call) = calls.get(at) else { continue };
            let line = lines.entry((call.function, call.line)).or_default();
            line.samples += count;
            *line
                .callees
                .entry(callee.map(|call| call.function))
                .or_default() += count;
            *line
                .waits
                .entry(wait.map(|call| call.function))
                .or_default() += count;
        }
        let mut lines: Vec<HotLine<'_>> = (lines.into_iter())
            .map(|((function, line), of)| HotLine {
                function,
                line,
                samples: of.samples,
                callee: most(of.callees),
                wait: most(of.waits),
            })
            .collect();
        lines.sort_by(|a, b| {
            let key = |one: &HotLine<'_>| (std::cmp::Reverse(one.samples), one.line);
            (key(a), &a.function.file).cmp(&(key(b), &b.function.file))
        });
        lines
    }

    /// Returns the tree of calls.
    pub fn tree<'a>(&self, log: &'a StackLog) -> CallTree<'a> {
        let mut root = CallTree::new(None);
        for (stack, count) in self.counts() {
            let mut node = &mut root;
            node.samples += count;
            for call in log.own_calls(stack).iter().rev() {
                node = node.child((call.function, call.line));
                node.samples += count;
            }
        }
        root.sort();
        root
    }
}

fn most<'a>(callees: HashMap<Option<&'a Function>, u64>) -> Option<(&'a Function, u64)> {
    let name = |function: &Option<&'a Function>| function.map(|one| (&one.file, &one.name));
    let all = callees.into_iter();
    let (function, samples) = all.max_by(|a, b| (a.1, name(&b.0)).cmp(&(b.1, name(&a.0))))?;
    function.map(|function| (function, samples))
}

impl<'a> CallTree<'a> {
    fn new(call: Option<(&'a Function, u32)>) -> Self {
        Self {
            call,
            samples: 0,
            calls: Vec::new(),
        }
    }

    fn child(&mut self, call: (&'a Function, u32)) -> &mut Self {
        let known = self.calls.iter().position(|one| one.call == Some(call));
        let at = known.unwrap_or_else(|| {
            self.calls.push(Self::new(Some(call)));
            self.calls.len() - 1
        });
        &mut self.calls[at]
    }

    fn sort(&mut self) {
        let key = |one: &Self| {
            (
                std::cmp::Reverse(one.samples),
                one.call.map(|(_, line)| line),
            )
        };
        self.calls.sort_by_key(key);
        self.calls.iter_mut().for_each(Self::sort);
    }
}

impl StackLog {
    /// Returns the innermost line of the user's code on a stack, and its function. See [`Profile::lines`].
    pub fn line_of(&self, stack: u32) -> Option<(&Function, u32)> {
        let calls = self.own_calls(stack);
        let call = calls.get(own_line(&calls)?)?;
        Some((call.function, call.line))
    }

    /// Returns the calls of a stack inside the loader's call of the dataset, the innermost first. A forked worker has inherited the calls
    /// outside of it. All calls, if the stack is not inside the dataset.
    pub fn own_calls(&self, stack: u32) -> Vec<Call<'_>> {
        let mut calls: Vec<Call<'_>> = self.calls(stack).collect();
        let position = |is_outside: fn(&Function) -> bool| {
            let found = calls.iter().position(|call| is_outside(call.function));
            found.filter(|at| *at > 0)
        };
        let outside = position(is_fetch).or_else(|| position(is_worker_loop));
        calls.truncate(outside.unwrap_or(calls.len()));
        calls
    }

    /// Returns PyTorch's function that calls the dataset and `collate_fn`, with its line, if the stack contains it.
    fn fetch_line(&self, stack: u32) -> Option<(&Function, u32)> {
        let fetch = self.calls(stack).find(|call| is_fetch(call.function))?;
        Some((fetch.function, fetch.line))
    }
}

/// Returns true for PyTorch's function that calls the dataset and `collate_fn`.
fn is_fetch(function: &Function) -> bool {
    // Before Python 3.12, a list comprehension is a function.
    ["fetch", "<listcomp>"]
        .iter()
        .any(|name| function.is(name, "torch/utils/data/_utils/fetch.py"))
}

/// Returns true for the main function of a worker, of PyTorch or torchdata.
fn is_worker_loop(function: &Function) -> bool {
    let files = [
        "torch/utils/data/_utils/worker.py",
        "torchdata/stateful_dataloader/worker.py",
    ];
    files.iter().any(|file| function.is("_worker_loop", file))
}

/// Returns the position of the innermost call of the user's code. Without one, of the innermost call of the outermost package: a library can
/// contain the dataset.
fn own_line(calls: &[Call<'_>]) -> Option<usize> {
    // Lost definitions have no file.
    let is_known =
        |call: &&Call<'_>| !call.function.file.is_empty() && call.function.waits_for().is_none();
    let position = |is_wanted: &dyn Fn(&Call<'_>) -> bool| {
        calls
            .iter()
            .position(|call| is_known(&call) && is_wanted(call))
    };
    // `Subset` and others only call another dataset.
    let is_dataset = |call: &&Call<'_>| !call.function.file.contains("/torch/utils/data/");
    let known = || calls.iter().rev().filter(is_known);
    let outermost = known().find(is_dataset).or_else(|| known().next())?;
    let outermost = package(&outermost.function.file);
    position(&|call| call.function.is_user())
        .or_else(|| position(&|call| package(&call.function.file) == outermost))
}

/// Returns the folder of an installed package. Empty for the standard library.
fn package(file: &str) -> &str {
    let installed = ["/site-packages/", "/dist-packages/"].iter();
    let inside = installed.filter_map(|folder| file.split_once(folder));
    let package = inside.map(|(_, inside)| inside).next();
    package
        .and_then(|inside| inside.split('/').next())
        .unwrap_or_default()
}

impl Run {
    /// Returns the samples of the processes in spans of `activity` within a range of time.
    ///
    /// On a busy host, the time of a sample is not exact. The stack shows whether the loader calls the dataset, and in which line of its
    /// function `fetch`: the samples of a line belong to fetching or collating, whichever has more of them.
    pub fn profile(&self, activity: Activity, range: Range<Nanos>) -> Profile {
        if !matches!(activity, Activity::Fetching | Activity::Collating) {
            let mut profile = self.profile_at(activity, range);
            profile.retain(|stack| self.stacks().fetch_line(stack).is_none());
            return profile;
        }
        let [fetching, collating] = [Activity::Fetching, Activity::Collating]
            .map(|one| self.profile_at(one, range.clone()));
        let mut lines: HashMap<(&Function, u32), [u64; 2]> = HashMap::new();
        for (of, profile) in [&fetching, &collating].into_iter().enumerate() {
            for (stack, count) in profile.counts() {
                let line = self.stacks().fetch_line(stack);
                let counts = line.map(|line| &mut lines.entry(line).or_default()[of]);
                counts.into_iter().for_each(|sum| *sum += count);
            }
        }
        let is_collating = activity == Activity::Collating;
        if lines.is_empty() {
            return if is_collating { collating } else { fetching };
        }
        let mut profile = fetching;
        profile.extend(&collating);
        profile.retain(|stack| {
            let counts = self
                .stacks()
                .fetch_line(stack)
                .and_then(|line| lines.get(&line));
            counts.is_some_and(|[fetched, collated]| (collated > fetched) == is_collating)
        });
        profile
    }

    /// Returns the samples with times in spans of `activity`.
    fn profile_at(&self, activity: Activity, range: Range<Nanos>) -> Profile {
        let mut profile = Profile::default();
        for worker in self.stacks().processes() {
            let each = |one: SampledStack| profile.add(one.stack, u64::from(one.count));
            self.samples_in(worker, activity, range.clone(), each);
        }
        profile
    }

    /// Calls `each` with the samples of a process in spans of `activity` within a range of time. `None` is the main process.
    pub fn samples_in(
        &self,
        worker: Option<WorkerId>,
        activity: Activity,
        range: Range<Nanos>,
        mut each: impl FnMut(SampledStack),
    ) {
        for (lane, _) in self.lanes() {
            let is_of_process = match lane {
                Lane::Worker(of) => worker == Some(of),
                Lane::Main | Lane::Trainer => worker.is_none(),
                Lane::Reorder
                | Lane::DataQueue
                | Lane::Pin
                | Lane::ResultQueue
                | Lane::IndexQueue(_) => false,
            };
            if is_of_process {
                for spans in self.rows_of(lane) {
                    self.samples_in_spans(worker, spans, activity, &range, &mut each);
                }
            }
        }
    }

    fn samples_in_spans(
        &self,
        worker: Option<WorkerId>,
        spans: &Spans,
        activity: Activity,
        range: &Range<Nanos>,
        each: &mut impl FnMut(SampledStack),
    ) {
        let (log, all) = (self.stacks(), spans.all());
        let mut at = 0;
        for samples in log.samples(worker, range.clone()) {
            at = spans.gallop(at, samples.start);
            let later = all.range(at..).iter();
            let end = samples.end(log.period());
            for span in later.take_while(|span| span.start < end) {
                if span.activity == activity {
                    let inside = samples.within(span.start..span.end, log.period());
                    inside.into_iter().for_each(&mut *each);
                }
            }
        }
    }

    /// Returns the samples of a process in a range of time.
    pub fn profile_of(&self, worker: Option<WorkerId>, range: Range<Nanos>) -> Profile {
        let mut profile = Profile::default();
        for SampledStack { stack, count, .. } in self.stacks().samples(worker, range) {
            profile.add(stack, u64::from(count));
        }
        profile
    }
}

#[cfg(test)]
mod tests;
