//! Runs begin and end: the engine, the simulator, a file, a program that is watched.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use loadscope_trace::plural;

use super::App;
use loadscope_model::notice::Notice;
use loadscope_model::state::Source;
use loadscope_model::view::OptionsOf;
use loadscope_session::{Record, Session, SessionError, Watched};

impl App {
    pub(super) fn start(&mut self) {
        let record = self.record();
        let session = Session::start(&self.state.prefs.options, record, Arc::clone(&self.wake));
        self.begin(session, Source::Live { paused: false });
    }

    pub(super) fn watch(&mut self, watched: &Watched) {
        let record = self.record();
        let session = Session::watch(watched, record, Arc::clone(&self.wake));
        self.begin(session, Source::Live { paused: false });
        self.state.session.watched = true;
        self.state.session.options_of = OptionsOf::Run;
    }

    pub(super) fn simulate(&mut self) {
        let session = Session::simulate(&self.state.prefs.options, Arc::clone(&self.wake));
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
                self.state.session.source = source;
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
        let needed = state.is_unsaved() && !state.session.discarded;
        if let Some(entry) = self.session.as_ref().and_then(Session::journal)
            && !needed
        {
            entry.discard();
        }
        // One that was opened from the journal, and saved somewhere else.
        if let Source::Recording { path, .. } = &state.session.source
            && state.session.saved.is_some()
            && let Some(at) = state
                .place
                .left_over
                .iter()
                .position(|left| left.path == *path)
        {
            let left = state.place.left_over.remove(at);
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
        self.state.place.left_over = journal.left_over();
        let count = self.state.place.left_over.len() as u64;
        if count > 0 && !on_start_page {
            self.state.session.notices.push(Notice {
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
        self.state.forget_run();
        self.headline_of = (u64::MAX, 0);
        self.headline = None;
        self.comparing = None;
    }
}
