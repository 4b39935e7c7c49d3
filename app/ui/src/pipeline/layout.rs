//! Geometry of the pipeline view.
//!
//! Batches flow from left to right, so the head of every queue is at its right end.

use egui::{Rect, pos2, vec2};

use super::grid::Plan;
use super::grid::{Stack, WorkerGrid};

/// Stage box: the part of the pipeline for one or more stages of a batch. The boxes are in order from left to right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Station {
    /// Chooses the samples of the next batch.
    Sampler,
    /// Index queues and workers, or the main process.
    Workers,
    /// The result queue.
    Results,
    /// The pin thread.
    Pin,
    /// The queue after the pin thread.
    Pinned,
    /// The reorder buffer.
    Reorder,
    /// The training loop.
    Trainer,
}

/// Stage box with its position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placed {
    /// Stage box of this area.
    pub station: Station,
    /// Area of its name.
    pub title: Rect,
    /// Area of its contents.
    pub body: Rect,
}

/// Positions of everything in the pipeline.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// Description of the last event, at the top.
    pub headline: Rect,
    /// The counters at the bottom.
    pub counters: Rect,
    /// The stage boxes, from left to right.
    pub stations: Vec<Placed>,
    /// Index queues and workers, relative to the top left corner of their stage box.
    pub worker_grid: WorkerGrid,
    /// The reorder buffer.
    pub stack: Stack,
    /// Frame of the process that loads and trains. `None` with workers.
    pub process: Option<Rect>,
}

/// Space between the edge of the area and its contents, points.
const MARGIN: f32 = 12.0;
const HEADLINE: f32 = 24.0;
const COUNTERS: f32 = 20.0;
const TITLE: f32 = 18.0;
/// Minimum height that the trainer's text needs, points.
const LOWEST: f32 = 80.0;
/// Minimum height of an area with counters, points.
const WITH_COUNTERS: f32 = 200.0;
/// Space between the edge of a stage box and its contents, points.
pub const PAD: f32 = 8.0;
/// Space between the frame of the single process and its stage boxes, points.
const FRAME: f32 = 6.0;

impl Layout {
    /// Lays out the pipeline in `area`.
    pub fn new(area: Rect, plan: &Plan) -> Self {
        let inner = area.shrink2(vec2(MARGIN, 8.0));
        let headline = Rect::from_min_size(inner.min, vec2(inner.width(), HEADLINE));
        let taken = if area.height() < WITH_COUNTERS {
            0.0
        } else {
            COUNTERS + 8.0
        };
        let bottom = inner.bottom() - taken;
        let counters = Rect::from_min_max(pos2(inner.left(), bottom + taken.min(8.0)), inner.max);
        let top = headline.bottom() + TITLE;
        let room = (bottom - top).max(LOWEST);
        let widths = Widths::new(inner.width(), room, plan);
        let worker_grid = WorkerGrid::new(vec2(widths.workers, room), plan);
        let height = worker_grid.size.y.max(132.0).min(room);
        let top = top + ((room - height) * 0.5).floor();
        let stations = widths.place(
            inner.left(),
            top,
            height,
            inner.width(),
            worker_grid.size.x,
            plan,
        );
        // The layout is repeated with the final height.
        let worker_grid = WorkerGrid::new(vec2(worker_grid.size.x, height), plan);
        let reorder = stations.iter().find(|s| s.station == Station::Reorder);
        let stack = reorder.map_or_else(Stack::default, |s| {
            Stack::new(s.body.shrink(PAD), plan.slots(), plan.chip_width())
        });
        Self {
            headline,
            counters,
            process: process(plan, &stations),
            stations,
            worker_grid,
            stack,
        }
    }

    /// Returns the start and end of the arrow between two neighbors. The arrow to the process ends at the frame of the process.
    pub fn arrow(&self, from: &Placed, to: &Placed) -> (f32, f32) {
        let end = match (self.process, to.station) {
            (Some(process), Station::Workers) => process.left(),
            _ => to.body.left(),
        };
        (from.body.right() + 3.0, end - 3.0)
    }
}

/// Returns the frame of the main process, which loads a batch and then trains on it.
fn process(plan: &Plan, stations: &[Placed]) -> Option<Rect> {
    let of = |station| stations.iter().find(|s| s.station == station);
    let (loads, trains) = (of(Station::Workers)?, of(Station::Trainer)?);
    let around = loads.body.union(trains.body).expand2(vec2(FRAME, 4.0));
    plan.is_one_process().then_some(around)
}

/// Widths of the stage boxes, points.
#[derive(Clone, Copy, Debug)]
struct Widths {
    sampler: f32,
    queue: f32,
    reorder: f32,
    trainer: f32,
    workers: f32,
    gap: f32,
}

impl Widths {
    /// Minimum width of the workers.
    const MIN_WORKERS: f32 = 76.0;

    /// Computes the widths. In a narrow area, the sampler disappears first. Then all places after the awaited one disappear, and the
    /// stage boxes move closer.
    fn new(width: f32, height: f32, plan: &Plan) -> Self {
        let all = [
            (true, plan.slots()),
            (false, plan.slots()),
            (false, plan.slots().min(1)),
        ];
        let widths = all.map(|(sampler, window)| Self::with(width, height, plan, sampler, window));
        let enough = widths.iter().find(|w| w.workers >= Self::MIN_WORKERS);
        *enough.unwrap_or(&widths[2])
    }

    fn with(width: f32, height: f32, plan: &Plan, sampler: bool, window: usize) -> Self {
        // The value is 0 in the smallest window, 1 on a very wide screen.
        let ease = ((width - 676.0) / (2_476.0 - 676.0)).clamp(0.0, 1.0);
        let chip = plan.chip_width();
        let between = |low: f32, high: f32| (low + (high - low) * ease).round();
        let mut widths = Self {
            sampler: match sampler {
                true => between(58.0, 200.0).max(chip + 2.0 * PAD),
                false => 0.0,
            },
            queue: (between(20.0, 88.0) + chip + 2.0).max(if width < 900.0 { 50.0 } else { 84.0 }),
            reorder: 0.0,
            trainer: between(142.0, 440.0),
            workers: 0.0,
            gap: between(12.0, 56.0),
        };
        if window < plan.slots() {
            widths.trainer = 128.0;
            widths.queue = (chip + 2.0 * PAD).max(46.0);
            widths.gap = 8.0;
        }
        let rest = width - widths.fixed(plan);
        if window > 0 {
            let inner = vec2((rest * 0.36).max(114.0) - 2.0 * PAD, height - 2.0 * PAD);
            widths.reorder = Stack::width(inner, window, chip) + 2.0 * PAD;
        }
        widths.workers = (rest - widths.reorder).max(64.0);
        widths
    }

    fn queues(plan: &Plan) -> usize {
        usize::from(plan.results) + usize::from(plan.pin) + usize::from(plan.pinned)
    }

    /// Returns the margin of the frame of the single process on each side, points.
    fn frame(plan: &Plan) -> f32 {
        match plan.is_one_process() {
            true => FRAME,
            false => 0.0,
        }
    }

    /// Returns the width of everything except the reorder buffer and the workers.
    fn fixed(&self, plan: &Plan) -> f32 {
        let queues = Self::queues(plan) as f32;
        let others = usize::from(self.sampler > 0.0) + usize::from(plan.slots() > 0);
        let gaps = 1.0 + queues + others as f32;
        let frames = 2.0 * Self::frame(plan);
        self.sampler + queues * self.queue + self.trainer + gaps * self.gap + frames
    }

    fn place(
        self,
        left: f32,
        top: f32,
        height: f32,
        width: f32,
        workers: f32,
        plan: &Plan,
    ) -> Vec<Placed> {
        let mut all = Vec::with_capacity(7);
        all.extend((self.sampler > 0.0).then_some((Station::Sampler, self.sampler)));
        all.push((Station::Workers, workers));
        all.extend(plan.results.then_some((Station::Results, self.queue)));
        all.extend(plan.pin.then_some((Station::Pin, self.queue)));
        all.extend(plan.pinned.then_some((Station::Pinned, self.queue)));
        all.extend((plan.slots() > 0).then_some((Station::Reorder, self.reorder)));
        all.push((Station::Trainer, self.trainer));
        let frame = Self::frame(plan);
        let used: f32 = all.iter().map(|(_, w)| w).sum();
        let rest = width - used - 2.0 * frame;
        let gap = (rest / (all.len() - 1) as f32).max(4.0).floor();
        let mut x = left;
        let placed = all.into_iter().map(|(station, w)| {
            if station == Station::Workers {
                x += frame;
            }
            let body = Rect::from_min_size(pos2(x.round(), top.round()), vec2(w.round(), height));
            x += w + gap;
            Placed {
                station,
                title: Rect::from_min_size(
                    pos2(body.left(), body.top() - TITLE),
                    vec2(body.width(), TITLE),
                ),
                body,
            }
        });
        placed.collect()
    }
}

#[cfg(test)]
mod tests;
