//! stub
use crate::{command::Command, state::State};
/// stub
#[derive(Default)]
pub struct BatchTable;
impl BatchTable {
    /// stub
    pub fn show(&mut self, _ui: &mut eframe::egui::Ui, _state: &State) -> Vec<Command> {
        Vec::new()
    }
}
