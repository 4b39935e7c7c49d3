//! Sampled stacks on the screen, for the lanes of a zoomed timeline.

use std::collections::HashMap;

use loadscope_insight::code::{Flame, Functions};
use loadscope_model::lanes::LanesInUse;
use loadscope_model::state::State;
use loadscope_trace::{Lane, Run};

use super::axis::TimeAxis;
use crate::theme::space;

/// Minimum width of a sample, points. Stacks of narrower samples are hidden.
const SAMPLE: f32 = 8.0;
/// Height of a row, points.
pub(super) const ROW: f32 = space::SUB_ROW;
/// Maximum number of rows below a lane.
const MOST_ROWS: usize = 8;

/// Stacks on the screen.
#[derive(Default)]
pub struct Stacks {
    lanes: Vec<(Lane, Flame)>,
    /// Functions of all lanes.
    pub(super) functions: Functions,
    /// Number of rows below each lane. It never shrinks, so that panning does not move the lanes.
    pub(super) rows: usize,
}

impl Stacks {
    /// Returns the height of the stacks below a lane, points.
    pub fn height(&self, lane: Lane) -> f32 {
        match self.of(lane) {
            Some(_) => self.rows as f32 * ROW,
            None => 0.0,
        }
    }

    /// Returns the stacks of a lane.
    pub(super) fn of(&self, lane: Lane) -> Option<&Flame> {
        let mut all = self.lanes.iter();
        all.find(|(one, _)| *one == lane).map(|(_, flame)| flame)
    }
}

/// Stacks of the last frame, kept until something changes.
#[derive(Default)]
pub(super) struct Cache {
    /// Number and version of the run, and the view.
    key: Option<(u64, u64, TimeAxis)>,
    /// Calls by stack.
    calls: HashMap<u32, Vec<(u32, u32)>>,
    /// Stacks on the screen.
    pub(super) stacks: Stacks,
}

impl Cache {
    /// Reads the stacks on the screen, unless a sample is too narrow.
    pub(super) fn update(&mut self, state: &State, axis: &TimeAxis) {
        let session = &state.session;
        let key = (session.run_number, session.run.version(), *axis);
        if self.key == Some(key) {
            return;
        }
        if self.key.is_none_or(|(run, ..)| run != key.0) {
            *self = Self::default();
        }
        self.key = Some(key);
        self.stacks.lanes.clear();
        if axis.points(session.run.stacks().period()) >= SAMPLE {
            self.read(&session.run, axis);
        }
    }

    fn read(&mut self, run: &Run, axis: &TimeAxis) {
        let log = run.stacks();
        let is_one_process = LanesInUse::of(run).is_one_process;
        let stacks = &mut self.stacks;
        for worker in log.processes() {
            let lane = match worker {
                Some(worker) => Lane::Worker(worker),
                None if is_one_process => Lane::Main,
                None => continue,
            };
            let mut flame = Flame::default();
            for one in log.samples(worker, axis.view.start..axis.view.end) {
                let calls = self.calls.entry(one.stack);
                let calls = calls.or_insert_with(|| stacks.functions.calls(log, one.stack));
                flame.append(calls, one.start.0, one.end(log.period()).0);
            }
            stacks.rows = stacks.rows.max(flame.rows().len().min(MOST_ROWS));
            stacks.lanes.push((lane, flame));
        }
    }
}
