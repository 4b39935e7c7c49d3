//! Presentation mode: the pipeline as large as possible, with only the playback buttons.

use egui::{Align, Button, CentralPanel, Context, Layout, Panel, Ui};
use loadscope_model::command::{Action, Command};
use loadscope_model::state::State;
use loadscope_ui::panels::transport;
use loadscope_ui::theme::Palette;
use loadscope_words::say;

use crate::Window;
use crate::layout::framed;

/// Width of a presented window, points, at any resolution.
const ACROSS: f32 = 1_150.0;

/// Maximum zoom factor.
const LARGEST: f32 = 3.0;

/// Sets the zoom factor of the user, or that of a presentation.
pub(crate) fn zoom(ctx: &Context, state: &State) {
    let now = ctx.zoom_factor();
    let across = ctx.content_rect().width() * now;
    let asked = match state.prefs.zoom {
        zoom if zoom.is_finite() => zoom.clamp(0.5, LARGEST),
        _ => 1.0,
    };
    let wanted = match state.presents() {
        true => (across / ACROSS).clamp(1.0, LARGEST).max(asked),
        false => asked,
    };
    if (now - wanted).abs() > 0.01 {
        ctx.set_zoom_factor(wanted);
    }
}

impl Window {
    /// Draws the window in presentation mode.
    pub(crate) fn present(&mut self, ui: &mut Ui, state: &State) -> Vec<Command> {
        let mut commands = Vec::new();
        let palette = Palette::of(ui);
        let player = Self::player(ui, state, &mut commands);
        Panel::bottom("presentation")
            .frame(framed(palette.panel, 8, 4))
            .show(ui, |ui| {
                ui.horizontal(|ui| {
                    transport::show(ui, state, &mut commands);
                    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                        let keys = Action::Present.info().keys(ui.ctx());
                        let leave = ui.add(Button::new(say!("End presentation ({keys})")));
                        commands.extend(leave.clicked().then_some(Action::Present.into()));
                    });
                });
            });
        let middle = CentralPanel::default()
            .frame(framed(palette.canvas, 0, 0))
            .show(ui, |ui| {
                commands.extend(self.pipeline.show(ui, state));
            });
        Self::overlays(ui, state, middle.response.rect, player, &mut commands);
        commands
    }
}
