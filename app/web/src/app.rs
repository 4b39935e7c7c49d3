//! The window in the page.

use eframe::egui::{Context, Ui};
use loadscope_insight::Datasets;
use loadscope_insight::options::problems;
use loadscope_model::Model;
use loadscope_model::command::Command;
use loadscope_model::message::Message;
use loadscope_model::notice::Notice;
use loadscope_model::state::{Environment, State};
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
    /// Number of comparisons so far.
    pub(crate) comparisons: u64,
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
            comparisons: 0,
        };
        app.check_options();
        app
    }

    /// Applies a message to the state and performs its effect.
    pub(crate) fn dispatch(&mut self, ctx: &Context, message: impl Into<Message>) {
        let before = self.state.prefs.options.clone();
        let effect = self.state.apply(message);
        if self.state.prefs.options != before {
            self.check_options();
        }
        self.perform(ctx, effect);
    }

    pub(crate) fn check_options(&mut self) {
        let problems = problems(&self.state.prefs.options);
        let _ = self.state.apply(Message::Checked(problems));
    }

    /// Shows an error.
    pub(crate) fn show_error(&mut self, text: String) {
        let _ = self.state.apply(Message::Notice(Notice::error(text)));
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

    fn dispatch(&mut self, ctx: &Context, message: Message) {
        Self::dispatch(self, ctx, message);
    }

    fn run(&mut self, ctx: &Context, command: Command) {
        self.dispatch(ctx, command);
    }

    /// Does nothing, because the state keeps everything about a run except its unfinished work.
    fn retain_shown_run(&mut self, _ctx: &Context) {
        self.cancel_work();
    }

    fn evict_runs(&mut self, ctx: &Context) {
        Self::evict_runs(self, ctx);
    }
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
