//! Sampled stacks of a run.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::event::{Function, Stack, Stacks};
use crate::{Nanos, WorkerId};
use loadscope_column::Column;

/// Maximum number of functions and of stacks. The sampler stops earlier.
const MAX_DEFINITIONS: usize = 1 << 20;

/// Maximum number of missing stacks or functions per event, after lost events.
const MAX_MISSING: usize = 1 << 16;

/// Maximum number of callers of a stack. A recording that was written by hand can have more.
const MAX_DEPTH: usize = 1 << 12;

/// Sampled stacks of a run.
#[derive(Clone, Debug, Default)]
pub struct StackLog {
    functions: Column<(Nanos, Function)>,
    stacks: Column<(Nanos, Stack)>,
    samples: BTreeMap<Option<WorkerId>, Column<SampledStack>>,
    /// Time between two samples.
    period: Nanos,
}

/// Equal consecutive samples of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampledStack {
    /// Time of the first sample.
    pub start: Nanos,
    /// Stack.
    pub stack: u32,
    /// Number of samples, one per period.
    pub count: u32,
}

impl SampledStack {
    /// Returns the end of the last sample.
    pub fn end(self, period: Nanos) -> Nanos {
        let passed = i64::from(self.count).saturating_mul(period.0);
        Nanos(self.start.0.saturating_add(passed))
    }

    /// Returns those of the samples in a range of time. Samples are at `start + k * period` for `k` below `count`.
    pub fn within(self, range: Range<Nanos>, period: Nanos) -> Option<Self> {
        let before = self.count_before(range.start, period);
        let count = (self.count_before(range.end, period)).saturating_sub(before);
        let passed = i64::from(before).saturating_mul(period.0);
        (count > 0).then_some(Self {
            start: Nanos(self.start.0.saturating_add(passed)),
            count,
            ..self
        })
    }

    fn count_before(self, at: Nanos, period: Nanos) -> u32 {
        let passed = at.0.saturating_sub(self.start.0).max(0).unsigned_abs();
        let ticks = passed.div_ceil(period.0.unsigned_abs().max(1));
        u32::try_from(ticks).unwrap_or(u32::MAX).min(self.count)
    }
}

/// Call on a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call<'a> {
    /// Position of the stack that the call is the innermost one of.
    pub stack: u32,
    /// Called function.
    pub function: &'a Function,
    /// Executed line of the function. 0 if it is unknown.
    pub line: u32,
}

impl StackLog {
    /// Returns true without samples.
    pub fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }

    /// Returns the time between two samples. 0 without samples.
    pub fn period(&self) -> Nanos {
        self.period
    }

    /// Returns the calls of a stack, the innermost first.
    pub fn calls(&self, stack: u32) -> impl Iterator<Item = Call<'_>> {
        let mut next = Some(stack);
        let calls = std::iter::from_fn(move || {
            let stack = next?;
            let (_, of) = self.stacks.get(stack as usize)?;
            // A caller is recorded before the calls in it.
            next = of.caller.filter(|caller| *caller < stack);
            let (_, function) = self.functions.get(of.function as usize)?;
            Some(Call {
                stack,
                function,
                line: of.line,
            })
        });
        calls.take(MAX_DEPTH)
    }

    /// Returns the processes with samples. `None` is the main process.
    pub fn processes(&self) -> impl Iterator<Item = Option<WorkerId>> {
        self.samples.keys().copied()
    }

    /// Returns the samples of a process in a range of time, with the number of those inside it.
    pub fn samples(
        &self,
        worker: Option<WorkerId>,
        range: Range<Nanos>,
    ) -> impl Iterator<Item = SampledStack> {
        let period = self.period();
        let all = self.samples.get(&worker);
        let all = all.into_iter().flat_map(move |all| {
            let first = all.partition_point(|one| one.start < range.start);
            all.range(first.saturating_sub(1)..).iter().copied()
        });
        let until = all.take_while(move |one| one.start < range.end);
        until.filter_map(move |one| one.within(range.clone(), period))
    }

    /// Applies an event with the effective time `at`. Returns false if earlier events are missing.
    pub(crate) fn apply(&mut self, at: Nanos, event: &Stacks) -> bool {
        let unknown = Function {
            name: String::new(),
            file: String::new(),
        };
        let functions = event.functions.iter().map(|one| (at, one.clone()));
        let mut is_whole = append(
            &mut self.functions,
            event.first_function,
            functions,
            (at, unknown),
        );
        let stacks = event.stacks.iter().map(|one| (at, *one));
        is_whole &= append(&mut self.stacks, event.first_stack, stacks, (at, UNKNOWN));
        let period = event.period.0.max(1);
        let mut start = event.start;
        if !event.samples.is_empty() {
            self.period = Nanos(period);
        }
        for one in &event.samples {
            let passed = i64::from(one.count).saturating_mul(period);
            let next = Nanos(start.0.saturating_add(passed));
            let all = self.samples.entry(event.worker);
            if let Some(stack) = one.stack.filter(|_| one.count > 0) {
                let all = all.or_default();
                // The samples of an event begin at a measured time, which differs from the grid of the event before.
                let last = all.last().map(|last| last.start);
                let start = match last {
                    Some(last) if last - Nanos(period) < start => start.max(last),
                    _ => start,
                };
                let is_in_order = last.is_none_or(|last| last <= start);
                // The event that defines the stack can follow.
                let nothing = std::iter::empty();
                append(
                    &mut self.stacks,
                    stack.saturating_add(1),
                    nothing,
                    (at, UNKNOWN),
                );
                let is_known = (stack as usize) < self.stacks.len();
                if is_in_order && is_known {
                    all.push(SampledStack {
                        start,
                        stack,
                        count: one.count,
                    });
                }
                is_whole &= is_in_order && is_known;
            }
            start = next;
        }
        is_whole
    }

    /// Hides the samples after `at`.
    pub(crate) fn hide_after(&mut self, at: Nanos) {
        let functions = self.functions.partition_point(|(time, _)| *time <= at);
        self.functions.truncate(functions);
        let stacks = self.stacks.partition_point(|(time, _)| *time <= at);
        self.stacks.truncate(stacks);
        let known = self.stacks.len();
        for samples in self.samples.values_mut() {
            let shown = samples.partition_point(|one| one.start <= at);
            samples.truncate(shown);
            while samples
                .last()
                .is_some_and(|last| last.stack as usize >= known)
            {
                samples.truncate(samples.len() - 1);
            }
        }
        self.samples.retain(|_, samples| !samples.is_empty());
    }

    /// Returns an event with all functions and stacks but no samples, so that reading can start at a part of a recording.
    pub(crate) fn definitions(&self) -> Option<Stacks> {
        (!self.stacks.is_empty()).then(|| Stacks {
            period: self.period.max(Nanos(1)),
            functions: self.functions.iter().map(|(_, one)| one.clone()).collect(),
            stacks: self.stacks.iter().map(|(_, one)| *one).collect(),
            ..Stacks::default()
        })
    }

    pub(crate) fn bytes(&self) -> usize {
        let samples = self.samples.values().map(Column::bytes);
        self.functions.bytes() + self.stacks.bytes() + samples.sum::<usize>()
    }
}

/// Stack of an event that was lost or follows.
const UNKNOWN: Stack = Stack {
    caller: None,
    function: u32::MAX,
    line: 0,
};

/// Stores items from position `first` on, and fills a gap before them. An item replaces the filler of an earlier event, but no other item.
/// Returns false if items are missing.
fn append<T: Clone + PartialEq>(
    to: &mut Column<(Nanos, T)>,
    first: u32,
    items: impl Iterator<Item = (Nanos, T)>,
    filler: (Nanos, T),
) -> bool {
    let (first, len) = (first as usize, to.len());
    let missing = first.saturating_sub(len);
    if missing > MAX_MISSING || len + missing > MAX_DEFINITIONS {
        return false;
    }
    to.extend(std::iter::repeat_n(filler.clone(), missing));
    for (at, item) in (first..MAX_DEFINITIONS).zip(items) {
        match to.get(at) {
            Some((_, known)) if *known == filler.1 => {
                if let Some((_, known)) = to.get_mut(at) {
                    *known = item.1;
                }
            }
            Some(_) => {}
            None => to.push(item),
        }
    }
    missing == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::StackSamples;

    /// Returns one event per worker. Each defines a function and a stack in `main`, and samples its own stack and those of earlier workers.
    fn events() -> Vec<Stacks> {
        let function = |name: &str| Function {
            name: name.to_owned(),
            file: "train.py".to_owned(),
        };
        let sampled = |stack| StackSamples {
            stack: Some(stack),
            count: 1,
        };
        let first = Stacks {
            worker: Some(0),
            period: Nanos(10),
            functions: vec![function("main")],
            stacks: vec![Stack {
                caller: None,
                function: 0,
                line: 1,
            }],
            samples: vec![sampled(0)],
            ..Stacks::default()
        };
        let later = (1..4).map(|worker| Stacks {
            worker: Some(worker),
            period: Nanos(10),
            first_function: u32::from(worker),
            functions: vec![function(&format!("load {worker}"))],
            first_stack: u32::from(worker),
            stacks: vec![Stack {
                caller: Some(0),
                function: u32::from(worker),
                line: u32::from(worker),
            }],
            samples: (0..=u32::from(worker)).map(sampled).collect(),
            ..Stacks::default()
        });
        std::iter::once(first).chain(later).collect()
    }

    /// Returns the lines of all samples of a worker.
    fn lines(log: &StackLog, worker: WorkerId) -> Vec<String> {
        let samples = log.samples(Some(worker), Nanos(i64::MIN)..Nanos::MAX);
        let line = |sample: SampledStack| {
            let calls = log.calls(sample.stack);
            let names = calls.map(|call| format!("{}:{}", call.function.name, call.line));
            names.collect::<Vec<String>>().join(" < ")
        };
        samples.map(line).collect()
    }

    #[test]
    fn a_definition_after_its_use_is_found() {
        let events = events();
        let of_all = |order: &[usize]| {
            let mut log = StackLog::default();
            for at in order {
                log.apply(Nanos(5), &events[*at]);
            }
            (0..4).map(|worker| lines(&log, worker)).collect::<Vec<_>>()
        };
        let wanted = of_all(&[0, 1, 2, 3]);
        assert_eq!(wanted[1], ["main:1", "load 1:1 < main:1"]);
        for order in [[3, 2, 1, 0], [1, 3, 0, 2], [2, 0, 3, 1], [3, 0, 1, 2]] {
            assert_eq!(of_all(&order), wanted, "{order:?}");
        }
    }

    #[test]
    fn an_event_can_begin_less_than_a_period_before_the_last_sample() {
        let sample = |start: i64, first| Stacks {
            worker: Some(0),
            start: Nanos(start),
            samples: vec![StackSamples {
                stack: Some(0),
                count: 1,
            }],
            ..match first {
                true => events().swap_remove(0),
                false => Stacks {
                    period: Nanos(10),
                    ..Stacks::default()
                },
            }
        };
        for (next, wanted) in [(91, true), (90, false), (100, true)] {
            let mut log = StackLog::default();
            assert!(log.apply(Nanos(200), &sample(100, true)));
            assert_eq!(
                log.apply(Nanos(200), &sample(next, false)),
                wanted,
                "{next}"
            );
            assert_eq!(lines(&log, 0).len(), 1 + usize::from(wanted));
        }
    }

    #[test]
    fn a_lost_definition_has_no_function() {
        let mut log = StackLog::default();
        assert!(!log.apply(Nanos(5), &events()[2]));
        assert_eq!(lines(&log, 2), ["", "", "load 2:2"]);
    }
}
