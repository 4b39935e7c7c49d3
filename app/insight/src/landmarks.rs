//! Jump targets: yielded batches, stalls, arrivals out of order, trouble. They are updated as the run grows.
//! The buttons need "is there a next one?" in every frame, for runs of any length.

use std::collections::{BTreeMap, BTreeSet};

use loadscope_trace::{Column, Level, Nanos, Run, Stage, View, Wait};
use loadscope_words::say;

/// A kind of jump target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Goal {
    /// The trainer receives a batch, or an error in its place.
    Batch,
    /// The trainer starts a wait that matters.
    #[default]
    Stall,
    /// A batch arrives before an earlier one of its epoch.
    OutOfOrder,
    /// A batch failed, a sample was skipped, or events were lost.
    Trouble,
    /// Marker of the user.
    Marker,
}

impl Goal {
    /// All kinds, in the order of menus.
    pub const ALL: [Self; 5] = [
        Self::Batch,
        Self::Stall,
        Self::OutOfOrder,
        Self::Trouble,
        Self::Marker,
    ];

    /// Returns the translated plural name.
    pub fn label(self) -> &'static str {
        match self {
            Self::Batch => say!("Batches"),
            Self::Stall => say!("Waits"),
            Self::OutOfOrder => say!("Out of order"),
            Self::Trouble => say!("Errors"),
            Self::Marker => say!("Markers"),
        }
    }
}

/// A jump target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The state after this number of transitions.
    Step(usize),
    /// Instant, such as the start of a stall or the time of an error.
    At(Nanos),
}

/// Index of the jump targets of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Landmarks {
    /// Number of processed transitions.
    transitions: usize,
    /// Numbers of transitions after which the trainer has just received a batch.
    yields: Column<u32>,
    /// Numbers of transitions after which a batch has just arrived out of order.
    out_of_order: Column<u32>,
    /// The first transition that discarded a batch of a worker because an epoch was stopped early.
    stopped_early: Option<usize>,
    /// Dispatched batches of each epoch that have not arrived.
    under_way: BTreeMap<u32, BTreeSet<u32>>,
    /// Instants of failures, skips and losses, without duplicates.
    trouble: Vec<Nanos>,
    /// Numbers of processed messages and losses.
    messages: usize,
    losses: usize,
    /// Positions of the warnings and errors among the messages.
    problem_messages: Column<u32>,
    /// Positions of the errors among the messages.
    errors: Column<u32>,
    /// Number of processed closed waits, the longest of them, and the longest per full block.
    waits: usize,
    longest: Nanos,
    blocks: Column<Nanos>,
    /// The longest of all waits before each block.
    before: Column<Nanos>,
    /// Limits of the visible part while the end of the run is hidden.
    shown: Option<Shown>,
}

/// Limits of the visible part of a run with hidden end.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Shown {
    at: Nanos,
    transitions: usize,
    messages: usize,
    longest: Nanos,
}

/// Number of waits per block.
const BLOCK: usize = 256;

/// A wait shorter than the longest one by this factor is not a jump target.
const SMALL: i64 = 20;

impl Landmarks {
    /// Returns the landmarks of a run.
    pub fn of(run: &Run) -> Self {
        let mut all = Self::default();
        all.follow(run);
        all
    }

    /// Processes new data of `run`. Without new data this is free. The index of another run is built from its start.
    pub fn follow(&mut self, run: &Run) {
        if run.hidden_after().is_some() {
            return;
        }
        self.shown = None;
        if run.transitions().len() < self.transitions || run.messages().len() < self.messages {
            *self = Self::default();
        }
        self.follow_transitions(run);
        self.follow_waits(run);
        for (k, (at, message)) in run.messages().iter().enumerate().skip(self.messages) {
            if message.level >= Level::Warning {
                self.problem_messages.push(k as u32);
            }
            if message.level == Level::Error {
                self.errors.push(k as u32);
            }
            // A note or warning with a sample or batch is about a skipped sample.
            let is_of_batch = message.sample.is_some() || message.about.is_some();
            if message.level == Level::Error || is_of_batch {
                insert_sorted(&mut self.trouble, *at);
            }
        }
        self.messages = run.messages().len();
        for (at, _) in run.losses().iter().skip(self.losses) {
            insert_sorted(&mut self.trouble, *at);
        }
        self.losses = run.losses().len();
    }

    fn follow_transitions(&mut self, run: &Run) {
        for (k, t) in run.transitions().iter().enumerate().skip(self.transitions) {
            let id = run.batches()[t.batch as usize].id;
            let after = k as u32 + 1;
            if matches!(t.stage, Stage::Training | Stage::Failed) {
                self.yields.push(after);
            }
            if t.stage == Stage::Failed {
                insert_sorted(&mut self.trouble, t.at);
            }
            // The end of a stream is not an early stop.
            if t.stage == Stage::Discarded && !is_unanswered_discard(run, id.epoch, k) {
                self.stopped_early.get_or_insert(k);
            }
            let under_way = self.under_way.entry(id.epoch).or_default();
            if t.stage == Stage::Queued {
                under_way.insert(id.idx);
            } else if t.stage.has_arrived() && under_way.remove(&id.idx) {
                let missing = under_way.first().is_some_and(|first| *first < id.idx);
                if missing && !t.stage.is_final() {
                    self.out_of_order.push(after);
                }
                if under_way.is_empty() {
                    self.under_way.remove(&id.epoch);
                }
            }
        }
        self.transitions = run.transitions().len();
    }

    fn follow_waits(&mut self, run: &Run) {
        for wait in run.waits().range(self.waits.min(run.waits().len())..) {
            if wait.end == Nanos::MAX {
                return;
            }
            let length = wait.end - wait.start;
            if self.waits.is_multiple_of(BLOCK) {
                self.blocks.push(Nanos::ZERO);
                self.before.push(self.longest);
            }
            self.longest = self.longest.max(length);
            if let Some(block) = self.blocks.last_mut() {
                *block = length.max(*block);
            }
            self.waits += 1;
        }
    }

    /// Hides landmarks after the hidden part of `run` starts. Jumps forward still find them, because a jump forward
    /// reveals the hidden part.
    pub fn show(&mut self, run: &Run) {
        self.shown = run.hidden_after().map(|moment| Shown {
            at: moment.at,
            transitions: moment.step,
            messages: run.messages().len(),
            longest: self.longest_of(run),
        });
    }

    /// Returns the longest closed wait of `run`, which may have fewer visible waits than were processed.
    fn longest_of(&self, run: &Run) -> Nanos {
        let waits = run.waits();
        let block = waits.len() / BLOCK;
        let Some(before) = self.before.get(block) else {
            return self.longest;
        };
        let over = waits.range(block * BLOCK..).iter();
        let over = over.filter(|w| w.end != Nanos::MAX);
        over.map(|w| w.end - w.start).fold(*before, Nanos::max)
    }

    /// Returns the first target of this kind after `step` transitions, or after `now`, depending on the kind.
    pub fn after(&self, run: &Run, goal: Goal, step: usize, now: Nanos) -> Option<Place> {
        let next = |steps: &Column<u32>| {
            let place = steps.partition_point(|s| *s as usize <= step);
            steps.get(place).map(|s| Place::Step(*s as usize))
        };
        match goal {
            Goal::Batch => next(&self.yields),
            Goal::OutOfOrder => next(&self.out_of_order),
            Goal::Stall => self.stall_after(run, now).map(Place::At),
            Goal::Trouble => {
                let place = self.trouble.partition_point(|at| *at <= now);
                self.trouble.get(place).copied().map(Place::At)
            }
            Goal::Marker => None,
        }
    }

    /// Returns the last target of this kind before.
    pub fn before(&self, run: &Run, goal: Goal, step: usize, now: Nanos) -> Option<Place> {
        let last = |steps: &Column<u32>| {
            let place = steps.partition_point(|s| (*s as usize) < step);
            let found = steps.get(place.checked_sub(1)?)?;
            Some(Place::Step(*found as usize))
        };
        match goal {
            Goal::Batch => last(&self.yields),
            Goal::OutOfOrder => last(&self.out_of_order),
            Goal::Stall => self.stall_before(run, now).map(Place::At),
            Goal::Trouble => {
                let place = self.trouble.partition_point(|at| *at < now);
                let found = self.trouble.get(place.checked_sub(1)?)?;
                Some(Place::At(*found))
            }
            Goal::Marker => None,
        }
    }

    /// Returns true if an epoch was stopped while workers had batches for it.
    pub fn stopped_early(&self) -> bool {
        let seen = self.shown.map_or(usize::MAX, |shown| shown.transitions);
        self.stopped_early.is_some_and(|first| first < seen)
    }

    /// Returns the positions of the warnings and errors in [`Run::messages`].
    pub fn problem_messages(&self) -> View<'_, u32> {
        self.up_to_shown(&self.problem_messages)
    }

    fn up_to_shown<'a>(&self, messages: &'a Column<u32>) -> View<'a, u32> {
        let shown = self.shown.map_or(usize::MAX, |shown| shown.messages);
        messages.range(..messages.partition_point(|k| (*k as usize) < shown))
    }

    /// Returns the numbers of errors and warnings among the messages.
    pub fn counts(&self) -> (usize, usize) {
        let errors = self.up_to_shown(&self.errors).len();
        (errors, self.problem_messages().len() - errors)
    }

    /// Returns the instants of failures, skips and losses.
    pub fn trouble(&self) -> &[Nanos] {
        let Some(shown) = self.shown else {
            return &self.trouble;
        };
        &self.trouble[..self.trouble.partition_point(|at| *at <= shown.at)]
    }

    /// Returns the numbers of transitions after which a batch has just arrived out of order.
    pub fn out_of_order(&self) -> View<'_, u32> {
        let all = &self.out_of_order;
        let shown = self.shown.map_or(usize::MAX, |shown| shown.transitions);
        all.range(..all.partition_point(|after| *after as usize <= shown))
    }

    /// Returns true if `wait` is a stall, compared with the longest wait.
    pub fn is_stall(&self, run: &Run, wait: &Wait) -> bool {
        let longest = self.shown.map_or(self.longest, |shown| shown.longest);
        let open = run.waits().last().filter(|w| w.end == Nanos::MAX);
        let open = open.map_or(Nanos::ZERO, |w| run.end() - w.start);
        matters(wait.end.min(run.end()) - wait.start, longest.max(open))
    }

    /// Returns the longest wait, including hidden ones.
    fn longest_at_all(&self, run: &Run) -> Nanos {
        let open = run.whole().waits().last().filter(|w| w.end == Nanos::MAX);
        let open = open.map_or(Nanos::ZERO, |w| run.whole().end() - w.start);
        self.longest.max(open)
    }

    /// Returns false if no wait of this full block matters.
    fn block_matters(&self, longest_at_all: Nanos, block: usize) -> bool {
        let full = (block + 1) * BLOCK <= self.waits;
        let longest = self.blocks.get(block).filter(|_| full);
        longest.is_none_or(|length| matters(*length, longest_at_all))
    }

    fn stall_after(&self, run: &Run, now: Nanos) -> Option<Nanos> {
        let (waits, end) = (run.whole().waits(), run.whole().end());
        let longest = self.longest_at_all(run);
        let mut k = waits.partition_point(|w| w.start <= now);
        while let Some(wait) = waits.get(k) {
            if k.is_multiple_of(BLOCK) && !self.block_matters(longest, k / BLOCK) {
                k += BLOCK;
            } else if matters(wait.end.min(end) - wait.start, longest) {
                return Some(wait.start);
            } else {
                k += 1;
            }
        }
        None
    }

    fn stall_before(&self, run: &Run, now: Nanos) -> Option<Nanos> {
        let waits = run.waits();
        let longest = match self.shown {
            Some(shown) => shown.longest,
            None => self.longest_at_all(run),
        };
        let mut k = waits.partition_point(|w| w.start < now);
        while k > 0 {
            if k.is_multiple_of(BLOCK) && !self.block_matters(longest, k / BLOCK - 1) {
                k -= BLOCK;
            } else if self.is_stall(run, &waits[k - 1]) {
                return Some(waits[k - 1].start);
            } else {
                k -= 1;
            }
        }
        None
    }
}

/// Returns true if a wait of this length is a stall, compared with the longest one.
fn matters(length: Nanos, longest: Nanos) -> bool {
    length > Nanos::ZERO && length.0.saturating_mul(SMALL) >= longest.0
}

fn is_unanswered_discard(run: &Run, epoch: u32, transition: usize) -> bool {
    let epoch = run.epochs().iter().rev().find(|e| e.epoch == epoch);
    epoch.is_some_and(|e| e.is_unanswered_discard(transition))
}

/// Inserts an instant into a sorted list without duplicates, usually at its end.
fn insert_sorted(list: &mut Vec<Nanos>, at: Nanos) {
    let place = list.partition_point(|t| *t < at);
    if list.get(place) != Some(&at) {
        list.insert(place, at);
    }
}

#[cfg(test)]
mod tests;
