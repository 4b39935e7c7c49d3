//! What stands around the window.

use std::time::Duration;

use egui::Context;
use loadscope_model::Model;
use loadscope_model::command::Command;
use loadscope_model::message::Message;
use loadscope_model::state::State;

use crate::Window;

/// While data flow and the user looks, the window is drawn so often.
pub const LIVE_FRAME: Duration = Duration::from_millis(33);

/// A program around a window: it takes messages in, and does what comes of them.
pub trait Host {
    /// What is shown, and what shows it.
    fn parts(&mut self) -> (&mut Model, &mut Window);

    /// What is shown.
    fn state(&self) -> &State;

    /// Takes a message in, and does outside what comes of it.
    fn tell(&mut self, ctx: &Context, message: Message);

    /// Carries a command out.
    fn run(&mut self, ctx: &Context, command: Command);

    /// Keeps what belongs to the run that is shown: a run of a lesson takes its place with the next message.
    fn set_aside(&mut self, ctx: &Context);

    /// Drops what there is no room for.
    fn make_room(&mut self, ctx: &Context);

    /// While data flow, a frame is due so long after the last one.
    fn frame_every(&self) -> Duration {
        LIVE_FRAME
    }

    /// What shows the state.
    fn window(&mut self) -> &mut Window {
        self.parts().1
    }
}
