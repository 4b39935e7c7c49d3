//! Chart of the trainer's last steps: the step time and the wait before each step.

use egui::{Align2, Id, Rect, Sense, Ui, pos2};
use loadscope_insight::waits::LONG;
use loadscope_trace::{Activity, Lane, Nanos, Run, Track};
use loadscope_words::say;

use super::pen::{Pen, row};
use crate::theme::{sans, size};

/// Maximum number of steps drawn.
pub const STEPS: usize = 20;
/// Maximum number of spans searched for these steps.
const MAX_SCANNED: usize = 8 * STEPS;

/// Step of the trainer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// Time the trainer waited for the batch.
    pub waited: Nanos,
    /// Time the trainer worked on the batch.
    pub trained: Nanos,
}

/// Returns the last steps until `now`, oldest first. The last step may still be running.
pub fn last_steps(run: &Run, now: Nanos, most: usize) -> Vec<Step> {
    let lane = Lane::Trainer;
    let Some(spans) = run.track(Track { lane, row: 0 }) else {
        return Vec::new();
    };
    let all = spans.all();
    let after = all.partition_point(|span| span.start < now);
    let mut steps: Vec<Step> = Vec::new();
    let mut is_waited_for = true;
    for span in all.range(..after).iter().rev().take(MAX_SCANNED) {
        let long = span.end.min(now) - span.start;
        match span.activity {
            Activity::Waiting => {
                // A wait belongs to the step after it. The last wait has no step yet.
                if steps.is_empty() {
                    steps.push(Step::default());
                }
                if let Some(step) = steps.last_mut() {
                    step.waited += long;
                }
                is_waited_for = true;
            }
            _ => {
                if steps.len() == most && is_waited_for {
                    break;
                }
                steps.push(Step {
                    trained: long,
                    ..Step::default()
                });
                is_waited_for = false;
            }
        }
    }
    steps.truncate(most);
    steps.reverse();
    steps
}

impl Pen<'_> {
    /// Draws the last steps into `room`: training below, waiting above.
    pub fn steps(&self, ui: &Ui, room: Rect) {
        const NAME: f32 = 14.0;
        let steps = last_steps(self.scene.run, self.scene.now, STEPS);
        let most = steps.iter().map(|s| s.waited + s.trained).max();
        let Some(most) = most.filter(|most| *most > Nanos::ZERO && room.height() > NAME + 10.0)
        else {
            return;
        };
        let (small, weak) = (sans(size::SMALL), self.palette.weak);
        let names = [say!("Last {STEPS} steps"), say!("Steps").to_owned()];
        let name = self.fitting(
            ui,
            &names.each_ref().map(String::as_str),
            &small,
            room.width(),
        );
        self.text(
            ui,
            row(room, 0.0, NAME),
            Align2::LEFT_CENTER,
            name,
            small,
            weak,
        );
        let chart = Rect::from_min_max(pos2(room.left(), room.top() + NAME + 2.0), room.max);
        let wide = chart.width() / STEPS as f32;
        for (k, step) in steps.iter().enumerate() {
            let left = chart.right() - wide * (steps.len() - k) as f32;
            let mut bottom = chart.bottom();
            let is_long = step.waited >= LONG;
            let waiting = if is_long {
                self.palette.stall
            } else {
                self.palette.wait
            };
            for (time, color) in [(step.trained, self.palette.step), (step.waited, waiting)] {
                let high = chart.height() * time.0 as f32 / most.0 as f32;
                let bar =
                    Rect::from_min_max(pos2(left, bottom - high), pos2(left + wide - 1.0, bottom));
                ui.painter()
                    .rect_filled(bar, 0.0, self.dim_unfocused(color, false));
                bottom -= high;
            }
        }
        let response = ui.interact(room, Id::unique("last steps"), Sense::hover());
        response.on_hover_text(say!(
            "Last {STEPS} steps of the trainer: training below, waiting above. The longest took {most}."
        ));
    }
}

#[cfg(test)]
mod tests {
    use loadscope_trace::{BatchId, Event, EventKind, RunId, Stage};

    use super::*;

    /// Returns a run with steps of 4 ms, each after a wait of 2 ms.
    fn run(count: u32) -> Run {
        let mut run = Run::default();
        let mut tell = |ms: i64, kind| {
            run.apply(&Event {
                at: Nanos::from_millis(ms),
                run: RunId(0),
                kind,
            });
        };
        tell(0, EventKind::EpochStarted { epoch: 0 });
        for idx in 0..count {
            let batch = BatchId { epoch: 0, idx };
            let at = i64::from(idx) * 6;
            tell(at, EventKind::Consumer { waiting: true });
            tell(at, EventKind::dispatched(batch, Some(0), []));
            for (after, stage) in [(2, Stage::Training), (6, Stage::Done)] {
                tell(at + after, EventKind::Entered { batch, stage });
            }
        }
        run
    }

    fn millis((waited, trained): (i64, i64)) -> Step {
        Step {
            waited: Nanos::from_millis(waited),
            trained: Nanos::from_millis(trained),
        }
    }

    #[test]
    fn each_training_step_includes_the_wait_before_it() {
        let run = run(50);
        let at = |ms| last_steps(&run, Nanos::from_millis(ms), 3);
        assert_eq!(at(18), [millis((2, 4)); 3]);
        assert_eq!(at(180), [millis((2, 4)); 3]);
        // In the middle of a step, and in the middle of a wait.
        assert_eq!(at(16), [millis((2, 4)), millis((2, 4)), millis((2, 2))]);
        assert_eq!(at(19), [millis((2, 4)), millis((2, 4)), millis((1, 0))]);
        assert_eq!(at(1), [millis((1, 0))]);
        assert_eq!(at(0), []);
        assert_eq!(last_steps(&run, Nanos::MAX, STEPS).len(), STEPS);
    }
}
