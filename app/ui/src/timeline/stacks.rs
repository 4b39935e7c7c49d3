//! Sampled stacks on the screen, for the lanes of a zoomed timeline.

use std::collections::HashMap;

use loadscope_insight::code::{Flame, Functions};
use loadscope_model::lanes::LanesInUse;
use loadscope_model::state::State;
use loadscope_trace::{Activity, Lane, Nanos, PhaseFinder, Run, SampledStack, StepPhase};

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

/// Function and line of each call of a stack, the outermost first.
type Calls = Vec<(u32, u32)>;

/// Stacks of the last frame, kept until something changes.
#[derive(Default)]
pub(super) struct Cache {
    /// Number and version of the run, and the view.
    key: Option<(u64, u64, TimeAxis)>,
    /// Calls by stack, and by phase in a training step.
    calls: HashMap<(u32, Option<StepPhase>), Calls>,
    /// Phases of the stacks in training steps.
    phases: HashMap<u32, StepPhase>,
    /// True after a phase of the training step was on the screen.
    has_phases: bool,
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
        let (log, view) = (run.stacks(), axis.view.start..axis.view.end);
        let is_one_process = LanesInUse::of(run).is_one_process;
        for worker in log.processes() {
            let lane = match worker {
                Some(worker) => Lane::Worker(worker),
                None if is_one_process => Lane::Main,
                None => Lane::Trainer,
            };
            let during = |activity| {
                let mut found = Vec::new();
                if worker.is_none() {
                    run.samples_in(None, activity, view.clone(), |one| found.push(one));
                }
                found
            };
            let steps = during(Activity::Training);
            self.find_phases(run, &steps);
            // The stack of a wait shows only the loader.
            let waits = during(Activity::Waiting);
            let mut flame = Flame::default();
            for one in log.samples(worker, view.clone()) {
                if !is_in(one, &waits, log.period()) {
                    let is_step = is_in(one, &steps, log.period());
                    let calls = self.calls(run, one.stack, is_step);
                    flame.append(calls, one.start.0, one.end(log.period()).0);
                }
            }
            let rows = flame.rows().len().min(MOST_ROWS);
            self.stacks.rows = self.stacks.rows.max(rows);
            self.stacks.lanes.push((lane, flame));
        }
    }

    /// Finds the phases of steps. A run without a known phase has no row of phases.
    fn find_phases(&mut self, run: &Run, steps: &[SampledStack]) {
        let mut finder = PhaseFinder::new(run);
        for step in steps {
            let phase = self.phases.entry(step.stack);
            let phase = phase.or_insert_with(|| finder.phase(step.stack));
            self.has_phases = self.has_phases || *phase != StepPhase::Other;
        }
    }

    /// Returns the calls of a stack, in a training step after its phase.
    fn calls(&mut self, run: &Run, stack: u32, is_step: bool) -> &[(u32, u32)] {
        let phase = self.phases.get(&stack).copied();
        let phase = phase.filter(|_| is_step && self.has_phases);
        let functions = &mut self.stacks.functions;
        let calls = self.calls.entry((stack, phase));
        calls.or_insert_with(|| {
            let phase = phase.map(|phase| functions.phase(phase));
            let inside = functions.calls(run.stacks(), stack);
            phase.into_iter().chain(inside).collect()
        })
    }
}

/// Returns true if a sample began in one of the spans.
fn is_in(one: SampledStack, spans: &[SampledStack], period: Nanos) -> bool {
    let later = spans.partition_point(|span| span.start <= one.start);
    let span = later.checked_sub(1).and_then(|at| spans.get(at));
    span.is_some_and(|span| one.start < span.end(period))
}
