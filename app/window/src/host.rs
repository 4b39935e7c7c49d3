//! Interface of the program around the window.

use std::time::Duration;

use egui::Context;
use loadscope_model::Model;
use loadscope_model::command::Command;
use loadscope_model::message::Message;
use loadscope_model::state::State;

use crate::Window;

/// Frame interval while data flow and the user is active.
pub const LIVE_FRAME: Duration = Duration::from_millis(33);

/// Program around a window. It applies messages and performs their effects.
pub trait Host {
    /// Returns the model and the window.
    fn model_and_window(&mut self) -> (&mut Model, &mut Window);

    /// Returns the state.
    fn state(&self) -> &State;

    /// Applies a message to the state and performs its effects.
    fn dispatch(&mut self, ctx: &Context, message: Message);

    /// Performs a command.
    fn run(&mut self, ctx: &Context, command: Command);

    /// Saves the data of the shown run, before the next message replaces it with a run of a lesson.
    fn retain_shown_run(&mut self, ctx: &Context);

    /// Removes runs and contents without room.
    fn evict_runs(&mut self, ctx: &Context);

    /// Returns the frame interval while data flow.
    fn frame_interval(&self) -> Duration {
        LIVE_FRAME
    }

    /// Returns the window.
    fn window(&mut self) -> &mut Window {
        self.model_and_window().1
    }
}
