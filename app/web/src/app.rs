//! The window in the page.

use eframe::egui::{Context, Ui};
use loadscope_insight::Datasets;
use loadscope_insight::options::problems;
use loadscope_model::Model;
use loadscope_model::command::Command;
use loadscope_model::message::Message;
use loadscope_model::notice::Notice;
use loadscope_model::state::{Place, State};
use loadscope_plan::dataset::SyntheticCatalog;
use loadscope_ui::theme;
use loadscope_window::{Host, Window, beginning, turn};
use loadscope_words::{say, set_language};

use crate::browser;
use crate::inbox::{self, News};
use crate::platform::{PLATFORM, calculate};
use crate::screen;
use crate::storage::Store;
use crate::work::{Following, Work};

/// Window in the page.
pub(crate) struct App {
    pub(crate) state: Model,
    window: Window,
    /// Reading or simulation in progress.
    pub(crate) work: Option<Work>,
    /// Recording that is being read for a comparison with the shown run.
    pub(crate) comparing: Option<Work>,
    /// Program that is being recorded, received in pieces.
    pub(crate) following: Option<Following>,
    store: Store,
    /// Number of comparisons so far.
    pub(crate) others: u64,
}

impl App {
    /// Creates a window with the stored preferences.
    pub fn new(ctx: &Context) -> Self {
        theme::install(ctx);
        ctx.add_plugin(screen::Reader);
        inbox::announce(ctx);
        let mut store = Store::default();
        let prefs = store.load().unwrap_or_default();
        let place = Place {
            no_engine: true,
            in_page: true,
            language: browser::language(),
            datasets: Datasets(&SyntheticCatalog),
            platform: PLATFORM,
            ..Place::default()
        };
        // Files that are already in the inbox are opened at once.
        let state = beginning(prefs, place, inbox::has_more());
        set_language(state.language());
        let mut app = Self {
            state: Model::new(state),
            window: Window::default(),
            work: None,
            comparing: None,
            following: None,
            store,
            others: 0,
        };
        app.check_options();
        app
    }

    /// Applies a message to the state and performs its effect.
    pub(crate) fn take(&mut self, ctx: &Context, message: impl Into<Message>) {
        let before = self.state.prefs.options.clone();
        let effect = self.state.tell(message);
        if self.state.prefs.options != before {
            self.check_options();
        }
        self.perform(ctx, effect);
    }

    pub(crate) fn check_options(&mut self) {
        let problems = problems(&self.state.prefs.options);
        let _ = self.state.tell(Message::Checked(problems));
    }

    /// Shows an error.
    pub(crate) fn complain(&mut self, text: String) {
        let _ = self.state.tell(Message::Notice(Notice::error(text)));
    }

    /// Handles the news in the inbox.
    fn hear(&mut self, ctx: &Context) {
        while let Some(news) = inbox::next() {
            match news {
                News::File {
                    name,
                    bytes,
                    compare,
                } => self.begin_file(ctx, name, bytes, compare),
                News::Fetching { name, share } => self.fetching(ctx, name, share),
                News::Begun => self.follow(ctx),
                News::Piece(piece) => self.take_piece(ctx, &piece),
                News::Ended(why) => self.end_following(ctx, why),
                News::Failed(text) => self.take(ctx, Message::NotOpened(text)),
                News::Read => screen::ask(&self.state),
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
                inbox::put(match read {
                    Ok(bytes) => News::File {
                        name,
                        bytes,
                        compare: nth > 0,
                    },
                    Err(e) => News::Failed(say!("cannot read {name}: {e}")),
                });
            });
        }
    }
}

impl Host for App {
    fn parts(&mut self) -> (&mut Model, &mut Window) {
        (&mut self.state, &mut self.window)
    }

    fn state(&self) -> &State {
        &self.state
    }

    fn tell(&mut self, ctx: &Context, message: Message) {
        self.take(ctx, message);
    }

    fn run(&mut self, ctx: &Context, command: Command) {
        self.take(ctx, command);
    }

    /// The state keeps everything about a run except its unfinished work.
    fn set_aside(&mut self, _ctx: &Context) {
        self.leave_work();
    }

    fn make_room(&mut self, ctx: &Context) {
        Self::make_room(self, ctx);
    }
}

impl eframe::App for App {
    fn logic(&mut self, ctx: &Context, _frame: &mut eframe::Frame) {
        screen::begin();
        theme::set_preference(ctx, self.state.prefs.theme);
        theme::set_motion(ctx, !self.state.look.still);
        self.hear(ctx);
        let mut more = self.go_on(ctx);
        self.dropped_files(ctx);
        more |= calculate();
        turn::step(self, ctx, more);
        self.store.keep(&self.state.prefs);
    }

    fn ui(&mut self, ui: &mut Ui, _frame: &mut eframe::Frame) {
        turn::draw(self, ui);
    }

    fn persist_egui_memory(&self) -> bool {
        false
    }
}
