//! Start and end of runs in the page: files, simulations and live recordings.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use eframe::egui::Context;
use loadscope_insight::diagnose::{ComparedRun, Role};
use loadscope_insight::session_event::SessionEvent;
use loadscope_model::message::Message;
use loadscope_model::state::Source;
use loadscope_window::{Host as _, loader_suffix};
use loadscope_words::say;

use crate::app::App;
use crate::live::LiveParser;
use crate::platform::PLATFORM;
use crate::recording_reader::{ReadProgress, RecordingReader};
use crate::simulation::Simulation;
use crate::work::{LiveRecording, Work, read_error};

/// Time per frame for reading or simulating. The last step and the frame itself must also fit into 50 ms.
const SLICE: Duration = Duration::from_millis(16);

impl App {
    /// Starts to read a file.
    pub(crate) fn open_file(&mut self, ctx: &Context, name: String, bytes: Vec<u8>, compare: bool) {
        let compare = compare && (self.state.has_run() || self.work.is_some());
        match RecordingReader::new(bytes) {
            Ok(reading) if compare => {
                self.comparing = Some(Work::Reading(name, Box::new(reading)));
                self.dispatch(ctx, Message::Comparing);
            }
            Ok(reading) => {
                let path = PathBuf::from(&name);
                self.begin(ctx, Source::Loading { path, share: 0.0 }, false);
                self.work = Some(Work::Reading(name, Box::new(reading)));
            }
            Err(e) => {
                // The file is no longer shown as loading.
                if matches!(self.state.session.source, Source::Loading { .. }) {
                    self.dispatch(ctx, SessionEvent::Ended(None));
                }
                self.dispatch(ctx, Message::NotOpened(read_error(&name, &e)));
            }
        }
    }

    /// Shows the progress of a file that the page fetches.
    pub(crate) fn show_fetching(&mut self, ctx: &Context, name: String, share: f32) {
        let path = PathBuf::from(name);
        match &self.state.session.source {
            Source::Loading { path: shown, .. } if *shown == path => {
                self.dispatch(ctx, SessionEvent::Loading(share));
            }
            _ => self.begin(ctx, Source::Loading { path, share }, false),
        }
    }

    /// Simulates the options.
    pub(crate) fn simulate(&mut self, ctx: &Context) {
        let options = self.state.prefs.options.clone();
        self.begin(ctx, Source::Simulating, false);
        self.work = Some(Work::Simulating(Simulation::new(options)));
    }

    fn begin(&mut self, ctx: &Context, source: Source, watched: bool) {
        self.retain_shown_run();
        self.begin_run(ctx, source, watched);
    }

    /// Starts a live recording.
    pub(crate) fn start_live(&mut self, ctx: &Context) {
        self.begin(ctx, Source::Live { paused: false }, true);
        self.live = Some(LiveRecording {
            parser: LiveParser::default(),
            number: self.state.session.number,
        });
    }

    /// Adds whole lines of the live recording.
    pub(crate) fn append_live(&mut self, ctx: &Context, piece: &[u8]) {
        let Some(live) = &mut self.live else {
            return;
        };
        match live.parser.parse(piece) {
            Ok(events) => self.apply_live_event(ctx, SessionEvent::Events(events)),
            Err(why) => {
                let why = say!("The server sent a damaged recording: {why}");
                self.end_live(ctx, Some(why));
            }
        }
    }

    /// Ends the live recording.
    pub(crate) fn end_live(&mut self, ctx: &Context, why: Option<String>) {
        self.apply_live_event(ctx, SessionEvent::Ended(why));
        self.live = None;
    }

    fn apply_live_event(&mut self, ctx: &Context, event: SessionEvent) {
        match &self.live {
            Some(live) if live.number == self.state.session.number => {
                self.dispatch(ctx, event);
            }
            Some(live) => self.dispatch(ctx, Message::SessionFor(live.number, event)),
            None => {}
        }
    }

    /// Continues reading or simulating. Returns true if work remains.
    pub(crate) fn resume_work(&mut self, ctx: &Context) -> bool {
        let budget = PLATFORM.budget(SLICE);
        if let Some(mut work) = self.work.take() {
            let events = work.resume(&budget);
            let is_over = events.iter().any(|a| matches!(a, SessionEvent::Ended(_)));
            self.work = (!is_over).then_some(work);
            for event in events {
                self.dispatch(ctx, event);
            }
        } else if let Some(Work::Reading(name, mut reading)) = self.comparing.take() {
            match reading.resume(&budget) {
                ReadProgress::Partial(_) => self.comparing = Some(Work::Reading(name, reading)),
                ReadProgress::Complete(whole) => {
                    let other = ComparedRun {
                        number: self.next_comparison(),
                        name: name + &loader_suffix(&whole.loaders, &whole.run),
                        run: Arc::new(whole.run),
                        cut: whole.cut,
                        role: Role::Chosen,
                    };
                    self.dispatch(ctx, Message::Compared(other));
                }
                ReadProgress::Failed(e) => {
                    self.dispatch(ctx, Message::NotOpened(read_error(&name, &e)))
                }
            }
        }
        self.work.is_some() || self.comparing.is_some()
    }
}
