//! Start and end of runs in the page: files, simulations and live recordings.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use eframe::egui::Context;
use loadscope_insight::diagnose::{Other, Role};
use loadscope_insight::session_event::SessionEvent;
use loadscope_model::message::Message;
use loadscope_model::state::Source;
use loadscope_trace::RunOptions;
use loadscope_window::among;
use loadscope_words::say;

use crate::app::App;
use crate::live::Feed;
use crate::platform::PLATFORM;
use crate::reading::{Read, Reading};
use crate::simulating::Simulating;
use crate::work::{Following, Work, refusal};

/// Time per frame for reading or simulating. The last step and the frame itself must also fit into 50 ms.
const SLICE: Duration = Duration::from_millis(16);

impl App {
    /// Starts to read a file.
    pub(crate) fn begin_file(
        &mut self,
        ctx: &Context,
        name: String,
        bytes: Vec<u8>,
        compare: bool,
    ) {
        let compare = compare && (self.state.has_run() || self.work.is_some());
        match Reading::new(bytes) {
            Ok(reading) if compare => {
                self.comparing = Some(Work::Reading(name, Box::new(reading)));
                self.take(ctx, Message::Comparing);
            }
            Ok(reading) => {
                let path = PathBuf::from(&name);
                self.begin(ctx, Source::Loading { path, share: 0.0 }, false);
                self.work = Some(Work::Reading(name, Box::new(reading)));
            }
            Err(e) => {
                // The file is no longer shown as loading.
                if matches!(self.state.session.source, Source::Loading { .. }) {
                    self.take(ctx, SessionEvent::Ended(None));
                }
                self.take(ctx, Message::NotOpened(refusal(&name, &e)));
            }
        }
    }

    /// Shows the progress of a file that the page fetches.
    pub(crate) fn fetching(&mut self, ctx: &Context, name: String, share: f32) {
        let path = PathBuf::from(name);
        match &self.state.session.source {
            Source::Loading { path: shown, .. } if *shown == path => {
                self.take(ctx, SessionEvent::Loading(share));
            }
            _ => self.begin(ctx, Source::Loading { path, share }, false),
        }
    }

    /// Starts a simulation.
    pub(crate) fn simulate(&mut self, ctx: &Context, options: RunOptions) {
        self.begin(ctx, Source::Simulating, false);
        self.work = Some(Work::Simulating(Simulating::new(options)));
    }

    /// Drops unfinished work of the shown run.
    pub(crate) fn leave_work(&mut self) {
        self.work = None;
        self.comparing = None;
    }

    fn begin(&mut self, ctx: &Context, source: Source, watched: bool) {
        self.leave_work();
        self.take(ctx, Message::Begun { source, watched });
        self.make_room(ctx);
    }

    /// Drops surplus runs and the contents of others.
    pub(crate) fn make_room(&mut self, ctx: &Context) {
        let surplus = self.state.runs.surplus();
        for number in surplus.contents {
            self.take(ctx, Message::Emptied(number));
        }
        for number in surplus.runs {
            self.take(ctx, Message::Dropped(number));
        }
    }

    /// Starts a live recording.
    pub(crate) fn follow(&mut self, ctx: &Context) {
        self.begin(ctx, Source::Live { paused: false }, true);
        self.following = Some(Following {
            feed: Feed::default(),
            number: self.state.session.number,
        });
    }

    /// Adds whole lines of the live recording.
    pub(crate) fn take_piece(&mut self, ctx: &Context, piece: &[u8]) {
        let Some(following) = &mut self.following else {
            return;
        };
        match following.feed.take(piece) {
            Ok(events) => self.arrived(ctx, SessionEvent::Events(events)),
            Err(why) => {
                let why = say!("The server sent a damaged recording: {why}");
                self.end_following(ctx, Some(why));
            }
        }
    }

    /// Ends the live recording.
    pub(crate) fn end_following(&mut self, ctx: &Context, why: Option<String>) {
        self.arrived(ctx, SessionEvent::Ended(why));
        self.following = None;
    }

    fn arrived(&mut self, ctx: &Context, event: SessionEvent) {
        match &self.following {
            Some(following) if following.number == self.state.session.number => {
                self.take(ctx, event);
            }
            Some(following) => self.take(ctx, Message::SessionFor(following.number, event)),
            None => {}
        }
    }

    /// Continues reading or simulating. Returns true if work remains.
    pub(crate) fn go_on(&mut self, ctx: &Context) -> bool {
        let budget = PLATFORM.budget(SLICE);
        if let Some(mut work) = self.work.take() {
            let events = work.go_on(&budget);
            let is_over = events.iter().any(|a| matches!(a, SessionEvent::Ended(_)));
            self.work = (!is_over).then_some(work);
            for event in events {
                self.take(ctx, event);
            }
        } else if let Some(Work::Reading(name, mut reading)) = self.comparing.take() {
            match reading.go_on(&budget) {
                Read::Part(_) => self.comparing = Some(Work::Reading(name, reading)),
                Read::Whole(whole) => {
                    self.others += 1;
                    let other = Other {
                        number: self.others,
                        name: name + &among(&whole.loaders, &whole.run),
                        run: Arc::new(whole.run),
                        cut: whole.cut,
                        role: Role::Chosen,
                    };
                    self.take(ctx, Message::Compared(other));
                }
                Read::Failed(e) => self.take(ctx, Message::NotOpened(refusal(&name, &e))),
            }
        }
        self.work.is_some() || self.comparing.is_some()
    }
}
