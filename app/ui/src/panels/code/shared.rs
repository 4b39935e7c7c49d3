//! Colors, texts and commands that the parts of the code panel share.

use egui::{Color32, RichText};
use loadscope_insight::code::{CodeChoice, CodeProfile};
use loadscope_insight::format;
use loadscope_model::command::Command;
use loadscope_model::state::State;
use loadscope_trace::{Activity, Nanos, StepPhase};

use crate::theme::{Palette, sans, size};

/// Returns the color of the work whose code is shown.
pub(super) fn color_of(profile: &CodeProfile, palette: &Palette) -> Color32 {
    palette.activity(profile.work.activity().unwrap_or(Activity::Fetching))
}

/// Returns the color of a frame. The functions of the user have the color of the work, those of libraries are gray.
pub(crate) fn frame_color(palette: &Palette, work: Color32, is_user: bool, row: usize) -> Color32 {
    let shade = if row.is_multiple_of(2) { 0.0 } else { 0.12 };
    match is_user {
        true => work.lerp_to_gamma(palette.canvas, 0.25 + shade),
        false => palette
            .canvas
            .lerp_to_gamma(palette.text, 0.26 - shade / 2.0),
    }
}

/// Returns the color of a phase: a shade of the color of training. Other code is gray.
pub(crate) fn phase_color(palette: &Palette, work: Color32, phase: StepPhase) -> Color32 {
    let shade = match phase {
        StepPhase::Copy => 0.6,
        StepPhase::Forward => 0.0,
        StepPhase::Backward => 0.3,
        StepPhase::Optimizer => 0.45,
        StepPhase::Other => return palette.weak,
    };
    work.lerp_to_gamma(palette.canvas, shade)
}

/// Changes the choices of the user.
pub(super) fn choose(
    state: &State,
    commands: &mut Vec<Command>,
    change: impl FnOnce(&mut CodeChoice),
) {
    let mut choice = state.session.code.clone();
    change(&mut choice);
    commands.push(Command::Code(choice));
}

/// Returns a share and its time: `61 % · 1.2 s`.
pub(super) fn share_text(profile: &CodeProfile, samples: u64) -> String {
    let time: Nanos = profile.time(samples);
    format!("{} · {time}", format::percent(profile.share(samples)))
}

/// Returns a text in a small font.
pub(super) fn small(text: impl Into<String>) -> RichText {
    RichText::new(text).font(sans(size::SMALL))
}
