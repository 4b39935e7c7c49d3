//! Effects of messages: dialogs, files, the session, the clipboard.

use std::path::PathBuf;

use eframe::egui::{Context, ViewportCommand};
use loadscope_files::Existing;
use loadscope_model::effect::Effect;
use loadscope_model::message::Message;
use loadscope_session::{Pace, Session};
use loadscope_window::Host as _;

use super::App;

/// Slowdown factor of a slow run.
const SLOWLY: u32 = 10;

impl App {
    /// Performs an effect on a dialog, a file or a session.
    pub(super) fn perform_effect(&mut self, ctx: &Context, effect: Effect) {
        match effect {
            Effect::Start => self.start(ctx, Pace::default()),
            Effect::StartPaused => self.start(
                ctx,
                Pace {
                    paused: true,
                    ..Pace::default()
                },
            ),
            Effect::StartSlowly => self.start(
                ctx,
                Pace {
                    factor: SLOWLY,
                    ..Pace::default()
                },
            ),
            Effect::Open(path) => self.open(ctx, path),
            Effect::Watch(program) => self.launch(ctx, &program),
            Effect::AskScript => self.dialogs.script(),
            Effect::Compare(path) => self.compare_with(ctx, path),
            Effect::AskCompare => self.dialogs.compare(),
            Effect::TryProgram => self.try_program(ctx),
            Effect::EndTries => {
                if let Some(tries) = &self.tries {
                    tries.end();
                }
            }
            Effect::Save { path, replace } => self.save_to(ctx, path, existing(replace)),
            Effect::Export { path, replace } => self.export_to(ctx, path, existing(replace)),
            Effect::RemoveUnsavedRun(path) => self.remove_unsaved_run(&path),
            Effect::Quit => {
                self.closing = true;
                ctx.send_viewport_cmd(ViewportCommand::Close);
            }
            Effect::OpenEditor(place) => self.open_editor(&place),
            Effect::AskOpen => self.dialogs.open(),
            Effect::AskSave => self.dialogs.save(),
            Effect::AskPicture(picture) => {
                let input = self.session.as_ref().and_then(Session::input);
                self.dialogs.picture(picture, input);
            }
            Effect::AskFolder => self.dialogs.folder(),
            Effect::AskData { word, is_folder } => self.dialogs.data(word, is_folder),
            Effect::AskOpenFolder => self.dialogs.open_folder(),
            Effect::AskExport => self.dialogs.export(),
            Effect::Stop => self.with_session(Session::stop),
            Effect::Pause => self.with_session(Session::pause),
            Effect::Resume => self.with_session(Session::resume),
            Effect::Step => self.with_session(Session::step),
            Effect::CancelExport => self.with_session(Session::cancel_export),
            // `Host` performs these.
            Effect::Demo
            | Effect::Simulate
            | Effect::Check(_)
            | Effect::Close
            | Effect::ShowRun(_)
            | Effect::CompareRun(_)
            | Effect::DropRun(_)
            | Effect::Copy(_)
            | Effect::ToggleTheme
            | Effect::SetLanguage(_) => {}
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
