//! The window in the page.

use eframe::egui::{Context, Ui};
use loadscope_insight::Datasets;
use loadscope_model::Model;
use loadscope_model::command::Command;
use loadscope_model::effect::Effect;
use loadscope_model::message::Message;
use loadscope_model::state::{Environment, State};
use loadscope_model::update::IN_PAGE;
use loadscope_plan::dataset::SyntheticCatalog;
use loadscope_ui::theme;
use loadscope_window::{Host, Window, frame_loop, initial_state};
use loadscope_words::{say, set_language};

use crate::browser;
use crate::inbox::{self, PageEvent};
use crate::platform::{PLATFORM, run_next_job};
use crate::screen;
use crate::storage::Store;
use crate::work::{LiveRecording, Work};

/// Window in the page.
pub(crate) struct App {
    pub(crate) state: Model,
    window: Window,
    /// Reading or simulation in progress.
    pub(crate) work: Option<Work>,
    /// Recording that is being read for a comparison with the shown run.
    pub(crate) comparing: Option<Work>,
    /// Program that is being recorded, received in pieces.
    pub(crate) live: Option<LiveRecording>,
    store: Store,
}

impl App {
    /// Creates a window with the stored preferences.
    pub fn new(ctx: &Context) -> Self {
        theme::install(ctx);
        ctx.add_plugin(screen::ScreenReader);
        inbox::set_context(ctx);
        let mut store = Store::default();
        let prefs = store.load().unwrap_or_default();
        let place = Environment {
            no_engine: true,
            in_page: true,
            language: browser::language(),
            datasets: Datasets(&SyntheticCatalog),
            platform: PLATFORM,
            ..Environment::default()
        };
        // Files that are already in the inbox are opened at once.
        let state = initial_state(prefs, place, inbox::has_more());
        set_language(state.language());
        let mut app = Self {
            state: Model::new(state),
            window: Window::default(),
            work: None,
            comparing: None,
            live: None,
            store,
        };
        app.check_options();
        app
    }

    /// Handles the messages in the inbox.
    fn receive_page_events(&mut self, ctx: &Context) {
        while let Some(event) = inbox::pop() {
            match event {
                PageEvent::File {
                    name,
                    bytes,
                    compare,
                } => self.open_file(ctx, name, bytes, compare),
                PageEvent::Fetching { name, share } => self.show_fetching(ctx, name, share),
                PageEvent::LiveStarted => self.start_live(ctx),
                PageEvent::LiveLines(piece) => self.append_live(ctx, &piece),
                PageEvent::LiveEnded(why) => self.end_live(ctx, why),
                PageEvent::Error(text) => self.dispatch(ctx, Message::NotOpened(text)),
                PageEvent::ReadScreen => screen::request(&self.state),
            }
        }
    }

    /// Reads the files dropped onto the page. It opens the first and compares it with the second.
    fn dropped_files(&self, ctx: &Context) {
        let dropped = ctx.input(|i| i.raw.dropped_files.clone());
        for (nth, file) in dropped.into_iter().take(2).enumerate() {
            let name = file.path().display().to_string();
            wasm_bindgen_futures::spawn_local(async move {
                let read = file.bytes_async().await;
                inbox::push(match read {
                    Ok(bytes) => PageEvent::File {
                        name,
                        bytes,
                        compare: nth > 0,
                    },
                    Err(e) => PageEvent::Error(say!("cannot read {name}: {e}")),
                });
            });
        }
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
        self.dispatch(ctx, command);
    }

    fn perform_outside(&mut self, _ctx: &Context, effect: Effect) {
        match effect {
            Effect::AskOpen => browser::pick(false),
            Effect::AskCompare => browser::pick(true),
            Effect::Open(path) | Effect::Compare(path) => self.notify_error(say!(
                "A page cannot open {} by its name. Choose it with Open, or drop it onto the page.",
                path.display()
            )),
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
            | Effect::OpenEditor(_)
            | Effect::Stop
            | Effect::Quit => self.notify_error(IN_PAGE.say().to_owned()),
        }
    }

    /// Simulates the options, because a page has no embedded loader.
    fn start_run(&mut self, ctx: &Context, _simulated: bool) {
        self.simulate(ctx);
    }

    /// Drops unfinished work, because the state keeps everything else about a run.
    fn retain_shown_run(&mut self) {
        self.work = None;
        self.comparing = None;
    }

    fn resume_run(&mut self, _number: u32) {}

    fn release_run(&mut self, _number: u32, _is_unwanted: bool) {}
}

impl eframe::App for App {
    fn logic(&mut self, ctx: &Context, _frame: &mut eframe::Frame) {
        screen::begin_frame();
        theme::set_preference(ctx, self.state.prefs.theme);
        theme::set_motion(ctx, !self.state.look.still);
        self.receive_page_events(ctx);
        let mut more = self.resume_work(ctx);
        self.dropped_files(ctx);
        more |= run_next_job();
        frame_loop::step(self, ctx, more);
        self.store.save(&self.state.prefs);
    }

    fn ui(&mut self, ui: &mut Ui, _frame: &mut eframe::Frame) {
        frame_loop::draw(self, ui);
    }

    fn persist_egui_memory(&self) -> bool {
        false
    }
}
