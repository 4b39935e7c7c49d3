//! For a lecture: the pipeline and what it says, as large as the screen allows, and nothing else but the buttons to go through time.

use egui::{Align, Button, CentralPanel, Context, Layout, Panel, Ui};
use loadscope_model::command::{Action, Command};
use loadscope_model::state::State;
use loadscope_ui::panels::transport;
use loadscope_ui::theme::Palette;
use loadscope_words::say;

use crate::Window;
use crate::frame::framed;

/// A presented window shows about so many points across, however many pixels it has.
const ACROSS: f32 = 1_150.0;

/// The largest that everything becomes.
const LARGEST: f32 = 3.0;

/// Makes everything as large as the user wants it, or as a presentation needs it.
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
    /// The window while it is presented.
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
        Self::above(ui, state, middle.response.rect, player, &mut commands);
        commands
    }
}
