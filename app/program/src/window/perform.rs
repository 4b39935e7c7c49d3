//! Effects of messages: dialogs, files, the session, the clipboard.

use std::path::PathBuf;

use eframe::egui::{self, Context, ViewportCommand};
use loadscope_files::Existing;
use loadscope_model::command::Command;
use loadscope_model::effect::Effect;
use loadscope_model::message::Message;
use loadscope_model::prefs;
use loadscope_session::{Pace, Session};
use loadscope_words::set_language;

use super::App;

/// Slowdown factor of a slow run.
const SLOWLY: u32 = 10;

impl App {
    pub(super) fn perform(&mut self, ctx: &Context, effect: Option<Effect>) {
        match effect {
            Some(Effect::Start) => self.start(ctx, Pace::default()),
            Some(Effect::StartPaused) => self.start(
                ctx,
                Pace {
                    paused: true,
                    ..Pace::default()
                },
            ),
            Some(Effect::StartSlowly) => self.start(
                ctx,
                Pace {
                    factor: SLOWLY,
                    ..Pace::default()
                },
            ),
            Some(Effect::Demo) => {
                self.dispatch(ctx, Message::EditEnded);
                self.dispatch(ctx, Command::Edit(Box::new(prefs::demo())));
                // The digits can also be simulated with their configured costs.
                match self.state.place.no_engine {
                    true => self.simulate(ctx),
                    false => self.start(ctx, Pace::default()),
                }
            }
            Some(Effect::Simulate) => self.simulate(ctx),
            Some(Effect::Open(path)) => self.open(ctx, path),
            Some(Effect::Watch(program)) => self.launch(ctx, &program),
            Some(Effect::AskScript) => self.dialogs.script(),
            Some(Effect::Check(check)) => self.check(ctx, *check),
            Some(Effect::Compare(path)) => self.compare_with(ctx, path),
            Some(Effect::AskCompare) => self.dialogs.compare(),
            Some(Effect::TryProgram) => self.try_program(ctx),
            Some(Effect::EndTries) => {
                if let Some(tries) = &self.tries {
                    tries.end();
                }
            }
            Some(Effect::Save { path, replace }) => self.save_to(ctx, path, existing(replace)),
            Some(Effect::Export { path, replace }) => self.export_to(ctx, path, existing(replace)),
            Some(Effect::RemoveUnsavedRun(path)) => self.remove_unsaved_run(&path),
            Some(Effect::Close) => self.close(ctx),
            Some(Effect::ShowRun(number)) => self.show_run(ctx, number),
            Some(Effect::CompareRun(number)) => self.compare_run(ctx, number),
            Some(Effect::DropRun(number)) => self.drop_run(ctx, number),
            Some(Effect::ToggleTheme) => {
                let other = match ctx.theme() {
                    egui::Theme::Dark => egui::ThemePreference::Light,
                    egui::Theme::Light => egui::ThemePreference::Dark,
                };
                self.dispatch(ctx, Command::Theme(other));
            }
            Some(Effect::SetLanguage(language)) => {
                set_language(language);
                self.check_options();
            }
            Some(Effect::Quit) => {
                self.closing = true;
                ctx.send_viewport_cmd(ViewportCommand::Close);
            }
            Some(Effect::AskOpen) => self.dialogs.open(),
            Some(Effect::AskSave) => self.dialogs.save(),
            Some(Effect::AskPicture(picture)) => {
                let input = self.session.as_ref().and_then(Session::input);
                self.dialogs.picture(picture, input);
            }
            Some(Effect::Copy(text)) => ctx.copy_text(text),
            Some(Effect::AskFolder) => self.dialogs.folder(),
            Some(Effect::AskData { word, is_folder }) => self.dialogs.data(word, is_folder),
            Some(Effect::AskOpenFolder) => self.dialogs.open_folder(),
            Some(Effect::AskExport) => self.dialogs.export(),
            Some(Effect::Stop) => self.with_session(Session::stop),
            Some(Effect::Pause) => self.with_session(Session::pause),
            Some(Effect::Resume) => self.with_session(Session::resume),
            Some(Effect::Step) => self.with_session(Session::step),
            Some(Effect::CancelExport) => self.with_session(Session::cancel_export),
            None => {}
        }
    }

    fn with_session(&self, what: impl FnOnce(&Session)) {
        if let Some(session) = &self.session {
            what(session);
        }
    }

    fn save_to(&mut self, ctx: &Context, path: PathBuf, existing: Existing) {
        if let Some(session) = &self.session {
            session.save(&path, existing);
            self.dispatch(ctx, Message::Saving(path));
        }
    }

    fn export_to(&mut self, ctx: &Context, path: PathBuf, existing: Existing) {
        let shown = &self.state.session;
        if let Some(session) = &mut self.session {
            session.export(shown.loaders.snapshot(&shown.run), &path, existing);
            self.dispatch(ctx, Message::Exporting(path));
        }
    }
}

fn existing(replace: bool) -> Existing {
    match replace {
        true => Existing::Replace,
        false => Existing::Keep,
    }
}
