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
                notes,
            } => {
                self.state.landmarks = *landmarks;
                self.state.loaders = *loaders;
                self.loaded(*run, cut, notes);
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
            Update::Exists(output) => {
                match &output {
                    Output::Recording(_) => self.state.saving = None,
                    Output::Export(..) => self.state.exporting = None,
                }
                self.state.replacing = Some(output);
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

    fn loaded(&mut self, run: Run, cut: bool, notes: Vec<Note>) {
        let Source::Loading { path, .. } = &self.state.source else {
            return;
        };
        let path = path.clone();
        // What stands in the journal is offered from there.
        if !self.state.left_over.iter().any(|left| left.path == path) {
            Prefs::remember(&mut self.state.recent, &path);
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
        self.state.run = run.into();
        self.state.source = Source::Recording { path, cut };
        self.state.options_of = OptionsOf::Run;
    }

    /// Shows what there is to say about a file.
    pub(super) fn say(&mut self, note: Note) {
        match note.is_error {
            true => self.complain(note.text),
            false => self.state.notices.push(Notice {
                is_error: false,
                text: note.text,
            }),
        }
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
