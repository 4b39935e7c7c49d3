//! Interface of the program around the window, and what every program does alike.

use std::time::Duration;

use egui::{Context, Theme, ThemePreference};
use loadscope_insight::diagnose::{Check, ComparedRun, Role};
use loadscope_insight::loaders::{Loaders, names};
use loadscope_insight::options::problems;
use loadscope_insight::session_event::Notice;
use loadscope_model::command::Command;
use loadscope_model::effect::Effect;
use loadscope_model::message::Message;
use loadscope_model::state::kept::KeptRun;
use loadscope_model::state::{Source, State};
use loadscope_model::{Model, prefs};
use loadscope_trace::Run;
use loadscope_words::{say, set_language};

use crate::Window;

/// Frame interval while data flow and the user is active.
pub const LIVE_FRAME: Duration = Duration::from_millis(33);

/// Program around a window. It applies messages and performs their effects.
pub trait Host {
    /// Returns the model and the window.
    fn model_and_window(&mut self) -> (&mut Model, &mut Window);

    /// Returns the state.
    fn state(&self) -> &State;

    /// Performs a command.
    fn run(&mut self, ctx: &Context, command: Command);

    /// Performs an effect on a file, a dialog, a session or a program.
    fn perform_outside(&mut self, ctx: &Context, effect: Effect);

    /// Runs the options, in a simulation or with the embedded loader.
    fn start_run(&mut self, ctx: &Context, simulated: bool);

    /// Sets the session of the shown run aside, before the next message replaces the run.
    fn retain_shown_run(&mut self);

    /// Resumes the session of a run that was set aside.
    fn resume_run(&mut self, number: u32);

    /// Releases the session of a run that is dropped. `is_unwanted` is true if the user drops it.
    fn release_run(&mut self, number: u32, is_unwanted: bool);

    /// Returns the frame interval while data flow.
    fn frame_interval(&self) -> Duration {
        LIVE_FRAME
    }

    /// Returns the window.
    fn window(&mut self) -> &mut Window {
        self.model_and_window().1
    }

    /// Applies a message to the state and performs its effect.
    fn dispatch(&mut self, ctx: &Context, message: impl Into<Message>) {
        let (model, _) = self.model_and_window();
        let before = model.prefs.options.clone();
        let effect = model.apply(message);
        if model.prefs.options != before {
            self.check_options();
        }
        if let Some(effect) = effect {
            self.perform(ctx, effect);
        }
    }

    /// Updates the errors of the options.
    fn check_options(&mut self) {
        let (model, _) = self.model_and_window();
        let problems = problems(&model.prefs.options);
        let _ = model.apply(Message::Checked(problems));
    }

    /// Shows a notice.
    fn notify(&mut self, notice: Notice) {
        // A notice has no effect to perform.
        let _ = self.model_and_window().0.apply(Message::Notice(notice));
    }

    /// Shows an error.
    fn notify_error(&mut self, text: String) {
        self.notify(Notice::error(text));
    }

    /// Performs an effect.
    fn perform(&mut self, ctx: &Context, effect: Effect) {
        match effect {
            Effect::Demo => {
                self.dispatch(ctx, Message::EditEnded);
                self.dispatch(ctx, Command::Edit(Box::new(prefs::demo())));
                // The digits can also be simulated with their configured costs.
                self.start_run(ctx, self.state().place.no_engine);
            }
            Effect::Simulate => self.start_run(ctx, true),
            Effect::Check(check) => self.check(ctx, *check),
            Effect::Close => self.close(ctx),
            Effect::ShowRun(number) => self.show_run(ctx, number),
            Effect::CompareRun(number) => {
                let other = self.next_comparison();
                if let Some(other) = compared_run(self.state(), number, other) {
                    self.dispatch(ctx, Message::Comparing);
                    self.dispatch(ctx, Message::Compared(other));
                }
            }
            Effect::DropRun(number) => self.drop_run(ctx, number),
            Effect::Copy(text) => ctx.copy_text(text),
            Effect::ToggleTheme => {
                let other = match ctx.theme() {
                    Theme::Dark => ThemePreference::Light,
                    Theme::Light => ThemePreference::Dark,
                };
                self.dispatch(ctx, Command::Theme(other));
            }
            Effect::SetLanguage(language) => {
                set_language(language);
                self.check_options();
            }
            other => self.perform_outside(ctx, other),
        }
    }

    /// Returns the number of the next comparison.
    fn next_comparison(&mut self) -> u64 {
        let window = self.window();
        window.comparison_count += 1;
        window.comparison_count
    }

    /// Runs the forecast settings, and compares the result with the previous run.
    fn check(&mut self, ctx: &Context, check: Check) {
        let number = self.next_comparison();
        let before = baseline_run(self.state(), number);
        let run_number = self.state().session.run_number;
        self.dispatch(ctx, Message::EditEnded);
        self.dispatch(ctx, Command::Edit(Box::new(check.options.clone())));
        self.dispatch(ctx, Message::EditEnded);
        self.start_run(ctx, check.simulated);
        // If the start was refused, the previous run is still shown.
        if self.state().session.run_number != run_number {
            let check = Box::new(check);
            self.dispatch(ctx, Message::Checking { check, before });
        }
    }

    /// Shows a new run. Its predecessor was set aside.
    fn begin_run(&mut self, ctx: &Context, source: Source, watched: bool) {
        self.dispatch(ctx, Message::Begun { source, watched });
        self.evict_runs(ctx);
    }

    /// Closes the shown run.
    fn close(&mut self, ctx: &Context) {
        self.retain_shown_run();
        self.dispatch(ctx, Message::Closed);
        self.evict_runs(ctx);
    }

    /// Shows another run of this window.
    fn show_run(&mut self, ctx: &Context, number: u32) {
        if self.state().runs.get(number).is_none() {
            return;
        }
        self.retain_shown_run();
        self.resume_run(number);
        self.dispatch(ctx, Message::Shown(number));
        self.evict_runs(ctx);
    }

    /// Drops a run of this window permanently.
    fn drop_run(&mut self, ctx: &Context, number: u32) {
        let state = self.state();
        if state.session.number == number && state.has_run() {
            // The latest of the other runs replaces the dropped run.
            match state.runs.all().last().map(KeptRun::number) {
                Some(other) => self.show_run(ctx, other),
                None => self.close(ctx),
            }
        }
        if self.state().runs.get(number).is_some() {
            self.release_run(number, true);
            self.dispatch(ctx, Message::Dropped(number));
        }
    }

    /// Drops surplus runs and the contents of others.
    fn evict_runs(&mut self, ctx: &Context) {
        let surplus = self.state().runs.surplus();
        for number in surplus.contents {
            self.dispatch(ctx, Message::Emptied(number));
        }
        for number in surplus.runs {
            self.release_run(number, false);
            self.dispatch(ctx, Message::Dropped(number));
        }
    }
}

/// Returns the shown run as the "before" of a check of a forecast. `number` is its number among compared runs.
fn baseline_run(state: &State, number: u64) -> ComparedRun {
    ComparedRun {
        number,
        name: say!("Before").to_owned(),
        run: state.session.run.snapshot(),
        cut: false,
        role: Role::Before,
    }
}

/// Returns another run of the window.
fn compared_run(state: &State, kept: u32, number: u64) -> Option<ComparedRun> {
    let of = state.runs.get(kept)?;
    Some(ComparedRun {
        number,
        name: format!("#{kept} {}", of.line.name),
        run: of.session.run.snapshot(),
        cut: false,
        role: Role::Chosen,
    })
}

/// Returns the name of the compared loader as a suffix for the file name, or an empty text if there is only one loader.
pub fn loader_suffix(loaders: &Loaders, run: &Run) -> String {
    let all = loaders.all(run);
    let at = all.iter().position(|(id, _)| *id == loaders.shown());
    let name = at.and_then(|at| names(&all).into_iter().nth(at));
    match name {
        Some(name) if loaders.are_many() => format!(", {name}"),
        _ => String::new(),
    }
}
