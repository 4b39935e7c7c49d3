//! Animation of moving batches: a chip glides to its new place, so that the eye can follow a transition that took microseconds.

use std::collections::BTreeMap;

use egui::emath::TSTransform;
use egui::layers::ShapeIdx;
use egui::{Rect, Ui, Vec2};

/// Duration of a glide, seconds.
pub const DURATION: f64 = 0.25;
/// Maximum number of transitions between two frames that is animated.
const MAX_TRANSITIONS: usize = 64;
/// Minimum distance of a glide, points.
const MIN_DISTANCE: f32 = 2.0;

/// Chip drawn in this frame.
#[derive(Clone, Copy, Debug)]
pub struct Drawn {
    /// Row of its batch.
    pub row: usize,
    /// Position of the chip.
    pub place: Rect,
    /// Range of its shapes.
    pub shapes: (ShapeIdx, ShapeIdx),
}

/// Chip in motion.
#[derive(Clone, Copy, Debug, PartialEq)]
struct ChipAnimation {
    from: Rect,
    since: f64,
}

/// Positions of chips in the last frame, and the chips in motion.
#[derive(Debug, Default)]
pub struct ChipAnimations {
    /// Run number and layout number. A change of either clears the animation.
    key: Option<(u64, u64)>,
    step: usize,
    places: BTreeMap<usize, Rect>,
    moving: BTreeMap<usize, ChipAnimation>,
}

/// Displacement of a chip in motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Displacement {
    /// Start of the glide.
    pub from: Rect,
    /// Offset from its final place to the displayed one.
    pub by: Vec2,
    /// Remaining fraction of the glide, 1 to 0.
    pub left: f32,
}

impl ChipAnimations {
    /// Records the positions of chips, `step` transitions into the run. A new batch starts at `entrance`.
    pub fn update(
        &mut self,
        key: (u64, u64),
        step: usize,
        drawn: &[Drawn],
        entrance: Option<Rect>,
        now: f64,
    ) {
        let is_leap = self.key != Some(key) || self.step.abs_diff(step) > MAX_TRANSITIONS;
        let places: BTreeMap<usize, Rect> = drawn.iter().map(|d| (d.row, d.place)).collect();
        if is_leap {
            self.moving.clear();
        } else if self.step != step {
            for (row, place) in &places {
                let before = self.places.get(row).copied();
                // Only a new batch starts at the entrance. When the user steps back, batches appear without animation.
                let before = before.or(entrance.filter(|_| step > self.step));
                let Some(before) = before.filter(|b| has_moved(*b, *place)) else {
                    continue;
                };
                let from = match self.at(*row, before, now) {
                    Some(seen) => before.translate(seen.by),
                    None => before,
                };
                self.moving.insert(*row, ChipAnimation { from, since: now });
            }
        }
        self.moving
            .retain(|row, g| now - g.since < DURATION && places.contains_key(row));
        (self.key, self.step, self.places) = (Some(key), step, places);
    }

    /// Clears all motion.
    pub fn clear(&mut self) {
        self.moving.clear();
        self.key = None;
    }

    /// Returns the displacement of the chip of the batch at `row`, or `None` if it rests at `place`.
    pub fn at(&self, row: usize, place: Rect, now: f64) -> Option<Displacement> {
        let animation = self.moving.get(&row)?;
        let done = ((now - animation.since) / DURATION).clamp(0.0, 1.0) as f32;
        // The motion starts fast and slows down.
        let left = (1.0 - done).powi(3);
        Some(Displacement {
            from: animation.from,
            by: (animation.from.center() - place.center()) * left,
            left,
        })
    }

    /// Returns true if any chip is in motion.
    pub fn are_moving(&self) -> bool {
        !self.moving.is_empty()
    }
}

fn has_moved(a: Rect, b: Rect) -> bool {
    (a.center() - b.center()).length() > MIN_DISTANCE
}

/// Moves the shapes of a chip by `by`.
pub fn displace(ui: &Ui, drawn: &Drawn, by: Vec2) {
    let (from, to) = drawn.shapes;
    ui.ctx().graphics_mut(|graphics| {
        let list = graphics.entry(ui.layer_id());
        list.transform_range(from, to, TSTransform::from_translation(by));
    });
}

/// Returns the index of the next shape.
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
    fn a_moved_chip_glides_from_its_old_place() {
        let mut animations = ChipAnimations::default();
        animations.update((1, 1), 5, &[chip(3, 0.0)], None, 0.0);
        assert!(!animations.are_moving(), "nothing has moved yet");
        animations.update((1, 1), 6, &[chip(3, 100.0)], None, 1.0);
        let place = chip(3, 100.0).place;
        let begin = animations.at(3, place, 1.0).expect("it is on its way");
        assert_eq!((begin.by, begin.left), (vec2(-100.0, 0.0), 1.0));
        let middle = animations.at(3, place, 1.1).expect("it is on its way");
        assert!(middle.by.x > -60.0 && middle.by.x < 0.0, "{middle:?}");
        animations.update((1, 1), 6, &[chip(3, 100.0)], None, 1.0 + DURATION);
        assert!(!animations.are_moving());
    }

    #[test]
    fn a_chip_moved_again_glides_from_its_visible_place() {
        let mut animations = ChipAnimations::default();
        animations.update((1, 1), 5, &[chip(3, 0.0)], None, 0.0);
        animations.update((1, 1), 6, &[chip(3, 100.0)], None, 0.0);
        animations.update((1, 1), 7, &[chip(3, 200.0)], None, 0.0);
        let seen = animations
            .at(3, chip(3, 200.0).place, 0.0)
            .expect("on its way");
        assert_eq!(seen.by, vec2(-200.0, 0.0));
    }

    #[test]
    fn new_batches_glide_from_the_sampler_and_jumps_do_not_glide() {
        let mut animations = ChipAnimations::default();
        let sampler = Some(chip(0, -50.0).place);
        animations.update((1, 1), 5, &[], sampler, 0.0);
        animations.update((1, 1), 6, &[chip(3, 0.0)], sampler, 0.0);
        assert!(animations.are_moving());
        // Before that time, the batch was nowhere.
        animations.update((1, 1), 5, &[], sampler, 0.0);
        assert!(!animations.are_moving());
        animations.update(
            (1, 1),
            5 + MAX_TRANSITIONS + 1,
            &[chip(3, 0.0)],
            sampler,
            0.0,
        );
        assert!(!animations.are_moving(), "a leap");
        animations.update(
            (1, 2),
            5 + MAX_TRANSITIONS + 2,
            &[chip(3, 90.0)],
            sampler,
            0.0,
        );
        assert!(!animations.are_moving(), "another layout");
    }
}
