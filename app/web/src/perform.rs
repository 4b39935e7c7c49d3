//! Effects of messages, as far as a page can perform them.

use eframe::egui::{self, Context};
use loadscope_insight::diagnose::Check;
use loadscope_model::command::Command;
use loadscope_model::effect::Effect;
use loadscope_model::message::Message;
use loadscope_model::prefs;
use loadscope_model::state::kept::KeptRun;
use loadscope_model::update::IN_PAGE;
use loadscope_words::{say, set_language};

use crate::app::App;
use crate::browser;

impl App {
    pub(crate) fn perform(&mut self, ctx: &Context, effect: Option<Effect>) {
        let Some(effect) = effect else {
            return;
        };
        match effect {
            Effect::Demo => {
                self.dispatch(ctx, Message::EditEnded);
                self.dispatch(ctx, Command::Edit(Box::new(prefs::demo())));
                self.simulate(ctx, prefs::demo());
            }
            Effect::Simulate => self.simulate(ctx, self.state.prefs.options.clone()),
            Effect::Check(check) => self.check(ctx, *check),
            Effect::Close => {
                self.work = None;
                self.comparing = None;
                self.dispatch(ctx, Message::Closed);
                self.evict_runs(ctx);
            }
            Effect::ShowRun(number) => self.show_run(ctx, number),
            Effect::CompareRun(number) => {
                self.comparisons += 1;
                if let Some(other) =
                    loadscope_window::compared_run(&self.state, number, self.comparisons)
                {
                    self.dispatch(ctx, Message::Comparing);
                    self.dispatch(ctx, Message::Compared(other));
                }
            }
            Effect::DropRun(number) => self.drop_run(ctx, number),
            Effect::AskOpen => browser::pick(false),
            Effect::AskCompare => browser::pick(true),
            Effect::Copy(text) => ctx.copy_text(text),
            Effect::ToggleTheme => {
                let other = match ctx.theme() {
                    egui::Theme::Dark => egui::ThemePreference::Light,
                    egui::Theme::Light => egui::ThemePreference::Dark,
                };
                self.dispatch(ctx, Command::Theme(other));
            }
            Effect::SetLanguage(language) => {
                set_language(language);
                self.check_options();
            }
            Effect::Open(path) | Effect::Compare(path) => self.show_error(say!(
                "A page cannot open {} by its name. Choose it with Open, or drop it onto the page.",
                path.display()
            )),
            // A page has no files, threads or processes.
            Effect::Start
            | Effect::StartPaused
            | Effect::StartSlowly
            | Effect::Pause
            | Effect::Resume
            | Effect::Step
            | Effect::Save { .. }
            | Effect::Export { .. }
            | Effect::CancelExport
            | Effect::RemoveUnsavedRun(_)
            | Effect::TryProgram
            | Effect::EndTries
            | Effect::Watch(_)
            | Effect::AskScript
            | Effect::AskSave
            | Effect::AskFolder
            | Effect::AskData { .. }
            | Effect::AskOpenFolder
            | Effect::AskExport
            | Effect::AskPicture(_)
            | Effect::Stop
            | Effect::Quit => self.show_error(IN_PAGE.say().to_owned()),
        }
    }

    /// Simulates the forecast settings, and compares the result with the previous run.
    fn check(&mut self, ctx: &Context, check: Check) {
        self.comparisons += 1;
        let before = loadscope_window::baseline_run(&self.state, self.comparisons);
        let run_number = self.state.session.run_number;
        self.dispatch(ctx, Message::EditEnded);
        self.dispatch(ctx, Command::Edit(Box::new(check.options.clone())));
        self.dispatch(ctx, Message::EditEnded);
        self.simulate(ctx, check.options.clone());
        if self.state.session.run_number != run_number {
            let check = Box::new(check);
            self.dispatch(ctx, Message::Checking { check, before });
        }
    }

    fn show_run(&mut self, ctx: &Context, number: u32) {
        if self.state.runs.get(number).is_some() {
            self.work = None;
            self.comparing = None;
            self.dispatch(ctx, Message::Shown(number));
            self.evict_runs(ctx);
        }
    }

    fn drop_run(&mut self, ctx: &Context, number: u32) {
        if self.state.session.number == number && self.state.has_run() {
            // The latest of the other runs replaces the dropped run.
            match self.state.runs.all().last().map(KeptRun::number) {
                Some(other) => self.show_run(ctx, other),
                None => self.dispatch(ctx, Message::Closed),
            }
        }
        self.dispatch(ctx, Message::Dropped(number));
    }
}
