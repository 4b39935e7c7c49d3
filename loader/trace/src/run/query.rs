//! Queries on a run.

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
    /// Returns all batches, in order of dispatch.
    pub fn batches(&self) -> &Column<Batch> {
        &self.batches
    }

    /// Returns the batch with this id.
    pub fn batch(&self, id: BatchId) -> Option<&Batch> {
        self.row(id).map(|row| &self.batches[row])
    }

    /// Returns the epochs so far.
    pub fn epochs(&self) -> &Column<Epoch> {
        &self.epochs
    }

    /// Returns all recorded workers, in order of start.
    pub fn workers(&self) -> &Column<Worker> {
        &self.workers
    }

    /// Returns the waits of the trainer, in order of time.
    pub fn waits(&self) -> &Column<Wait> {
        &self.waits
    }

    /// Returns all transitions, in order of time. A *step* in the window is one transition.
    pub fn transitions(&self) -> &Column<Transition> {
        &self.transitions
    }

    /// Returns errors, warnings and notes with their times.
    pub fn messages(&self) -> &Column<(Nanos, Message)> {
        &self.messages
    }

    /// Returns the number of dispatched batches that were not yet received, PyTorch's `_tasks_outstanding`, over time.
    pub fn tasks_outstanding(&self) -> CountLevel<'_> {
        CountLevel {
            up: &self.dispatched,
            down: &self.arrived,
        }
    }

    /// Returns the times at which the trainer received a batch.
    pub fn yields(&self) -> &Ticks {
        &self.yields
    }

    /// Returns the start of the first epoch.
    pub fn start(&self) -> Option<Nanos> {
        self.epochs.first().map(|epoch| epoch.start)
    }

    /// Returns the time of the last event.
    pub fn end(&self) -> Nanos {
        self.last
    }

    /// Returns true after the last event of the run.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// Returns true while further events may follow: the run has not ended and was not read from a file. Also true while the end of the run
    /// is hidden.
    pub fn is_live(&self) -> bool {
        !self.ended && (!self.closed || self.hidden.is_some())
    }

    /// Returns the number of applied events. The number changes with every change of the run.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Returns the number of events that the recorder dropped.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Returns the times at which the recorder reported dropped events and their numbers, in order of time.
    pub fn losses(&self) -> &Column<(Nanos, u64)> {
        &self.losses
    }

    /// Returns the numbers of late and of contradictory events.
    pub fn anomalies(&self) -> (u64, u64) {
        (self.late, self.inconsistent)
    }

    /// Returns the used lanes, each with its number of rows.
    pub fn lanes(&self) -> impl Iterator<Item = (Lane, usize)> + '_ {
        self.lanes.iter().map(|(lane, rows)| (*lane, rows.len()))
    }

    /// Returns the spans of each row of a lane.
    pub fn rows_of(&self, lane: Lane) -> impl Iterator<Item = &Spans> + '_ {
        self.lanes.get(&lane).into_iter().flat_map(Rows::iter)
    }

    /// Returns the spans of a track.
    pub fn track(&self, track: Track) -> Option<&Spans> {
        self.lanes.get(&track.lane)?.get(track.row)
    }

    /// Returns the spans of a track that overlap `start..end`.
    pub fn spans(&self, track: Track, start: Nanos, end: Nanos) -> View<'_, Span> {
        self.track(track)
            .map(|t| t.range(start, end))
            .unwrap_or_default()
    }

    /// Returns the pipeline after all events up to and including `at`.
    pub fn pipeline_at(&self, at: Nanos) -> Pipeline<'_> {
        let step = self.transitions.partition_point(|t| t.at <= at);
        Pipeline::after(self, step, at)
    }

    /// Returns the pipeline after the first `step` transitions.
    pub fn pipeline_after(&self, step: usize) -> Pipeline<'_> {
        let step = step.min(self.transitions.len());
        let at = match step {
            0 => Nanos::ZERO,
            _ => self.transitions[step - 1].at,
        };
        Pipeline::after(self, step, at)
    }

    /// Returns the transitions of a batch with their positions in [`Run::transitions`], the latest first.
    pub fn steps_back(&self, row: usize) -> impl Iterator<Item = (usize, Transition)> + '_ {
        let mut at = self.batches.get(row).map_or(u32::MAX, |b| b.last);
        std::iter::from_fn(move || {
            let transition = *self.transitions.get(at as usize)?;
            let step = at as usize;
            at = self.previous(at);
            Some((step, transition))
        })
    }

    /// Returns the stages of a batch, in order of time.
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

    /// Returns the positions of a batch's transitions in [`Run::transitions`], in order of time.
    pub fn steps_of(&self, row: usize) -> Vec<usize> {
        let mut steps = Vec::with_capacity(8);
        steps.extend(self.steps_back(row).map(|(step, _)| step));
        steps.reverse();
        steps
    }

    /// Returns the time at which a batch last entered `stage`.
    pub fn entered(&self, row: usize, stage: Stage) -> Option<Nanos> {
        let mut back = self.steps_back(row);
        back.find(|(_, t)| t.stage == stage).map(|(_, t)| t.at)
    }

    /// Returns the dataset indices of a batch.
    pub fn indices(&self, row: usize) -> View<'_, u64> {
        let part = self.batches.get(row).map(|batch| batch.indices);
        self.indices.range(part.unwrap_or_default().range())
    }

    /// Returns the dataset indices of the samples in the batch, without failed samples that were left out. The k-th image of its content
    /// belongs to the k-th index.
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

    /// Returns the sample times of a batch. Empty if not measured or not known yet.
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

    /// Returns the times of all samples. Their batches are in order of the fetches.
    pub fn sample_timings(&self) -> impl ExactSizeIterator<Item = SampleTiming> + '_ {
        self.timings.range(0..self.timings.len())
    }

    /// Returns the number of samples with known times, and the samples that began by `at`. While the end of the run is hidden, this
    /// includes samples of an unfinished fetch, whose times were reported later.
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

    /// Returns the named stages of the samples of a batch. Returns `None` if not measured or not known yet.
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

    /// Returns the lists of stage names that occur.
    pub fn stage_names(&self) -> &Column<Vec<String>> {
        &self.stage_names
    }

    /// Returns the content of a batch, if recorded.
    pub fn content(&self, row: usize) -> Option<&BatchContent> {
        let kept = self.contents.get(self.content_at(row)?)?;
        (kept.at <= self.last).then_some(&*kept.content)
    }

    /// Returns true if a field of a batch is in page-locked memory. The worker records the content before the pin thread copies it.
    pub fn is_pinned(&self, row: usize, field: &Field) -> bool {
        field.pinned || self.batches.get(row).is_some_and(|b| b.pinned)
    }

    /// Returns the position of a batch's content in the list of contents.
    pub(super) fn content_at(&self, row: usize) -> Option<usize> {
        let at = self.batches.get(row)?.content as usize;
        let kept = self.contents.get(at)?;
        (kept.row as usize == row).then_some(at)
    }

    /// Returns the position of the awaited batch of a wait: the batch that arrived, or the next one.
    pub fn awaited_in(&self, wait: &Wait) -> Option<usize> {
        if let Some(row) = wait.batch {
            return Some(row as usize);
        }
        let end = wait.end.min(self.last);
        // The end of a wait without a batch can also end the batches, so the preceding instant is used.
        let before = Nanos(end.0.saturating_sub(1)).max(wait.start);
        self.pipeline_at(before).awaited().map(|b| b.row)
    }

    /// Returns true if the source measures `stage`. A source without a list of stages measures all.
    pub fn measures(&self, stage: Stage) -> bool {
        self.info.measured.is_empty() || self.info.measured.contains(&stage)
    }
}
