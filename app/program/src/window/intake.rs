//! Takes in what a session tells.

use std::time::{Duration, Instant};

use loadscope_trace::{Origin, Run};

use super::App;
use loadscope_model::notice::Notice;
use loadscope_model::prefs::Prefs;
use loadscope_model::question::Output;
use loadscope_model::state::Source;
use loadscope_model::update::loader;
use loadscope_model::view::Cursor;
use loadscope_model::view::OptionsOf;
use loadscope_session::{Note, Update};

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
                    if state.session.loaders.take(&mut state.session.run, event) {
                        loader::forget(state);
                    }
                }
            }
            Update::Loading(share) => {
                if let Source::Loading { share: shown, .. } = &mut self.state.session.source {
                    *shown = share;
                }
            }
            Update::Loaded {
                run,
                loaders,
                landmarks,
                cut,
                notes,
            } => {
                self.state.session.landmarks = *landmarks;
                self.state.session.loaders = *loaders;
                self.loaded(*run, cut, notes);
            }
            Update::Simulated { run, landmarks } => {
                self.state.session.landmarks = *landmarks;
                self.simulated(*run);
            }
            Update::Ended(error) => self.ended(error),
            Update::Saved(path) => {
                self.state.session.saving = None;
                Prefs::remember(&mut self.state.prefs.recent, &path);
                self.state.session.saved = self.saving.take();
                self.state.overlay.hint = Some(format!("Saved to {}", path.display()));
                // What waited for it can go on.
                let waiting = self.state.session.question.take_if(|q| q.saving);
                self.after_saving = waiting.map(|q| q.then);
            }
            Update::Exists(output) => {
                match &output {
                    Output::Recording(_) => self.state.session.saving = None,
                    Output::Export(..) => self.state.session.exporting = None,
                }
                self.state.session.replacing = Some(output);
            }
            Update::NotSaved(text) => {
                self.state.session.saving = None;
                self.complain(text);
            }
            Update::Exporting(share) => {
                if let Some((_, shown)) = &mut self.state.session.exporting {
                    *shown = share;
                }
            }
            Update::Exported(files) => {
                self.state.session.exporting = None;
                let names: Vec<String> = files.iter().map(|f| f.display().to_string()).collect();
                self.state.overlay.hint = Some(format!("Exported to {}", names.join(", ")));
            }
            Update::NotExported(why) => {
                self.state.session.exporting = None;
                match why {
                    Some(text) => self.complain(text),
                    None => self.state.overlay.hint = Some("The export was cancelled".to_owned()),
                }
            }
            Update::Notice(text) => self.say(Note {
                is_error: false,
                text,
            }),
            Update::Failed(text) => self.complain(text),
        }
    }

    /// The form shows what made a recording; what stood there can be had back.
    fn show_options(&mut self, options: loadscope_trace::RunOptions) {
        let state = &mut self.state;
        if options != state.prefs.options {
            state.look.history.let_go();
            state.look.history.change(&state.prefs.options);
            state.look.history.let_go();
            state.prefs.options = options;
        }
        self.check_options();
    }

    /// A simulated run has happened at once; one looks at its beginning.
    fn simulated(&mut self, run: Run) {
        let note = run.messages().first().map(|(_, m)| m.text.as_str());
        let note = note.unwrap_or("Simulated");
        self.state.overlay.hint = Some(format!("Space plays it, → steps. {note}"));
        self.state.session.run = run.into();
        self.state.session.source = Source::Finished;
        self.state.session.cursor = Cursor::Step(0);
    }

    fn loaded(&mut self, run: Run, cut: bool, notes: Vec<Note>) {
        let Source::Loading { path, .. } = &self.state.session.source else {
            return;
        };
        let path = path.clone();
        // What stands in the journal is offered from there.
        if !self
            .state
            .place
            .left_over
            .iter()
            .any(|left| left.path == path)
        {
            Prefs::remember(&mut self.state.prefs.recent, &path);
        }
        let is_told = notes.iter().any(|note| note.is_error);
        notes.into_iter().for_each(|note| self.say(note));
        if cut && !is_told {
            let text = format!(
                "{} is cut off in the middle: the program that wrote it was stopped. \
                 Everything before the cut is shown",
                path.display()
            );
            self.complain(text);
        }
        // The form gets what made this recording, ready to be run again; a program in Python, or what others recorded, cannot be.
        if matches!(run.info.origin, Origin::Engine | Origin::Simulation) {
            self.show_options(run.info.options.clone());
        }
        self.state.session.run = run.into();
        self.state.session.source = Source::Recording { path, cut };
        self.state.session.options_of = OptionsOf::Run;
    }

    /// Shows what there is to say about a file.
    pub(super) fn say(&mut self, note: Note) {
        match note.is_error {
            true => self.complain(note.text),
            false => self.state.session.notices.push(Notice {
                is_error: false,
                text: note.text,
            }),
        }
    }

    fn ended(&mut self, error: Option<String>) {
        match self.state.session.source {
            // Refused before anything happened.
            Source::Live { .. } if self.state.session.run.events() == 0 => {
                self.state.session.source = Source::None;
            }
            Source::Live { .. } => self.state.session.source = Source::Finished,
            Source::Loading { .. } | Source::Simulating => self.state.session.source = Source::None,
            _ => {}
        }
        if let Some(error) = error {
            self.complain(error);
        }
    }
}
