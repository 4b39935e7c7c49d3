//! Named moments of a run: `first arrival out of order`, `longest wait`, `epoch 1 begins`.

use std::num::NonZeroUsize;

use loadscope_insight::landmarks::{Goal, Landmarks, Place};
use loadscope_trace::{BatchId, Nanos, Pipeline, Run, Stage, Wait};

use crate::error::Mistake;
use crate::phrase::{phrases, read};

phrases! {
    /// A moment of a run.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    Moment, MOMENTS:
    #[default] "start", "before the first event" => Start;
    "end", "after the last event" => End;
    "middle", "half of the time has passed" => Middle;
    "primed", "the prefetch window is full for the first time" => Primed;
    "epoch N begins", "epochs count from 0" => EpochBegins(u32);
    "epoch N ends", "the instant before it ends" => EpochEnds(u32);
    "first arrival out of order", "a batch arrives before an earlier one" => FirstOutOfOrder;
    "longest wait begins", "the trainer begins its longest wait" => LongestWaitBegins;
    "longest wait", "the middle of the longest wait" => LongestWait;
    "longest wait ends", "the instant before it ends" => LongestWaitEnds;
    "batch N enters STAGE", "queued, fetching, collating, returning, pinning, held, ready, training, done, failed or discarded" => Enters(u32, Stage);
    "batch N of epoch N enters STAGE", "the same in epoch N" => EntersInEpoch(u32, u32, Stage);
    "during STAGE of batch N", "the middle of that stage" => During(Stage, u32);
    "yield N", "the trainer received its N-th batch" => Yields(NonZeroUsize);
    "first error", "the first error message" => FirstError;
    "most batches held", "the reorder buffer is fullest" => MostHeld;
    "first stream ends", "the main process receives the end of a worker's stream" => StreamEnds;
}

impl Moment {
    /// Parses a moment.
    ///
    /// # Errors
    /// If the phrase matches no moment.
    pub fn read(phrase: &str) -> Result<Self, Mistake> {
        read("moment", MOMENTS, phrase)
    }

    /// Returns the batch of the moment, which the window selects.
    pub fn batch(self) -> Option<BatchId> {
        match self {
            Self::Enters(idx, _) | Self::During(_, idx) => Some(BatchId { epoch: 0, idx }),
            Self::EntersInEpoch(idx, epoch, _) => Some(BatchId { epoch, idx }),
            _ => None,
        }
    }

    /// Returns the place in the run. Returns `None` if the run has no such moment.
    pub fn resolve(self, run: &Run, marks: &Landmarks) -> Option<Place> {
        let step_of = |found: Option<usize>| found.map(|at| Place::Step(at + 1));
        match self {
            Self::Start => Some(Place::Step(0)),
            Self::End => Some(Place::Step(run.transitions().len())),
            Self::Middle => Some(Place::At(between(start(run), run.end()))),
            Self::Primed => step_of(primed(run)),
            Self::EpochBegins(epoch) => epochs(run, epoch).map(|e| Place::At(e.start)),
            Self::EpochEnds(epoch) => epochs(run, epoch)?.end.map(|end| Place::At(before(end))),
            Self::FirstOutOfOrder => marks.after(run, Goal::OutOfOrder, 0, Nanos(-1)),
            Self::LongestWaitBegins => Some(Place::At(longest_wait(run)?.start)),
            Self::LongestWait => {
                let wait = longest_wait(run)?;
                Some(Place::At(between(wait.start, wait.end.min(run.end()))))
            }
            Self::LongestWaitEnds => {
                let wait = longest_wait(run)?;
                Some(Place::At(before(wait.end.min(run.end())).max(wait.start)))
            }
            Self::Enters(_, stage) | Self::EntersInEpoch(_, _, stage) => {
                step_of(entered(run, self.batch()?, stage))
            }
            Self::During(stage, _) => {
                let path = run.path(run.row(self.batch()?)?);
                let step = path.into_iter().find(|step| step.stage == stage)?;
                Some(Place::At(between(step.start, step.end?)))
            }
            Self::Yields(count) => {
                let steps = run.transitions().iter().enumerate();
                let mut yields = steps.filter(|(_, t)| t.stage == Stage::Training);
                step_of(yields.nth(count.get() - 1).map(|(at, _)| at))
            }
            Self::FirstError => marks.trouble().first().map(|at| Place::At(*at)),
            Self::MostHeld => step_of(most_held(run)),
            Self::StreamEnds => {
                let mut steps = run.transitions().iter();
                step_of(steps.position(|t| t.stage == Stage::Discarded))
            }
        }
    }
}

/// Returns the pipeline at a place.
pub fn pipeline(run: &Run, place: Place) -> Pipeline<'_> {
    match place {
        Place::Step(step) => run.pipeline_after(step),
        Place::At(at) => run.pipeline_at(at),
    }
}

/// Returns the longest wait. Among equal ones, the first.
pub fn longest_wait(run: &Run) -> Option<Wait> {
    let took = |wait: &&Wait| {
        (
            wait.end.min(run.end()) - wait.start,
            std::cmp::Reverse(wait.start),
        )
    };
    run.waits().iter().max_by_key(took).copied()
}

fn start(run: &Run) -> Nanos {
    run.epochs().first().map_or(Nanos::ZERO, |e| e.start)
}

fn between(start: Nanos, end: Nanos) -> Nanos {
    Nanos(start.0.midpoint(end.0))
}

fn before(at: Nanos) -> Nanos {
    Nanos(at.0.saturating_sub(1))
}

fn epochs(run: &Run, number: u32) -> Option<&loadscope_trace::Epoch> {
    run.epochs().iter().find(|e| e.epoch == number)
}

/// Returns the transition that filled the window, or sent the last task if there are fewer tasks.
fn primed(run: &Run) -> Option<usize> {
    let window = loadscope_insight::variables::prefetch_window(run).max(1);
    let sent = run.transitions().iter().enumerate();
    let sent = sent.filter(|(_, t)| t.stage == Stage::Queued);
    sent.take(window).last().map(|(at, _)| at)
}

fn entered(run: &Run, id: BatchId, stage: Stage) -> Option<usize> {
    let mut steps = run.steps_of(run.row(id)?).into_iter();
    let is_it = |at: &usize| run.transitions().get(*at).is_some_and(|t| t.stage == stage);
    steps.rfind(is_it)
}

/// Returns the transition after which most batches are held. Among equal ones, the first.
fn most_held(run: &Run) -> Option<usize> {
    let (mut held, mut most, mut found) = (0usize, 0, None);
    let mut inside = std::collections::HashSet::new();
    for (at, t) in run.transitions().iter().enumerate() {
        match t.stage {
            Stage::Held => held += usize::from(inside.insert(t.batch)),
            _ => held -= usize::from(inside.remove(&t.batch)),
        }
        if held > most {
            (most, found) = (held, Some(at));
        }
    }
    found
}
