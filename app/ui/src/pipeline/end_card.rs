//! Card at the end of a run: the duration, the share of waiting and the next views to open.

use egui::{Frame, Margin, Rect, Stroke, Ui, UiBuilder, vec2};
use loadscope_diagnose::WaitSummary;
use loadscope_insight::format::{percent, plural};
use loadscope_trace::Run;
use loadscope_words::say;

use super::grid::centred_rect;
use super::scene::{Scene, Trainer};
use crate::kit::action;
use crate::theme::{Palette, heading, size};
use loadscope_model::command::{Action, Command};
use loadscope_model::state::State;

/// Size, points.
const WIDTH: f32 = 372.0;
const HEIGHT: f32 = 78.0;
/// Height of each further line of text, points.
const LINE: f32 = 18.0;
/// Margin on the left and right, points.
const MARGIN: i8 = 12;

/// Text of the card, cached per run.
#[derive(Debug, Default)]
pub struct EndCard {
    text: Option<((u64, u64), String)>,
}

/// Returns true if the cursor is at the end of a finished run.
pub fn is_over(state: &State, scene: &Scene<'_>) -> bool {
    let at_end = scene.pipeline.step == scene.run.transitions().len();
    let is_over = |e: &loadscope_trace::Epoch| e.end.is_some_and(|end| end <= scene.now);
    at_end
        && !state.session.source.is_live()
        && !state.hides_future()
        // A lesson itself says what to look at.
        && state.learn.page.is_none()
        && matches!(scene.trainer, Trainer::Idle(_))
        && scene.run.epochs().last().is_some_and(is_over)
}

impl EndCard {
    /// Draws the card in the middle of `room`.
    pub fn show(&mut self, ui: &mut Ui, room: Rect, state: &State, commands: &mut Vec<Command>) {
        let wide = WIDTH.min(room.width() - 8.0);
        if wide < 250.0 || room.height() < HEIGHT {
            return;
        }
        let run = &state.session.run;
        let key = (state.session.run_number, run.version());
        if self.text.as_ref().is_none_or(|(of, _)| *of != key) {
            // The text depends on every wait of the run, so it is not computed in every frame.
            self.text = Some((key, outcome(run)));
        }
        let text = self.text.as_ref().map_or("", |(_, text)| text);
        let palette = Palette::of(ui.ctx());
        let galley = ui.painter().layout(
            text.to_owned(),
            heading(size::BODY),
            palette.strong,
            wide - 2.0 * f32::from(MARGIN),
        );
        // Each further line of text makes the card higher.
        let rows = galley.rows.len().max(1) - 1;
        let height = HEIGHT + rows as f32 * LINE;
        let card = centred_rect(room.center(), vec2(wide, height.min(room.height())));
        let frame = Frame::NONE
            .fill(palette.canvas)
            .stroke(Stroke::new(1.0, palette.weak))
            .corner_radius(6.0)
            .inner_margin(Margin::symmetric(MARGIN, 8));
        ui.scope_builder(UiBuilder::new().max_rect(card), |ui| {
            frame.show(ui, |ui| {
                ui.set_min_size(ui.available_size());
                ui.add(egui::Label::new(galley)).on_hover_text(say!(
                    "Time in the DataLoader loop, and the share of it spent waiting"
                ));
                ui.add_space(6.0);
                ui.horizontal(|ui| {
                    for (action, name) in offers(run) {
                        action::renamed_button(ui, state, action, name, commands);
                    }
                });
            });
        });
    }
}

/// Actions that the card offers next.
fn offers(run: &Run) -> [(Action, &'static str); 3] {
    let second = match run.failure() {
        Some(_) => (Action::PreviousTrouble, say!("Show the error")),
        None => (Action::LongestWait, say!("Longest wait")),
    };
    [
        (Action::Replay, say!("Replay")),
        second,
        (Action::ShowDiagnose, say!("Why?")),
    ]
}

/// Returns, for example, `Epoch 0 took 7.0 s, 54 % waiting`. If only sums are kept of its beginning: `Epoch 0 ended, 54 % of the last 7.0 s
/// waiting`.
fn outcome(run: &Run) -> String {
    let wait_summary = WaitSummary::of(run);
    let epochs = run.epochs();
    let what = match epochs.first() {
        Some(epoch) if epochs.len() == 1 => say!("Epoch {}", epoch.epoch),
        _ => plural(epochs.len() as u64, say!(n: "epoch"), say!(n: "epochs")),
    };
    let share = percent(wait_summary.share());
    match (run.failure(), wait_summary.is_of_the_end()) {
        (Some(_), false) => say!(
            "{what} failed after {}, {share} waiting",
            wait_summary.total
        ),
        (None, false) => say!("{what} took {}, {share} waiting", wait_summary.total),
        (Some(_), true) => say!(
            "{what} failed, {share} of the last {} waiting",
            wait_summary.total
        ),
        (None, true) => say!(
            "{what} ended, {share} of the last {} waiting",
            wait_summary.total
        ),
    }
}

#[cfg(test)]
mod tests {
    use loadscope_trace::RunOptions;

    use super::*;

    fn card_content(options: &RunOptions) -> (String, [&'static str; 3]) {
        let run = loadscope_lessons::simulated(options).expect("sound options");
        let text = outcome(&run).replace('\u{2009}', " ");
        (text, offers(&run).map(|(_, name)| name))
    }

    #[test]
    fn the_ending_shows_the_duration_and_next_buttons() {
        let options = RunOptions {
            dataset: "synthetic:len=8,cost_ms=10".to_owned(),
            batch_size: Some(1),
            num_workers: 0,
            step_ms: 10.0,
            ..RunOptions::default()
        };
        let (text, offers) = card_content(&options);
        assert!(
            text.starts_with("Epoch 0 took 1") && text.contains("% waiting"),
            "{text}"
        );
        assert_eq!(offers, ["Replay", "Longest wait", "Why?"]);
        let (text, _) = card_content(&RunOptions {
            epochs: 2,
            ..options.clone()
        });
        assert!(text.starts_with("2 epochs took"), "{text}");
        let dataset = "synthetic:len=8,cost_ms=10,fail=3".to_owned();
        let (text, offers) = card_content(&RunOptions { dataset, ..options });
        assert!(text.starts_with("Epoch 0 failed after"), "{text}");
        assert_eq!(offers[1], "Show the error");
    }
}
