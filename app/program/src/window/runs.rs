//! Start and end of runs: the embedded loader, the simulator, a file, a watched program.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::Builder;
use std::time::{Duration, Instant};

use eframe::egui::Context;
use loadscope_model::Model;
use loadscope_model::command::Command;
use loadscope_model::effect::Effect;
use loadscope_model::message::Message;
use loadscope_model::state::{SessionState, Source, State};
use loadscope_model::watching::Program;
use loadscope_session::{
    Limits, Pace, Record, Session, SessionError, SessionEvent, Watched, memory_of_host,
};
use loadscope_trace::{Run, RunId};
use loadscope_window::{Host, Window};
use loadscope_words::say;

use super::{App, Extent};

/// Maximum wait until other owners have released a dropped run.
const DROP_WITHIN: Duration = Duration::from_secs(1);

/// Messages per frame from a run that is not shown. Each has up to a thousand events.
const AT_ONCE: usize = 8;

impl App {
    pub(super) fn start(&mut self, ctx: &Context, pace: Pace) {
        let record = self.record(None);
        let options = &self.state.prefs.options;
        let memory = self.memory;
        let pace = Pace { memory, ..pace };
        let session = Session::start_with_pace(options, pace, record, Arc::clone(&self.wake));
        if session.is_ok() {
            // Two loaders at the same time would slow each other down.
            self.stop_engines();
        }
        self.is_slowed = pace.factor > 1;
        let paused = pace.paused;
        self.begin(ctx, session, Source::Live { paused }, false);
    }

    /// Watches a started program. `again` is its command, if it can be started again.
    ///
    /// # Errors
    /// If the program cannot be watched. It continues unwatched.
    pub(super) fn watch(
        &mut self,
        ctx: &Context,
        watched: &Watched,
        extent: Extent,
        again: Option<Program>,
    ) -> Result<(), SessionError> {
        let record = self.record(extent.limits);
        let wake = Arc::clone(&self.wake);
        let memory = Some(self.memory.unwrap_or_else(usual_memory));
        let session = Session::watch_selected(watched, extent.selection, record, wake, memory)?;
        self.is_slowed = false;
        self.begin(ctx, Ok(session), Source::Live { paused: false }, true);
        if let Some(again) = again {
            self.dispatch(ctx, Message::Watches(again));
        }
        Ok(())
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
                self.retain_shown_run();
                self.session = Some(session);
                self.begun = Instant::now();
                self.begin_run(ctx, source, watched);
            }
            Err(e) => self.notify_error(e.to_string()),
        }
    }

    /// Asks running loaders to end.
    fn stop_engines(&self) {
        let is_engine = |session: &&Session| session.is_engine();
        let all = self.kept.values().chain(&self.session);
        all.filter(is_engine).for_each(Session::stop);
    }

    /// Applies events of the runs that are not shown. Returns true if more are pending.
    pub(super) fn drain_kept(&mut self, ctx: &Context) -> bool {
        let told = |(number, session): (&u32, &Session)| {
            let events = session.events.try_iter().take(AT_ONCE);
            let events: Vec<(u32, _)> = events.map(|event| (*number, event)).collect();
            events
        };
        let events: Vec<_> = self.kept.iter().flat_map(told).collect();
        for (number, event) in events {
            if let (SessionEvent::Rebuilt(_), Some(kept)) = (&event, self.state.runs.get(number)) {
                drop_in_background(kept.session.loaders.snapshot(&kept.session.run));
            }
            self.dispatch(ctx, Message::SessionFor(number, event));
        }
        self.kept.values().any(|session| !session.events.is_empty())
    }

    /// Returns the storage of a live run until it is saved.
    fn record(&mut self, limits: Option<Limits>) -> Record {
        let Some(journal) = &self.journal else {
            return Record::Memory;
        };
        match journal.begin_with(limits) {
            Ok(new) => Record::Journal(new),
            Err(e) => {
                let text = say!(
                    "This run is in memory only, and lost if Loadscope is killed before you save it: {e}"
                );
                self.notify_error(text);
                Record::Memory
            }
        }
    }

    /// Removes runs from the journal that were saved or that the user does not need.
    pub(super) fn clean_journal(&mut self) {
        self.discard_unneeded(self.session.as_ref(), &self.state.session);
        for kept in self.state.runs.all() {
            self.discard_unneeded(self.kept.get(&kept.number()), &kept.session);
        }
        // Some runs were opened from the journal and saved elsewhere.
        let kept = self.state.runs.all().iter().map(|kept| &kept.session);
        let all = kept.chain([&self.state.session]);
        let saved: Vec<PathBuf> = all.filter_map(|s| self.saved_elsewhere(s)).collect();
        for path in saved {
            let _ = self.state.apply(Message::UnsavedRunSaved(path.clone()));
            self.remove_unsaved_run(&path);
        }
    }

    /// Returns the journal file of a run that was opened from the journal and saved elsewhere.
    fn saved_elsewhere(&self, session: &SessionState) -> Option<PathBuf> {
        let Source::Recording { path, .. } = &session.source else {
            return None;
        };
        let is_left_over = self
            .state
            .place
            .unsaved_runs
            .iter()
            .any(|left| left.path == *path);
        (session.saved.is_some() && is_left_over).then(|| path.clone())
    }

    /// Removes a run from the journal.
    pub(super) fn remove_unsaved_run(&mut self, path: &Path) {
        if let Some(Err(e)) = self.journal.as_ref().map(|journal| journal.remove(path)) {
            self.notify_error(say!(
                "cannot remove {}: {e}",
                path.display(),
                e = loadscope_words::explain(&e)
            ));
        }
    }

    /// Offers the runs that earlier windows left in the journal.
    pub(super) fn offer_left_over(&mut self, ctx: &Context, on_start_page: bool) {
        if let Some(journal) = &self.journal {
            let unsaved_runs = journal.unsaved_runs();
            self.dispatch(ctx, Message::UnsavedRuns(unsaved_runs, on_start_page));
        }
    }

    /// Removes the journal entry of a run, unless the run would be lost.
    fn discard_unneeded(&self, session: Option<&Session>, of: &SessionState) {
        if let Some(entry) = session.and_then(Session::journal)
            && !self.state.keeps(of)
        {
            entry.discard();
        }
    }

    /// Drops the shown loaders on a thread, because they are about to be replaced.
    pub(super) fn drop_runs_in_background(&self) {
        let shown = &self.state.session;
        drop_in_background(shown.loaders.snapshot(&shown.run));
    }
}

impl Host for App {
    fn model_and_window(&mut self) -> (&mut Model, &mut Window) {
        (&mut self.state, &mut self.window)
    }

    fn state(&self) -> &State {
        &self.state
    }

    fn run(&mut self, ctx: &Context, command: Command) {
        Self::run(self, ctx, command);
    }

    fn perform_outside(&mut self, ctx: &Context, effect: Effect) {
        self.perform_effect(ctx, effect);
    }

    fn start_run(&mut self, ctx: &Context, simulated: bool) {
        match simulated {
            true => self.simulate(ctx),
            false => self.start(ctx, Pace::default()),
        }
    }

    /// Keeps the session of the shown run, if the run is worth keeping. [`loadscope_model`] sets the run itself aside at the next message.
    fn retain_shown_run(&mut self) {
        let shown = &self.state.session;
        let session = self.session.take();
        if shown.is_worth_keeping() {
            self.kept
                .extend(session.map(|session| (shown.number, session)));
            if let Some(path) = self.saved_elsewhere(&self.state.session) {
                let _ = self.state.apply(Message::UnsavedRunSaved(path.clone()));
                self.remove_unsaved_run(&path);
            }
        } else {
            self.discard_unneeded(session.as_ref(), shown);
            self.drop_runs_in_background();
        }
        self.comparing = None;
    }

    fn resume_run(&mut self, number: u32) {
        self.session = self.kept.remove(&number);
    }

    /// Unsaved runs stay in the journal, unless the user drops them.
    fn release_run(&mut self, number: u32, is_unwanted: bool) {
        let Some(kept) = self.state.runs.get(number) else {
            return;
        };
        drop_in_background(kept.session.loaders.snapshot(&kept.session.run));
        let session = self.kept.remove(&number);
        match session.as_ref().and_then(Session::journal) {
            Some(entry) if is_unwanted => entry.discard(),
            _ => self.discard_unneeded(session.as_ref(), &kept.session),
        }
    }

    fn frame_interval(&self) -> Duration {
        self.pacing.every()
    }
}

/// Returns the default memory limit of a watched program's loaders, bytes. A window that is open for days must not exhaust the memory of
/// the training or the host.
fn usual_memory() -> u64 {
    const MOST: u64 = 4_000_000_000;
    memory_of_host().map_or(MOST, |all| (all / 2).min(MOST))
}

/// Drops runs on a thread. A large run has many allocations, and freeing them takes longer than a frame.
fn drop_in_background(all: Vec<(RunId, Arc<Run>)>) {
    // The thread waits until the window has released the runs, so that the thread is their last owner.
    let job = move || {
        let until = Instant::now() + DROP_WITHIN;
        while all.iter().any(|(_, run)| run.is_shared()) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    // Without a thread, the window drops them.
    let _ = Builder::new().name("drop runs".to_owned()).spawn(job);
}
