//! Applies the events of sessions.

use std::time::{Duration, Instant};

use eframe::egui::Context;
use loadscope_insight::session_event::SessionEvent;
use loadscope_model::message::Message;
use loadscope_session::Session;
use loadscope_window::Host as _;

use super::App;

/// Time limit per frame for applying events.
const DRAIN: Duration = Duration::from_millis(10);

/// Time limit per frame while the window is untouched. Frames are rare then, and no user waits for them.
const DRAIN_UNATTENDED: Duration = Duration::from_millis(100);

/// Minimum reading time before a snapshot is shown. A file that is read sooner is shown only once.
const SOON: Duration = Duration::from_millis(250);

/// Interval between snapshots of a file that is being read.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Returns memory to the system after reading, which needs more than showing.
fn release_memory() {
    #[cfg(target_os = "linux")]
    {
        // Without a thread, the process keeps the memory.
        let thread = std::thread::Builder::new().name("give back".to_owned());
        let _ = thread.spawn(crate::allocator::release_free_memory);
    }
}

impl App {
    /// Updates whether the window is untouched.
    pub(super) fn update_unattended(&mut self, ctx: &Context, frame: &eframe::Frame) {
        let seconds = (frame.info().cpu_usage).unwrap_or(self.state.look.frame_ms / 1e3);
        let last = Duration::try_from_secs_f32(seconds).unwrap_or_default();
        let unattended = self.pacing.begin(ctx, &self.state, self.is_slowed, last);
        if unattended != self.state.look.unattended {
            self.dispatch(ctx, Message::Unattended(unattended));
        }
    }

    /// Applies the events of all runs. Returns true if more are pending.
    pub(super) fn apply_events(&mut self, ctx: &Context) -> bool {
        let start = Instant::now();
        let more = self.drain(ctx) | self.drain_kept(ctx);
        self.pacing.record_apply_time(start.elapsed());
        more
    }

    /// Applies the events of the shown run, for at most [`DRAIN`] or [`DRAIN_UNATTENDED`]. Returns true if more are pending.
    pub(super) fn drain(&mut self, ctx: &Context) -> bool {
        let most = match self.state.look.unattended {
            true => DRAIN_UNATTENDED,
            false => DRAIN,
        };
        let start = Instant::now();
        while start.elapsed() < most {
            let Some(session) = &self.session else {
                return false;
            };
            let Ok(event) = session.events.try_recv() else {
                return false;
            };
            if matches!(event, SessionEvent::Rebuilt(_)) {
                self.drop_runs_in_background();
            }
            let is_loaded = matches!(event, SessionEvent::Loaded { .. });
            self.dispatch(ctx, event);
            if is_loaded {
                release_memory();
            }
        }
        true
    }

    /// Shows the latest snapshot of a large file that is being read.
    pub(super) fn show_partial_run(&mut self, ctx: &Context) {
        if !self.state.is_reading() || self.begun.elapsed() < SOON {
            return;
        }
        let Some(partial) = self.session.as_ref().and_then(Session::partial) else {
            return;
        };
        let session = &self.state.session;
        let shown = (session.run.events() > 0).then(|| session.loaders.shown());
        if let Some(read) = partial.take(shown) {
            self.dispatch(ctx, SessionEvent::Partial(Box::new(read)));
        }
        ctx.request_repaint_after(LOOK_EVERY);
    }
}
