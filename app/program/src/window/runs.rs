//! Runs begin and end: the engine, the simulator, a file, a program that is watched.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use loadscope_trace::{Run, plural};

use super::App;
use loadscope_insight::diagnose::Diagnose;
use loadscope_insight::landmarks::Landmarks;
use loadscope_insight::loaders::Loaders;
use loadscope_insight::sampling::Choice;
use loadscope_model::markers::Markers;
use loadscope_model::notice::Notice;
use loadscope_model::state::Source;
use loadscope_model::view::Cursor;
use loadscope_model::view::OptionsOf;
use loadscope_session::{Record, Session, SessionError, Watched};

impl App {
    pub(super) fn start(&mut self) {
        let record = self.record();
        let session = Session::start(&self.state.options, record, Arc::clone(&self.wake));
        self.begin(session, Source::Live { paused: false });
    }

    pub(super) fn watch(&mut self, watched: &Watched) {
        let record = self.record();
        let session = Session::watch(watched, record, Arc::clone(&self.wake));
        self.begin(session, Source::Live { paused: false });
        self.state.watched = true;
        self.state.options_of = OptionsOf::Run;
    }

    pub(super) fn simulate(&mut self) {
        let session = Session::simulate(&self.state.options, Arc::clone(&self.wake));
        self.begin(session, Source::Simulating);
    }

    pub(super) fn open(&mut self, path: PathBuf) {
        let session = Session::open(&path, Arc::clone(&self.wake));
        self.begin(session, Source::Loading { path, share: 0.0 });
    }

    pub(super) fn begin(&mut self, session: Result<Session, SessionError>, source: Source) {
        match session {
            Ok(session) => {
                self.forget_run();
                self.session = Some(session);
                self.state.source = source;
            }
            Err(e) => self.complain(e.to_string()),
        }
    }

    pub(super) fn close(&mut self) {
        self.forget_run();
        self.session = None;
    }

    /// Where a live run is kept until it is saved.
    fn record(&mut self) -> Record {
        let Some(journal) = &self.journal else {
            return Record::Memory;
        };
        match journal.begin() {
            Ok(new) => Record::Journal(new),
            Err(e) => {
                let text = format!(
                    "{e}. This run is kept in memory only, and lost if Loadscope is killed before it is saved"
                );
                self.complain(text);
                Record::Memory
            }
        }
    }

    /// The journal keeps the run only if it was neither saved nor said to be of no use.
    pub(super) fn part_with_journal(&mut self) {
        let state = &mut self.state;
        let needed = state.is_unsaved() && !state.discarded;
        if let Some(entry) = self.session.as_ref().and_then(Session::journal)
            && !needed
        {
            entry.discard();
        }
        // One that was opened from the journal, and saved somewhere else.
        if let Source::Recording { path, .. } = &state.source
            && state.saved.is_some()
            && let Some(at) = state.left_over.iter().position(|left| left.path == *path)
        {
            let left = state.left_over.remove(at);
            self.remove_left_over(&left.path);
        }
    }

    /// Removes a run from the journal.
    pub(super) fn remove_left_over(&mut self, path: &Path) {
        if let Some(Err(e)) = self.journal.as_ref().map(|journal| journal.remove(path)) {
            self.complain(format!("{}: cannot remove it: {e}", path.display()));
        }
    }

    /// Offers what earlier windows have left in the journal: on the start page if that is shown, else in a sentence.
    pub(super) fn offer_left_over(&mut self, on_start_page: bool) {
        let Some(journal) = &self.journal else {
            return;
        };
        self.state.left_over = journal.left_over();
        let count = self.state.left_over.len() as u64;
        if count > 0 && !on_start_page {
            self.state.notices.push(Notice {
                is_error: false,
                text: format!(
                    "{} not saved before Loadscope ended. Close this one to open it from the start page",
                    plural(count, "run was", "runs were")
                ),
            });
        }
    }

    pub(super) fn forget_run(&mut self) {
        self.part_with_journal();
        let state = &mut self.state;
        state.source = Source::None;
        state.options_of = OptionsOf::Form;
        state.watched = false;
        state.run = Run::default().into();
        state.loaders = Loaders::default();
        state.run_number += 1;
        state.landmarks = Landmarks::default();
        state.search.start_again();
        state.seeking = None;
        state.question = None;
        state.replacing = None;
        state.discarded = false;
        state.saved = None;
        state.view = None;
        state.cursor = Cursor::Live;
        state.selection = None;
        state.enlarged = None;
        state.hovered = None;
        state.playing = false;
        state.markers = Markers::default();
        state.sampling = Choice::default();
        state.diagnose = Diagnose::default();
        state.views_before.clear();
        state.views_after.clear();
        state.notices.clear();
        state.saving = None;
        state.exporting = None;
        self.headline_of = (u64::MAX, 0);
        self.headline = None;
        self.comparing = None;
    }
}
