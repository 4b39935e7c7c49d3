//! Batches that move: a chip glides from the place where it was to the one where it is, so that the eye can follow a transition
//! that took microseconds.

use std::collections::BTreeMap;

use egui::emath::TSTransform;
use egui::layers::ShapeIdx;
use egui::{Rect, Ui, Vec2};

/// So long a chip is on its way, seconds.
pub const TAKES: f64 = 0.25;
/// A leap over more transitions than these is no movement: nothing glides.
const FAR: usize = 64;
/// A chip that is moved by less than this, points, stays where it is.
const NEAR: f32 = 2.0;

/// A chip that was drawn in this frame.
#[derive(Clone, Copy, Debug)]
pub struct Drawn {
    /// Position of its batch.
    pub row: usize,
    /// Where it is.
    pub place: Rect,
    /// What was drawn for it.
    pub shapes: (ShapeIdx, ShapeIdx),
}

/// A chip on its way.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Glide {
    from: Rect,
    since: f64,
}

/// Where chips were in the last frame, and which are on their way.
#[derive(Debug, Default)]
pub struct Glides {
    /// What the places belong to: another run, or another layout, begins anew.
    key: Option<(u64, u64)>,
    step: usize,
    places: BTreeMap<usize, Rect>,
    moving: BTreeMap<usize, Glide>,
}

/// How a chip is displaced now, and how much of its way it has still to go, 1 to 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Displaced {
    /// Where the way began.
    pub from: Rect,
    /// From its place to where it is seen.
    pub by: Vec2,
    /// What is left of the way.
    pub left: f32,
}

impl Glides {
    /// Takes in where chips are now, `step` transitions into the run. A batch that was nowhere comes from `entrance`.
    pub fn follow(
        &mut self,
        key: (u64, u64),
        step: usize,
        drawn: &[Drawn],
        entrance: Option<Rect>,
        now: f64,
    ) {
        let is_leap = self.key != Some(key) || self.step.abs_diff(step) > FAR;
        let places: BTreeMap<usize, Rect> = drawn.iter().map(|d| (d.row, d.place)).collect();
        if is_leap {
            self.moving.clear();
        } else if self.step != step {
            for (row, place) in &places {
                let before = self.places.get(row).copied();
                // Only what is new comes in at the front: going back, a batch comes from nowhere.
                let before = before.or(entrance.filter(|_| step > self.step));
                let Some(before) = before.filter(|b| is_apart(*b, *place)) else {
                    continue;
                };
                let from = match self.at(*row, before, now) {
                    Some(seen) => before.translate(seen.by),
                    None => before,
                };
                self.moving.insert(*row, Glide { from, since: now });
            }
        }
        self.moving
            .retain(|row, g| now - g.since < TAKES && places.contains_key(row));
        (self.key, self.step, self.places) = (Some(key), step, places);
    }

    /// Forgets what moves.
    pub fn stop(&mut self) {
        self.moving.clear();
        self.key = None;
    }

    /// How the chip of the batch at `row`, whose place this is, is displaced; `None` if it is there.
    pub fn at(&self, row: usize, place: Rect, now: f64) -> Option<Displaced> {
        let glide = self.moving.get(&row)?;
        let done = ((now - glide.since) / TAKES).clamp(0.0, 1.0) as f32;
        // Fast at first, then slower.
        let left = (1.0 - done).powi(3);
        Some(Displaced {
            from: glide.from,
            by: (glide.from.center() - place.center()) * left,
            left,
        })
    }

    /// True if anything moves.
    pub fn are_moving(&self) -> bool {
        !self.moving.is_empty()
    }
}

fn is_apart(a: Rect, b: Rect) -> bool {
    (a.center() - b.center()).length() > NEAR
}

/// Draws what was drawn for a chip somewhere else.
pub fn displace(ui: &Ui, drawn: &Drawn, by: Vec2) {
    let (from, to) = drawn.shapes;
    ui.ctx().graphics_mut(|graphics| {
        let list = graphics.entry(ui.layer_id());
        list.transform_range(from, to, TSTransform::from_translation(by));
    });
}

/// Where the next shape comes.
pub fn next_shape(ui: &Ui) -> ShapeIdx {
    let layer = ui.layer_id();
    ui.ctx()
        .graphics_mut(|graphics| graphics.entry(layer).next_idx())
}

#[cfg(test)]
mod tests {
    use egui::{pos2, vec2};

    use super::*;

    fn chip(row: usize, x: f32) -> Drawn {
        Drawn {
            row,
            place: Rect::from_min_size(pos2(x, 0.0), vec2(30.0, 20.0)),
            shapes: (ShapeIdx(0), ShapeIdx(0)),
        }
    }

    #[test]
    fn a_chip_comes_from_where_it_was_and_arrives_in_time() {
        let mut glides = Glides::default();
        glides.follow((1, 1), 5, &[chip(3, 0.0)], None, 0.0);
        assert!(!glides.are_moving(), "nothing has moved yet");
        glides.follow((1, 1), 6, &[chip(3, 100.0)], None, 1.0);
        let place = chip(3, 100.0).place;
        let begin = glides.at(3, place, 1.0).expect("it is on its way");
        assert_eq!((begin.by, begin.left), (vec2(-100.0, 0.0), 1.0));
        let middle = glides.at(3, place, 1.1).expect("it is on its way");
        assert!(middle.by.x > -60.0 && middle.by.x < 0.0, "{middle:?}");
        glides.follow((1, 1), 6, &[chip(3, 100.0)], None, 1.0 + TAKES);
        assert!(!glides.are_moving());
    }

    #[test]
    fn a_chip_that_moves_on_goes_on_from_where_it_is_seen() {
        let mut glides = Glides::default();
        glides.follow((1, 1), 5, &[chip(3, 0.0)], None, 0.0);
        glides.follow((1, 1), 6, &[chip(3, 100.0)], None, 0.0);
        glides.follow((1, 1), 7, &[chip(3, 200.0)], None, 0.0);
        let seen = glides.at(3, chip(3, 200.0).place, 0.0).expect("on its way");
        assert_eq!(seen.by, vec2(-200.0, 0.0));
    }

    #[test]
    fn new_batches_come_from_the_sampler_and_leaps_move_nothing() {
        let mut glides = Glides::default();
        let sampler = Some(chip(0, -50.0).place);
        glides.follow((1, 1), 5, &[], sampler, 0.0);
        glides.follow((1, 1), 6, &[chip(3, 0.0)], sampler, 0.0);
        assert!(glides.are_moving());
        // Back in time it was nowhere.
        glides.follow((1, 1), 5, &[], sampler, 0.0);
        assert!(!glides.are_moving());
        glides.follow((1, 1), 5 + FAR + 1, &[chip(3, 0.0)], sampler, 0.0);
        assert!(!glides.are_moving(), "a leap");
        glides.follow((1, 2), 5 + FAR + 2, &[chip(3, 90.0)], sampler, 0.0);
        assert!(!glides.are_moving(), "another layout");
    }
}
