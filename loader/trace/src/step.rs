//! Training steps: the part of the time between two calls of `next` that counts as training.

use loadscope_words::say;
use serde::{Deserialize, Serialize};

use crate::{BatchId, Nanos};

/// Other work of the program between a yielded batch and the next call of `next`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aside {
    /// Batch of the training step.
    pub batch: BatchId,
    /// Kind of work.
    pub kind: AsideKind,
    /// Start. The event itself is at the end.
    pub start: Nanos,
}

/// Kind of work that interrupts a training step. Work that most steps contain counts as part of the step.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    strum::EnumIter,
)]
#[serde(rename_all = "snake_case")]
pub enum AsideKind {
    /// The program saves a file: `torch.save`.
    Checkpoint,
    /// The model is in evaluation mode: `model.eval()`.
    Evaluation,
    /// The program iterates another loader.
    Loader,
}

impl AsideKind {
    pub(crate) const COUNT: usize = 3;

    /// Returns a short name in the user's language.
    pub fn label(self) -> &'static str {
        match self {
            Self::Checkpoint => say!("checkpoints"),
            Self::Evaluation => say!("evaluation"),
            Self::Loader => say!("other loaders"),
        }
    }
}

/// Time of steps that does not count as training.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Uncounted {
    /// Time in the stage *training* that does not count. Negative if time outside of that stage counts.
    pub in_steps: Nanos,
    /// Time of asides, by kind.
    pub asides: [Nanos; AsideKind::COUNT],
    /// Number of steps that contain an aside, by kind.
    pub steps: [u32; AsideKind::COUNT],
}

impl Uncounted {
    pub fn add(&mut self, more: &Self) {
        self.in_steps += more.in_steps;
        for (sum, more) in self.asides.iter_mut().zip(more.asides) {
            *sum += more;
        }
        for (count, more) in self.steps.iter_mut().zip(more.steps) {
            *count = count.saturating_add(more);
        }
    }
}

/// Number and total length of the earlier steps.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PreviousSteps {
    pub count: u64,
    pub time: Nanos,
}

impl PreviousSteps {
    fn mean(self) -> Option<Nanos> {
        let count = i64::try_from(self.count).ok().filter(|n| *n > 0)?;
        Some(Nanos(self.time.0 / count))
    }
}

/// Step of a yielded batch, until the next call of `next`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenStep {
    batch: BatchId,
    yielded: Nanos,
    /// Mean length of the earlier steps.
    usual: Option<Nanos>,
    /// End of the last aside.
    covered: Nanos,
    /// Time of asides in the stage *training*.
    inside: Nanos,
    /// End of the stage *training*.
    done: Option<Nanos>,
    kinds: [bool; AsideKind::COUNT],
}

impl OpenStep {
    /// Creates a step that begins at `at`.
    pub fn new(batch: BatchId, at: Nanos, before: PreviousSteps) -> Self {
        Self {
            batch,
            yielded: at,
            usual: before.mean(),
            covered: at,
            inside: Nanos::ZERO,
            done: None,
            kinds: [false; AsideKind::COUNT],
        }
    }

    pub fn batch(&self) -> BatchId {
        self.batch
    }

    /// Records the end of the stage *training*, if `batch` is the batch of the step.
    pub fn done(&mut self, batch: BatchId, at: Nanos) {
        if self.batch == batch {
            self.done.get_or_insert(at);
        }
    }

    /// Returns the time that does not count because of an aside that ends at `at`.
    pub fn aside(&mut self, at: Nanos, aside: &Aside) -> Uncounted {
        let start = aside.start.max(self.covered);
        if self.batch != aside.batch || at <= start {
            return Uncounted::default();
        }
        let inside = (at.min(self.done.unwrap_or(at)) - start).max(Nanos::ZERO);
        self.inside += inside;
        self.covered = at;
        let mut found = self.count_aside(aside.kind, at - start);
        found.in_steps = inside;
        found
    }

    /// Ends the step at a call of `next`. `training_ends_at_next` is true if the stage *training* ends early only for another loader.
    pub fn end_at_next(mut self, at: Nanos, training_ends_at_next: bool) -> Uncounted {
        let Some(done) = self.done.filter(|done| training_ends_at_next && *done < at) else {
            return Uncounted::default();
        };
        if self.covered > done {
            // The program continued this step after the aside.
            return Uncounted {
                in_steps: self.covered - at,
                ..Uncounted::default()
            };
        }
        self.count_aside(AsideKind::Loader, at - done)
    }

    /// Ends the last step of the loop. The last step has no end of its own, so at most the mean length of a step counts.
    pub fn end_at_loop_end(self, at: Nanos, training_ends_at_next: bool) -> Uncounted {
        let (end, usual) = match (self.done, self.usual) {
            (Some(_), _) if !training_ends_at_next => return Uncounted::default(),
            (_, None) => return Uncounted::default(),
            (done, Some(usual)) => (done.unwrap_or(at), usual),
        };
        let took = end - self.yielded - self.inside;
        Uncounted {
            in_steps: (took - usual).max(Nanos::ZERO),
            ..Uncounted::default()
        }
    }

    fn count_aside(&mut self, kind: AsideKind, took: Nanos) -> Uncounted {
        let mut found = Uncounted::default();
        found.asides[kind as usize] = took;
        let is_known = std::mem::replace(&mut self.kinds[kind as usize], true);
        found.steps[kind as usize] = u32::from(!is_known);
        found
    }
}
