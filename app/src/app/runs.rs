//! Runs begin and end: the engine, the simulator, a file, a program that is watched.

use std::path::PathBuf;
use std::sync::Arc;

use loadscope_trace::Run;

use super::App;
use crate::diagnose::Diagnose;
use crate::landmarks::Landmarks;
use crate::loaders::Loaders;
use crate::markers::Markers;
use crate::sampling::Choice;
use crate::session::{Record, Session, SessionError, Watched};
use crate::state::{OptionsOf, Source};
use crate::view::Cursor;

impl App {
    pub(super) fn start(&mut self) {
        let session = Session::start(&self.state.options, Record::Memory, Arc::clone(&self.wake));
        self.begin(session, Source::Live { paused: false });
    }

    pub(super) fn watch(&mut self, watched: &Watched) {
        let session = Session::watch(watched, Record::Memory, Arc::clone(&self.wake));
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

    pub(super) fn forget_run(&mut self) {
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
