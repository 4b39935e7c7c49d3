//! Placeholders for missing content: the reason, and the next step for the user.

use egui::{Align2, Context, Label, Rect, RichText, TextStyle, TextWrapMode, Ui, WidgetText, vec2};
use loadscope_model::command::Action;
use loadscope_model::state::{Source, State};
use loadscope_words::say;

use super::titles::title;
use crate::theme::{Palette, sans, size, space};

/// Width of the explanation, points.
const WIDTH: f32 = 520.0;
/// Height of one line, points.
const LINE: f32 = 20.0;

/// Fills an empty panel with a title and an explanation.
pub fn empty(ui: &mut Ui, what: &str, more: &str) {
    ui.vertical_centered(|ui| {
        ui.add_space((ui.available_height() * 0.4).max(space::GROUP));
        ui.set_max_width(WIDTH);
        title(ui, what);
        remark(ui, more);
    });
}

/// Shows one line in the middle of `room`.
pub fn empty_line(ui: &mut Ui, room: Rect, text: &str) {
    let text = RichText::new(text).color(Palette::of(ui).weak);
    let line = Align2::CENTER_CENTER.align_size_within_rect(vec2(room.width(), LINE), room);
    ui.put(line, Label::new(text));
}

/// Shows a weak text in a panel that explains something or gives the reason for missing content.
pub fn remark(ui: &mut Ui, text: &str) {
    ui.label(RichText::new(text).color(Palette::of(ui).weak));
}

/// Shows a small explanation below a widget.
pub fn hint(ui: &mut Ui, text: &str) {
    ui.add(Label::new(hint_text(ui, text)).wrap());
}

/// Returns the height of a hint including the space below it, points.
pub fn height_of_hint(ui: &Ui, text: &str) -> f32 {
    let text = WidgetText::from(hint_text(ui, text));
    let wrap = Some(TextWrapMode::Wrap);
    let galley = text.into_galley(ui, wrap, ui.available_width(), TextStyle::Body);
    galley.size().y + ui.spacing().item_spacing.y
}

fn hint_text(ui: &Ui, text: &str) -> RichText {
    let text = RichText::new(text).font(sans(size::SMALL));
    text.color(Palette::of(ui).weak)
}

/// Returns the text for a run that has no batches yet.
pub fn no_batches_yet(ctx: &Context, state: &State) -> String {
    let keys = |action: Action| action.info().keys(ctx);
    if state.hides_future() {
        let (step, play) = (keys(Action::StepForward), keys(Action::PauseResume));
        return say!("No events yet — {step} steps, {play} plays");
    }
    match (&state.session.source, Action::Run.info().shortcut) {
        (Source::Live { paused: true }, _) => {
            let (step, go_on) = (keys(Action::StepForward), keys(Action::PauseResume));
            say!("Paused before the first batch — {step} steps, {go_on} continues")
        }
        (Source::Loading { .. }, _) => say!("Reading the recording").to_owned(),
        (Source::Live { .. }, _) => say!("No batches yet — the workers are starting").to_owned(),
        (_, Some(key)) => {
            let key = ctx.format_shortcut(&key);
            say!("No batches yet — press {key} to run")
        }
        (_, None) => say!("No batches yet").to_owned(),
    }
}
