//! What a run costs in memory.

use super::{Run, Wait};
use crate::batch::Batch;
use crate::room::make_room;
use crate::rows::Rows;
use crate::series::Ticks;
use crate::transition::Transition;
use crate::{Nanos, Spans};

/// What a run costs in memory, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// How many stretches of time all tracks have.
    pub spans: usize,
    /// These, with their running sums.
    pub span_bytes: usize,
    /// The changes of stage, with the keyframes that make any instant of them quick to find.
    pub transition_bytes: usize,
    /// What is known of each batch, and of each wait for one.
    pub batch_bytes: usize,
    /// Indices and times of samples.
    pub sample_bytes: usize,
}

impl Run {
    /// Marks the run as read to its end, also if its last event is missing.
    pub fn close(&mut self) {
        self.closed = !self.ended;
    }

    /// Gives back memory that was kept for events to come: after the last one of a recording.
    pub fn shrink_to_fit(&mut self) {
        self.batches.shrink_to_fit();
        self.transitions.shrink_to_fit();
        self.keyframes.shrink_to_fit();
        self.waits.shrink_to_fit();
        self.indices.shrink_to_fit();
        self.timings.shrink_to_fit();
        self.processor.shrink_to_fit();
        self.stage_walls.shrink_to_fit();
        self.fetches.shrink_to_fit();
        for ticks in [&mut self.yields, &mut self.dispatched, &mut self.arrived] {
            ticks.shrink_to_fit();
        }
        self.lanes.values_mut().for_each(Rows::shrink_to_fit);
        self.epochs.iter_mut().for_each(|e| e.rows.shrink_to_fit());
    }

    /// Makes room for a recording of which `share` (0 to 1) has been taken in, as if the rest were like it. To be called every few
    /// thousand events: lists that double again and again would copy everything, into pages that the system has to clear first,
    /// and end up twice as large as they have to be.
    pub fn make_room(&mut self, share: f64) {
        make_room(self.batches.list(), share);
        make_room(self.transitions.list(), share);
        make_room(&mut self.keyframes, share);
        make_room(self.waits.list(), share);
        make_room(&mut self.indices, share);
        make_room(&mut self.stage_walls, share);
        make_room(&mut self.fetches, share);
        self.timings.make_room(share);
        for ticks in [&mut self.yields, &mut self.dispatched, &mut self.arrived] {
            ticks.make_room(share);
        }
        self.lanes
            .values_mut()
            .for_each(|rows| rows.make_room(share));
        // Of the epochs only the one that is under way grows.
        if let [epoch] = &mut self.epochs[..] {
            make_room(epoch.rows.list(), share);
        }
    }

    /// What the run costs in memory. Pictures and other contents of batches are not in it.
    pub fn memory(&self) -> Memory {
        let tracks = || self.lanes.values().flat_map(Rows::iter);
        let ticks = [&self.yields, &self.dispatched, &self.arrived];
        let rows = self.epochs.iter().map(|e| e.rows.capacity());
        let keyframes = self.keyframes.iter().map(|k| k.bytes());
        Memory {
            spans: tracks().map(|t| t.all().len()).sum(),
            span_bytes: tracks().map(Spans::bytes).sum(),
            transition_bytes: self.transitions.capacity() * size_of::<Transition>()
                + keyframes.sum::<usize>(),
            batch_bytes: self.batches.capacity() * size_of::<Batch>()
                + self.waits.capacity() * size_of::<Wait>()
                + rows.sum::<usize>() * size_of::<u32>()
                + ticks.into_iter().map(Ticks::bytes).sum::<usize>(),
            sample_bytes: self.indices.capacity() * size_of::<u64>()
                + self.timings.bytes()
                + self.fetches.capacity() * size_of::<(Nanos, u32)>()
                + self.steps.bytes()
                + self.stage_walls.capacity() * size_of::<Nanos>()
                + self.processor.bytes(),
        }
    }
}
