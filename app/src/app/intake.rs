//! Takes in what a session tells.

use std::time::{Duration, Instant};

use loadscope_trace::{Event, EventKind, Level, Run};

use super::App;
use crate::prefs::Prefs;
use crate::session::Update;
use crate::state::{Notice, Source};

/// Events are taken in for at most so long a frame.
const DRAIN: Duration = Duration::from_millis(10);

impl App {
    /// Takes in what is new, for at most [`DRAIN`]. True if there is more.
    pub(super) fn drain(&mut self) -> bool {
        let start = Instant::now();
        while start.elapsed() < DRAIN {
            let Some(update) = self
                .session
                .as_ref()
                .and_then(|s| s.updates.try_recv().ok())
            else {
                return false;
            };
            self.take_in(update);
        }
        true
    }

    fn take_in(&mut self, update: Update) {
        match update {
            Update::Events(events) => {
                for event in &events {
                    self.state.run.apply(event);
                    self.show_warning(event);
                }
            }
            Update::Loading(share) => {
                if let Source::Loading { share: shown, .. } = &mut self.state.source {
                    *shown = share;
                }
            }
            Update::Loaded { run, cut } => self.loaded(*run, cut),
            Update::Ended(error) => self.ended(error),
            Update::Saved(path) => {
                self.state.saving = None;
                Prefs::remember(&mut self.state.recent, &path);
                self.state.notices.push(Notice {
                    is_error: false,
                    text: format!("Saved to {}", path.display()),
                });
            }
            Update::NotSaved(text) => {
                self.state.saving = None;
                self.complain(text);
            }
            Update::Failed(text) => self.complain(text),
        }
    }

    /// What PyTorch would print as a `UserWarning` is shown in place.
    fn show_warning(&mut self, event: &Event) {
        if let EventKind::Message(message) = &event.kind
            && message.level == Level::Warning
        {
            self.state.notices.push(Notice {
                is_error: false,
                text: message.text.clone(),
            });
        }
    }

    fn loaded(&mut self, run: Run, cut: bool) {
        let Source::Loading { path, .. } = &self.state.source else {
            return;
        };
        let path = path.clone();
        Prefs::remember(&mut self.state.recent, &path);
        if cut {
            let text = format!(
                "{} is cut off in the middle: the program that wrote it was stopped. \
                 Everything before the cut is shown",
                path.display()
            );
            self.complain(text);
        }
        // The form shows what made this recording, ready to be run again.
        self.state.options = run.info.options.clone();
        self.check_options();
        self.state.run = run;
        self.state.source = Source::Recording { path, cut };
    }

    fn ended(&mut self, error: Option<String>) {
        match self.state.source {
            // Refused before anything happened.
            Source::Live { .. } if self.state.run.events() == 0 => {
                self.state.source = Source::None;
            }
            Source::Live { .. } => self.state.source = Source::Finished,
            Source::Loading { .. } => self.state.source = Source::None,
            _ => {}
        }
        if let Some(error) = error {
            self.complain(error);
        }
    }
}
