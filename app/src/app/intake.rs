//! Takes in what a session tells.

use std::time::{Duration, Instant};

use loadscope_trace::{Origin, Run};

use super::App;
use crate::prefs::Prefs;
use crate::session::Update;
use crate::state::Source;
use crate::update::loader;
use crate::view::Cursor;

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
                let state = &mut self.state;
                for event in events {
                    if state.loaders.take(&mut state.run, event) {
                        loader::forget(state);
                    }
                }
            }
            Update::Loading(share) => {
                if let Source::Loading { share: shown, .. } = &mut self.state.source {
                    *shown = share;
                }
            }
            Update::Loaded {
                run,
                loaders,
                landmarks,
                cut,
            } => {
                self.state.landmarks = *landmarks;
                self.state.loaders = *loaders;
                self.loaded(*run, cut);
            }
            Update::Simulated { run, landmarks } => {
                self.state.landmarks = *landmarks;
                self.simulated(*run);
            }
            Update::Ended(error) => self.ended(error),
            Update::Saved(path) => {
                self.state.saving = None;
                Prefs::remember(&mut self.state.recent, &path);
                self.state.saved = self.saving.take();
                self.state.hint = Some(format!("Saved to {}", path.display()));
                // What waited for it can go on.
                let waiting = self.state.question.take_if(|q| q.saving);
                self.after_saving = waiting.map(|q| q.then);
            }
            Update::NotSaved(text) => {
                self.state.saving = None;
                self.complain(text);
            }
            Update::Exporting(share) => {
                if let Some((_, shown)) = &mut self.state.exporting {
                    *shown = share;
                }
            }
            Update::Exported(files) => {
                self.state.exporting = None;
                let names: Vec<String> = files.iter().map(|f| f.display().to_string()).collect();
                self.state.hint = Some(format!("Exported to {}", names.join(", ")));
            }
            Update::NotExported(why) => {
                self.state.exporting = None;
                match why {
                    Some(text) => self.complain(text),
                    None => self.state.hint = Some("The export was cancelled".to_owned()),
                }
            }
            Update::Failed(text) => self.complain(text),
        }
    }

    /// The form shows what made a recording; what stood there can be had back.
    fn show_options(&mut self, options: loadscope_trace::RunOptions) {
        let state = &mut self.state;
        if options != state.options {
            state.history.let_go();
            state.history.change(&state.options);
            state.history.let_go();
            state.options = options;
        }
        self.check_options();
    }

    /// A simulated run has happened at once; one looks at its beginning.
    fn simulated(&mut self, run: Run) {
        let note = run.messages().first().map(|(_, m)| m.text.as_str());
        let note = note.unwrap_or("Simulated");
        self.state.hint = Some(format!("Space plays it, → steps. {note}"));
        self.state.run = run.into();
        self.state.source = Source::Finished;
        self.state.cursor = Cursor::Step(0);
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
        // The form shows what made this recording, ready to be run again; what others recorded does not tell it all.
        if !matches!(run.info.origin, Origin::Import(_)) {
            self.show_options(run.info.options.clone());
        }
        self.state.run = run.into();
        self.state.source = Source::Recording { path, cut };
    }

    fn ended(&mut self, error: Option<String>) {
        match self.state.source {
            // Refused before anything happened.
            Source::Live { .. } if self.state.run.events() == 0 => {
                self.state.source = Source::None;
            }
            Source::Live { .. } => self.state.source = Source::Finished,
            Source::Loading { .. } | Source::Simulating => self.state.source = Source::None,
            _ => {}
        }
        if let Some(error) = error {
            self.complain(error);
        }
    }
}
