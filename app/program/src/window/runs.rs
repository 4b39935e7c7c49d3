//! Runs begin and end: the engine, the simulator, a file, a program that is watched.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::Builder;
use std::time::{Duration, Instant};

use eframe::egui::Context;
use loadscope_model::message::Message;
use loadscope_model::state::Source;
use loadscope_session::{Record, Session, SessionError, Watched};

use super::App;

/// Other owners of a run that is gone keep it for no longer than this.
const LET_GO: Duration = Duration::from_secs(1);

impl App {
    pub(super) fn start(&mut self, ctx: &Context) {
        let record = self.record();
        let session = Session::start(&self.state.prefs.options, record, Arc::clone(&self.wake));
        self.begin(ctx, session, Source::Live { paused: false }, false);
    }

    pub(super) fn watch(&mut self, ctx: &Context, watched: &Watched) {
        let record = self.record();
        let session = Session::watch(watched, record, Arc::clone(&self.wake));
        self.begin(ctx, session, Source::Live { paused: false }, true);
    }

    pub(super) fn simulate(&mut self, ctx: &Context) {
        let session = Session::simulate(&self.state.prefs.options, Arc::clone(&self.wake));
        self.begin(ctx, session, Source::Simulating, false);
    }

    pub(super) fn open(&mut self, ctx: &Context, path: PathBuf) {
        let session = Session::open(&path, Arc::clone(&self.wake));
        self.begin(ctx, session, Source::Loading { path, share: 0.0 }, false);
    }

    fn begin(
        &mut self,
        ctx: &Context,
        session: Result<Session, SessionError>,
        source: Source,
        watched: bool,
    ) {
        match session {
            Ok(session) => {
                self.forget_run();
                self.session = Some(session);
                self.tell(ctx, Message::Begun { source, watched });
            }
            Err(e) => self.complain(e.to_string()),
        }
    }

    pub(super) fn close(&mut self, ctx: &Context) {
        self.forget_run();
        self.session = None;
        self.tell(ctx, Message::Closed);
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
        let state = &self.state;
        let needed = state.is_unsaved() && !state.session.discarded;
        if let Some(entry) = self.session.as_ref().and_then(Session::journal)
            && !needed
        {
            entry.discard();
        }
        // One that was opened from the journal, and saved somewhere else.
        if let Source::Recording { path, .. } = &state.session.source
            && state.session.saved.is_some()
            && state.place.left_over.iter().any(|left| left.path == *path)
        {
            let path = path.clone();
            let _ = self.state.tell(Message::NotLeftOver(path.clone()));
            self.remove_left_over(&path);
        }
    }

    /// Removes a run from the journal.
    pub(super) fn remove_left_over(&mut self, path: &Path) {
        if let Some(Err(e)) = self.journal.as_ref().map(|journal| journal.remove(path)) {
            self.complain(format!("{}: cannot remove it: {e}", path.display()));
        }
    }

    /// Offers what earlier windows have left in the journal.
    pub(super) fn offer_left_over(&mut self, ctx: &Context, on_start_page: bool) {
        if let Some(journal) = &self.journal {
            let left_over = journal.left_over();
            self.tell(ctx, Message::LeftOver(left_over, on_start_page));
        }
    }

    /// What the window keeps of a run goes with it.
    fn forget_run(&mut self) {
        self.part_with_journal();
        self.let_go_of_runs();
        self.headline_of = (u64::MAX, 0);
        self.headline = None;
        self.comparing = None;
    }

    /// A thread lets go of the loaders that are about to be replaced: a large run is in many pieces, and to give them all back
    /// takes longer than a frame.
    pub(super) fn let_go_of_runs(&self) {
        let shown = &self.state.session;
        let all = shown.loaders.now(&shown.run);
        // It waits until the window has let go of them, so that it is the last one to.
        let job = move || {
            let until = Instant::now() + LET_GO;
            while all.iter().any(|(_, run)| Arc::strong_count(run) > 1) && Instant::now() < until {
                std::thread::sleep(Duration::from_millis(5));
            }
        };
        // Without a thread the window does it.
        let _ = Builder::new().name("let go".to_owned()).spawn(job);
    }
}
