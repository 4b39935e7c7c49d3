//! Comparison of the shown run with another recording or with the outcome of a forecast.

use std::path::PathBuf;
use std::sync::Arc;

use eframe::egui::Context;

use super::App;
use super::pending::Reading;
use crate::desktop::PLATFORM;
use loadscope_insight::background::{Background, Cancelled, Outcome};
use loadscope_insight::diagnose::{Check, ComparedRun, Role};
use loadscope_insight::loaders::Loaders;
use loadscope_model::command::Command;
use loadscope_model::message::Message;
use loadscope_session::{Pace, describe_open_error, open};
use loadscope_window::loader_suffix;
use loadscope_words::{cause, say};

impl App {
    fn next_comparison_number(&mut self) -> u64 {
        self.comparison_count += 1;
        self.comparison_count
    }

    /// Runs the forecast settings, and compares the result with the previous run.
    pub(super) fn check(&mut self, ctx: &Context, check: Check) {
        let number = self.next_comparison_number();
        let before = loadscope_window::baseline_run(&self.state, number);
        let run_number = self.state.session.run_number;
        self.dispatch(ctx, Message::EditEnded);
        self.dispatch(ctx, Command::Edit(Box::new(check.options.clone())));
        self.dispatch(ctx, Message::EditEnded);
        match check.simulated {
            true => self.simulate(ctx),
            false => self.start(ctx, Pace::default()),
        }
        // If the start was refused, the previous run is still shown.
        if self.state.session.run_number != run_number {
            let check = Box::new(check);
            self.dispatch(ctx, Message::Checking { check, before });
        }
    }

    /// Compares the shown run with another run of this window.
    pub(super) fn compare_run(&mut self, ctx: &Context, number: u32) {
        let other = self.next_comparison_number();
        let Some(other) = loadscope_window::compared_run(&self.state, number, other) else {
            return;
        };
        self.dispatch(ctx, Message::Comparing);
        self.dispatch(ctx, Message::Compared(other));
    }

    /// Reads a recording to compare the run with.
    pub(super) fn compare_with(&mut self, ctx: &Context, path: PathBuf) {
        let wake = Arc::clone(&self.wake);
        let from = path.clone();
        let job = Background::start(
            PLATFORM.jobs,
            "comparer",
            move || wake(),
            move |progress| {
                let read = open(&from, |share| progress.report(f64::from(share)).is_ok());
                // A canceled read is incomplete and must not be returned.
                progress.report(1.0).map_err(|Cancelled| Cancelled)?;
                Ok(read.map_err(|e| describe_open_error(&from, &e)))
            },
        );
        match job {
            Ok(job) => {
                self.comparing = Some(Reading { path, job });
                self.dispatch(ctx, Message::Comparing);
            }
            Err(e) => self.notify_error(say!(
                "cannot start a thread: {e}. Close other programs and try again.",
                e = cause(&e)
            )),
        }
    }

    /// Compares the run with the recording, once it is read.
    pub(super) fn poll_comparison(&mut self, ctx: &Context) {
        let Some(reading) = &self.comparing else {
            return;
        };
        let read = match reading.job.take() {
            Outcome::NotYet => return,
            Outcome::Ready(read) => read,
            Outcome::Broken => Err(say!(
                "Reading {} failed unexpectedly. This is a bug in Loadscope.",
                reading.path.display()
            )),
        };
        let path = reading.path.clone();
        match read {
            Ok(opened) => {
                let name = path.file_name().unwrap_or_default();
                let mut name = name.to_string_lossy().into_owned();
                for note in opened.notes {
                    self.notify(note);
                }
                let cut = opened.cut;
                let (loaders, run) = Loaders::of(opened.fleet, None);
                name.push_str(&loader_suffix(&loaders, &run));
                // A trial is the outcome of a change to the program of the shown run.
                let tried = self.state.look.trying.as_ref();
                let tried = tried.and_then(|trying| trying.setting(&path));
                let role = match tried {
                    Some(_) => Role::After,
                    None => Role::Chosen,
                };
                let other = ComparedRun {
                    number: self.next_comparison_number(),
                    name: tried.unwrap_or(name),
                    run: Arc::new(run),
                    cut,
                    role,
                };
                self.dispatch(ctx, Message::Compared(other));
            }
            Err(text) => self.dispatch(ctx, Message::NotOpened(text)),
        }
        self.comparing = None;
    }
}
