//! stub
use crate::{command::Command, state::State};
/// stub
#[derive(Default)]
pub struct Timeline;
impl Timeline {
    /// stub
    pub fn show(&mut self, _ui: &mut eframe::egui::Ui, _state: &State) -> Vec<Command> {
        Vec::new()
    }
    /// stub
    pub fn zoom_pivot(&self) -> Option<loadscope_trace::Nanos> {
        None
    }
}
