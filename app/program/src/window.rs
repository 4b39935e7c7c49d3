//! The window: reads what is new, shows the state, carries commands out.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use eframe::egui::{Context, Ui, ViewportCommand};

use crate::desktop;
use crate::dialog::Dialogs;
use crate::motion::SystemMotion;
use crate::preferences::Store;
use loadscope_insight::options::problems;
use loadscope_model::Model;
use loadscope_model::command::{Action, Command};
use loadscope_model::message::Message;
use loadscope_model::prefs::Prefs;
use loadscope_model::state::{Place, Source, State};
use loadscope_model::watching::Program;
use loadscope_session::{self as session, Journal, Limits, Selection, Session, Waker, Watched};
use loadscope_ui::theme;
use loadscope_window::{Host, Window, turn};
use loadscope_words::{Language, set_language};

mod compare;
pub mod frame_pacing;
mod intake;
mod launch;
mod launching;
mod learning;
mod opening;
mod outputs;
mod pending;
mod perform;
pub mod preview;
mod runs;
mod system;
mod tries;
mod trying;

/// When the window closes, the loader's threads are given so long to end: one that reads a large file cannot be asked.
const PATIENCE: Duration = Duration::from_secs(2);

/// The programs that a window started.
pub type Started = Arc<Mutex<Vec<Watched>>>;

/// What of a program is shown and recorded.
#[derive(Clone, Debug, Default)]
pub struct Extent {
    /// These batches.
    pub selection: Selection,
    /// Of them so much is recorded; `None`: everything. All of them are shown.
    pub limits: Option<Limits>,
}

/// What to show at the start.
#[derive(Clone, Default)]
pub struct Start {
    /// Recordings to open: the first one is shown, the others stand among the recent files.
    pub files: Vec<PathBuf>,
    /// Run the demo.
    pub demo: bool,
    /// What to open for learning.
    pub learn: Option<preview::Learn>,
    /// Draw without animations.
    pub still: bool,
    /// The language of the system.
    pub language: Language,
    /// The language that was asked for, whatever is remembered.
    pub asked_language: Option<Language>,
    /// A program that was started and is to be watched.
    pub watched: Option<Watched>,
    /// What of it is shown and recorded.
    pub extent: Extent,
    /// That program, if it can be started again.
    pub program: Option<Program>,
    /// Where the window puts the programs that it started: they may outlive it.
    pub started: Started,
    /// Where live runs are written as they come; without, they are only in memory.
    pub journal: Option<Journal>,
    /// Where the preferences are kept; without, they are forgotten.
    pub store: Option<Store>,
    /// The loaders of a live run have at most so many bytes in memory; `None`: as many as they need.
    pub memory: Option<u64>,
    /// Keep everything that changes the state, so that it can be replayed.
    pub keeps_messages: bool,
    /// There is no graphics card: processors compute the pixels.
    pub computes_pixels: bool,
}

/// The window.
pub struct App {
    /// What is shown. Public for tests.
    pub state: Model,
    session: Option<Session>,
    /// When it began.
    begun: Instant,
    /// The sessions of the runs of this window that are not shown, by number.
    kept: BTreeMap<u32, Session>,
    journal: Option<Journal>,
    /// Bytes that the loaders of a live run have at most.
    memory: Option<u64>,
    store: Option<Store>,
    dialogs: Dialogs,
    wake: Waker,
    /// The file or folder that is looked at before it is opened.
    looking: Option<pending::Looking>,
    system_motion: SystemMotion,
    /// The window is to be closed, whatever is unsaved.
    closing: bool,
    window: Window,
    /// The file of a lesson that is being written.
    preview: Option<preview::Preview>,
    /// What programs print that are started here.
    outputs: outputs::Outputs,
    /// Programs that were started here and have not ended.
    launched: Vec<launch::Launched>,
    /// All that were started here, for who outlives the window.
    started: Started,
    /// Other arguments are tried on it.
    tries: Option<tries::Tries>,
    /// The recording that is being read, to compare the run with.
    comparing: Option<pending::Reading>,
    /// How many runs have been compared with.
    others: u64,
    /// When the next frame is due.
    pacing: frame_pacing::FramePacing,
    /// The run of this window was started so that it can be followed by eye.
    is_slowed: bool,
}

impl App {
    /// A window with what was remembered from the last time.
    pub fn new(ctx: &Context, prefs: Prefs, start: Start) -> Self {
        theme::install(ctx);
        let pacing = frame_pacing::FramePacing::new(start.computes_pixels);
        let wake = pacing.waker(ctx);
        let state = Self::beginning(prefs, &start);
        set_language(state.language());
        let model = Model::new(state);
        let mut app = Self {
            state: match start.keeps_messages {
                true => model.with_log(),
                false => model,
            },
            session: None,
            begun: Instant::now(),
            kept: BTreeMap::new(),
            outputs: outputs::Outputs::of(start.journal.as_ref()),
            journal: start.journal,
            memory: start.memory,
            store: start.store,
            dialogs: Dialogs::new(Arc::clone(&wake)),
            system_motion: match start.still {
                true => SystemMotion::unasked(),
                false => SystemMotion::ask(Arc::clone(&wake)),
            },
            wake,
            looking: None,
            closing: false,
            window: Window::default(),
            preview: None,
            launched: Vec::new(),
            started: start.started,
            tries: None,
            comparing: None,
            others: 0,
            pacing,
            is_slowed: false,
        };
        app.outputs.sweep();
        app.check_options();
        app.offer_left_over(ctx, start.files.is_empty() && start.watched.is_none());
        if let Some(watched) = &start.watched {
            let watched = app.watch(ctx, watched, start.extent, start.program);
            if let Err(e) = watched {
                app.complain(e.to_string());
            }
        }
        app.open_all(ctx, &start.files);
        app.open_learn(ctx, start.learn);
        if start.demo {
            app.run(ctx, Action::RunDemo.into());
        }
        app
    }

    /// What is shown before anything has happened.
    pub fn beginning(prefs: Prefs, start: &Start) -> State {
        let place = Place {
            no_engine: !session::HAS_ENGINE,
            datasets: session::datasets(),
            platform: desktop::PLATFORM,
            still_for_now: start.still,
            language: start.language,
            asked_language: start.asked_language,
            keeps_journal: start.journal.is_some(),
            ..Place::default()
        };
        loadscope_window::beginning(prefs, place, !start.files.is_empty())
    }

    /// Opens the first of several files; two are to be compared.
    fn open_all(&mut self, ctx: &Context, files: &[PathBuf]) {
        let Some((first, others)) = files.split_first() else {
            return;
        };
        self.tell(ctx, Message::Recent(others.to_vec()));
        match others {
            [second] => {
                let compare = Command::CompareWith(second.clone());
                self.look_into_and(ctx, first.clone(), compare);
            }
            _ => self.look_into(ctx, first.clone()),
        }
    }

    /// What is to be remembered until the next time.
    pub fn prefs(&self) -> Prefs {
        self.state.prefs_to_keep()
    }

    /// Carries a command out.
    pub fn run(&mut self, ctx: &Context, command: Command) {
        match command {
            Command::Open(path) => self.look_into(ctx, path),
            command => self.tell(ctx, command),
        }
    }

    /// Takes a message in, and does outside what comes of it.
    pub(super) fn tell(&mut self, ctx: &Context, message: impl Into<Message>) {
        let before = self.state.prefs.options.clone();
        let effect = self.state.tell(message);
        if self.state.prefs.options != before {
            self.check_options();
        }
        self.perform(ctx, effect);
    }

    fn check_options(&mut self) {
        let problems = problems(&self.state.prefs.options);
        let _ = self.state.tell(Message::Checked(problems));
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
        Self::tell(self, ctx, message);
    }

    fn run(&mut self, ctx: &Context, command: Command) {
        Self::run(self, ctx, command);
    }

    fn set_aside(&mut self, _ctx: &Context) {
        Self::set_aside(self);
    }

    fn make_room(&mut self, ctx: &Context) {
        Self::make_room(self, ctx);
    }

    fn frame_every(&self) -> Duration {
        self.pacing.every()
    }
}

impl eframe::App for App {
    fn logic(&mut self, ctx: &Context, frame: &mut eframe::Frame) {
        theme::set_preference(ctx, self.state.prefs.theme);
        self.attend(ctx, frame);
        self.settle_motion(ctx);
        let more = self.take_in(ctx);
        self.show_partial_run(ctx);
        self.hear_tries(ctx);
        self.hear_launched(ctx);
        if !more && self.session.as_ref().is_some_and(Session::was_asked_to_end) {
            // What was not saved stays in the journal.
            self.closing = true;
            ctx.send_viewport_cmd(ViewportCommand::Close);
        }
        self.take_other(ctx);
        self.take_look(ctx);
        let answers: Vec<Command> = self.dialogs.answers().collect();
        for command in answers {
            self.run(ctx, command);
        }
        self.dropped_files(ctx);
        self.close_request(ctx);
        self.take_preview(ctx);
        turn::step(self, ctx, more);
        self.keep_prefs(ctx);
    }

    fn ui(&mut self, ui: &mut Ui, _frame: &mut eframe::Frame) {
        turn::draw(self, ui);
    }

    fn on_exit(&mut self, _gl: Option<&eframe::glow::Context>) {
        let prefs = self.prefs();
        if let Some(store) = &mut self.store {
            store.finish(&prefs);
        }
        self.part_with_journal();
        let kept = std::mem::take(&mut self.kept);
        let lasts =
            self.state.session.source.is_live() || self.state.session.source == Source::Simulating;
        let is_live = |number: u32| {
            let kept = self.state.runs.get(number);
            kept.is_some_and(|kept| kept.session.source.is_live())
        };
        let kept = kept.into_iter().filter(|(number, _)| is_live(*number));
        let kept = kept.map(|(_, session)| session);
        for session in kept.chain(self.session.take_if(|_| lasts)) {
            // Those that have not ended by then are where nothing can be taken from them but time.
            let _ = session.end(PATIENCE);
        }
    }

    fn persist_egui_memory(&self) -> bool {
        // So that a broken layout never survives a restart.
        false
    }
}
