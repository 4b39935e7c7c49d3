//! Questions about a run.

use std::ops::Add;

use super::{Epoch, Run, Wait, Worker};
use crate::pipeline::Pipeline;
use crate::rows::Rows;
use crate::span::Span;
use crate::spans::Spans;
use crate::transition::Transition;
use crate::{
    Batch, BatchContent, BatchId, CountLevel, Field, Lane, Message, Nanos, PathStep, Sample,
    SampleStages, SampleTiming, Stage, Ticks, Track,
};
use loadscope_column::{Column, View};

impl Run {
    /// All batches in the order of their dispatch.
    pub fn batches(&self) -> &Column<Batch> {
        &self.batches
    }

    /// The batch called `id`.
    pub fn batch(&self, id: BatchId) -> Option<&Batch> {
        self.row(id).map(|row| &self.batches[row])
    }

    /// The epochs seen so far.
    pub fn epochs(&self) -> &Column<Epoch> {
        &self.epochs
    }

    /// All workers that introduced themselves, in order of start.
    pub fn workers(&self) -> &Column<Worker> {
        &self.workers
    }

    /// The stretches in which the trainer waited, in order of time.
    pub fn waits(&self) -> &Column<Wait> {
        &self.waits
    }

    /// Every change of stage, in order of time: what *step* goes through.
    pub fn transitions(&self) -> &Column<Transition> {
        &self.transitions
    }

    /// Errors, warnings and notes, with their times.
    pub fn messages(&self) -> &Column<(Nanos, Message)> {
        &self.messages
    }

    /// Batches dispatched and not yet received: PyTorch's `_tasks_outstanding`, over time.
    pub fn tasks_outstanding(&self) -> CountLevel<'_> {
        CountLevel {
            up: &self.dispatched,
            down: &self.arrived,
        }
    }

    /// When batches were handed to the trainer.
    pub fn yields(&self) -> &Ticks {
        &self.yields
    }

    /// Start of the first epoch.
    pub fn start(&self) -> Option<Nanos> {
        self.epochs.first().map(|epoch| epoch.start)
    }

    /// Time of the last event.
    pub fn end(&self) -> Nanos {
        self.last
    }

    /// True after the run's last event.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// True while further events may follow: the run has not ended, and it was not read from a file.
    /// True as well while the end of the run is hidden.
    pub fn is_live(&self) -> bool {
        !self.ended && (!self.closed || self.hidden.is_some())
    }

    /// Number of events taken in. Grows with every change, so it also tells whether anything changed.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Number of events that the observer lost.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// When the observer told that it had lost events, and how many, in order of time.
    pub fn losses(&self) -> &Column<(Nanos, u64)> {
        &self.losses
    }

    /// Number of events that came later than they should have, and of events that contradict what is known.
    pub fn anomalies(&self) -> (u64, u64) {
        (self.late, self.inconsistent)
    }

    /// The lanes that were ever used, each with its number of rows.
    pub fn lanes(&self) -> impl Iterator<Item = (Lane, usize)> + '_ {
        self.lanes.iter().map(|(lane, rows)| (*lane, rows.len()))
    }

    /// The spans of each row of a lane.
    pub fn rows_of(&self, lane: Lane) -> impl Iterator<Item = &Spans> + '_ {
        self.lanes.get(&lane).into_iter().flat_map(Rows::iter)
    }

    /// The spans of a track.
    pub fn track(&self, track: Track) -> Option<&Spans> {
        self.lanes.get(&track.lane)?.get(track.row)
    }

    /// The spans of a track that touch `start..end`.
    pub fn spans(&self, track: Track, start: Nanos, end: Nanos) -> View<'_, Span> {
        self.track(track)
            .map(|t| t.range(start, end))
            .unwrap_or_default()
    }

    /// The pipeline after everything that happened up to and including `at`.
    pub fn pipeline_at(&self, at: Nanos) -> Pipeline<'_> {
        let step = self.transitions.partition_point(|t| t.at <= at);
        Pipeline::after(self, step, at)
    }

    /// The pipeline after the first `step` transitions.
    pub fn pipeline_after(&self, step: usize) -> Pipeline<'_> {
        let step = step.min(self.transitions.len());
        let at = match step {
            0 => Nanos::ZERO,
            _ => self.transitions[step - 1].at,
        };
        Pipeline::after(self, step, at)
    }

    /// The changes of stage of a batch, the latest first, with their positions in [`Run::transitions`].
    pub fn steps_back(&self, row: usize) -> impl Iterator<Item = (usize, Transition)> + '_ {
        let mut at = self.batches.get(row).map_or(u32::MAX, |b| b.last);
        std::iter::from_fn(move || {
            let transition = *self.transitions.get(at as usize)?;
            let step = at as usize;
            at = self.previous(at);
            Some((step, transition))
        })
    }

    /// The stages a batch went through.
    pub fn path(&self, row: usize) -> Vec<PathStep> {
        let mut path = Vec::with_capacity(8);
        let mut end = None;
        for (_, t) in self.steps_back(row) {
            path.push(PathStep {
                stage: t.stage,
                start: t.at,
                end,
            });
            end = Some(t.at);
        }
        path.reverse();
        path
    }

    /// Positions in [`Run::transitions`] of the changes of stage of a batch, in order of time.
    pub fn steps_of(&self, row: usize) -> Vec<usize> {
        let mut steps = Vec::with_capacity(8);
        steps.extend(self.steps_back(row).map(|(step, _)| step));
        steps.reverse();
        steps
    }

    /// When a batch entered `stage` for the last time.
    pub fn entered(&self, row: usize, stage: Stage) -> Option<Nanos> {
        let mut back = self.steps_back(row);
        back.find(|(_, t)| t.stage == stage).map(|(_, t)| t.at)
    }

    /// Dataset indices of a batch.
    pub fn indices(&self, row: usize) -> View<'_, u64> {
        let part = self.batches.get(row).map(|batch| batch.indices);
        self.indices.range(part.unwrap_or_default().range())
    }

    /// The dataset indices of the samples that are in the batch: without those that are known to have failed and to have been left
    /// out. The k-th picture of its content is that of the k-th of them.
    pub fn indices_inside(&self, row: usize) -> Vec<u64> {
        let left_out = self.content(row).into_iter();
        let mut left_out = left_out.flat_map(BatchContent::left_out).peekable();
        let mut inside = Vec::with_capacity(self.indices(row).len());
        for (place, index) in self.indices(row).iter().enumerate() {
            if left_out.next_if_eq(&place).is_none() {
                inside.push(*index);
            }
        }
        inside
    }

    /// The timings of the samples of a batch; empty if they were not measured (yet).
    pub fn samples(&self, row: usize) -> impl ExactSizeIterator<Item = Sample> + '_ {
        let part = self.batches.get(row).map(|b| b.timings);
        let part = part.filter(|part| part.range().end <= self.timings.len());
        let part = part.unwrap_or_default();
        let indices = self.indices(row);
        let timings = self.timings.range(part.range());
        timings.enumerate().map(move |(position, t)| Sample {
            position,
            index: indices.get(position).copied(),
            start: t.start,
            wall: t.wall,
            cpu: t.cpu,
        })
    }

    /// The timings of all samples, in the order in which their batches were fetched.
    pub fn sample_timings(&self) -> impl ExactSizeIterator<Item = SampleTiming> + '_ {
        self.timings.range(0..self.timings.len())
    }

    /// Number of samples of a batch whose times were measured, and those of them that began by `at`. While the end of the run is hidden,
    /// samples of a batch that is being fetched are among them: they were reported later, but began before.
    pub fn samples_begun(
        &self,
        row: usize,
        at: Nanos,
    ) -> (usize, impl Iterator<Item = Sample> + '_) {
        let whole = self.whole();
        let batch = whole.batches.get(row).filter(|_| row < self.batches.len());
        let part = batch.map_or(0..0, |batch| batch.timings.range());
        let indices = self.indices(row);
        let timings = whole.timings.range(part.clone()).enumerate();
        let begun = timings.filter(move |(_, t)| t.start <= at);
        let samples = begun.map(move |(position, t)| Sample {
            position,
            index: indices.get(position).copied(),
            start: t.start,
            wall: t.wall,
            cpu: t.cpu,
        });
        (part.len(), samples)
    }

    /// The named stages of the samples of a batch; `None` if they were not measured (yet).
    pub fn sample_stages(&self, row: usize) -> Option<SampleStages<'_>> {
        let batch = self.batches.get(row)?;
        let samples = batch.timings.len() as usize;
        let first = batch.stages.first();
        let names = self.stage_names.get(usize::from(batch.stage_names?))?;
        Some(SampleStages {
            names,
            walls: self
                .stage_walls
                .range(first..first + samples * batch.stages.len() as usize),
            samples,
        })
    }

    /// The lists of names of stages inside of samples that occur.
    pub fn stage_names(&self) -> &Column<Vec<String>> {
        &self.stage_names
    }

    /// What is inside a batch, if it was kept.
    pub fn content(&self, row: usize) -> Option<&BatchContent> {
        let kept = self.contents.get(self.content_at(row)?)?;
        (kept.at <= self.last).then_some(&*kept.content)
    }

    /// True if the tensors of a field of a batch are in page-locked memory. A worker records the content before the pin thread has it.
    pub fn is_pinned(&self, row: usize, field: &Field) -> bool {
        field.pinned || self.batches.get(row).is_some_and(|b| b.pinned)
    }

    /// Position in the list of contents of the content of a batch.
    pub(super) fn content_at(&self, row: usize) -> Option<usize> {
        let at = self.batches.get(row)?.content as usize;
        let kept = self.contents.get(at)?;
        (kept.row as usize == row).then_some(at)
    }

    /// Position of the awaited batch of a wait: the batch that came, or the next one.
    pub fn awaited_in(&self, wait: &Wait) -> Option<usize> {
        if let Some(row) = wait.batch {
            return Some(row as usize);
        }
        let end = wait.end.min(self.last);
        // The end of a wait without a batch may also end the batches, so the pipeline just before counts.
        let before = Nanos(end.0.saturating_sub(1)).max(wait.start);
        self.pipeline_at(before).awaited().map(|b| b.row)
    }

    /// True if the source records when batches are in `stage`. A source without a list of stages counts as one that records all.
    pub fn measures(&self, stage: Stage) -> bool {
        self.info.measured.is_empty() || self.info.measured.contains(&stage)
    }

    /// How long the trainer waited, up to the last event.
    pub fn waited(&self) -> Nanos {
        let end = self.last;
        let waits = self.waits.iter();
        waits
            .map(|w| w.end.min(end) - w.start)
            .fold(Nanos::ZERO, Add::add)
    }
}
