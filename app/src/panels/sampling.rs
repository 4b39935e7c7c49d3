//! The Sampling workspace: the order of the samples.

use eframe::egui::{RichText, Ui};

use crate::command::Command;
use crate::state::State;
use crate::theme::{Palette, heading, size};

/// The Sampling workspace. What it keeps from frame to frame can be thrown away at any time.
#[derive(Default)]
pub struct Sampling {}

impl Sampling {
    /// Shows it in all of `ui`.
    pub fn show(&mut self, ui: &mut Ui, state: &State) -> Vec<Command> {
        let palette = Palette::of(ui);
        let samples: usize = (0..state.run.batches().len())
            .map(|row| state.run.indices(row).len())
            .sum();
        ui.vertical_centered(|ui| {
            ui.add_space(ui.available_height() * 0.4);
            let title = match samples {
                0 => "No samples were drawn yet".to_owned(),
                n => format!("{} samples were drawn", crate::format::count(n as u64)),
            };
            ui.label(RichText::new(title).font(heading(size::BODY)));
            let text = "This is where their order, their coverage and their duplicates are shown";
            ui.label(RichText::new(text).color(palette.weak));
        });
        Vec::new()
    }
}
