//! The thread that reads a file for the window.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crossbeam_channel::Sender;
use loadscope_insight::landmarks::Landmarks;
use loadscope_insight::loaders::Loaders;
use loadscope_insight::waits::point_of_interest;
use loadscope_trace::Fleet;

use super::file::ProgressListener;
use super::opened::{Opened, open_with_progress};
use super::{PartialRun, SessionEvent, Waker, describe_open_error};

/// Reader of a file that publishes snapshots.
pub(super) struct Opener {
    pub path: PathBuf,
    /// True after the reading was canceled.
    pub cancel: Arc<AtomicBool>,
    pub partial: PartialRun,
    pub out: Sender<SessionEvent>,
    pub wake: Waker,
}

impl Opener {
    /// Reads the file to its end.
    pub fn run(mut self) {
        let path = self.path.clone();
        let end = match open_with_progress(&path, &mut self) {
            // After a cancellation, the data are incomplete.
            Ok(_) if self.is_cancelled() => None,
            Ok(opened) => {
                self.send_loaded(opened);
                None
            }
            Err(e) => Some(describe_open_error(&path, &e)),
        };
        self.send(SessionEvent::Ended(end));
    }

    fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Acquire)
    }

    fn send(&self, event: SessionEvent) {
        let _ = self.out.send(event);
        (self.wake)();
    }

    fn send_loaded(&self, opened: Opened) {
        let (loaders, run) = Loaders::of(opened.fleet, self.partial.chosen());
        let known = self.partial.finish();
        let known = known.filter(|(id, _)| *id == loaders.shown());
        let mut landmarks = known.map_or_else(Landmarks::default, |(_, landmarks)| landmarks);
        landmarks.follow(&run);
        self.send(SessionEvent::Loaded {
            at: point_of_interest(&run),
            landmarks: Box::new(landmarks),
            run: Box::new(run),
            loaders: Box::new(loaders),
            cut: opened.cut,
            notes: opened.notes,
        });
    }
}

impl ProgressListener for Opener {
    fn progress(&mut self, share: f32, fleet: &Fleet) -> bool {
        self.partial.publish(fleet);
        self.send(SessionEvent::Loading(share));
        !self.is_cancelled()
    }
}
