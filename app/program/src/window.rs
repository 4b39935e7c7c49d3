//! The window. It reads new events, draws the state, and performs commands.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use eframe::egui::{Context, Ui, ViewportCommand};

use crate::desktop;
use crate::dialog::Dialogs;
use crate::motion::SystemMotion;
use crate::preferences::Store;
use loadscope_model::Model;
use loadscope_model::command::{Action, Command};
use loadscope_model::effect::Effect;
use loadscope_model::message::Message;
use loadscope_model::prefs::Prefs;
use loadscope_model::state::{Environment, Source, State};
use loadscope_model::watching::Program;
use loadscope_session::{self as session, Journal, Limits, Selection, Session, Waker, Watched};
use loadscope_ui::theme;
use loadscope_window::{Host as _, Window, frame_loop};
use loadscope_words::{Language, set_language};

pub mod editor;
pub mod frame_pacing;
mod intake;
mod launch;
mod launching;
mod opening;
mod outputs;
mod pending;
mod perform;
pub mod preview;
mod runs;
mod system;

/// Timeout for the loader's threads when the window closes. A thread that reads a large file cannot be interrupted.
const PATIENCE: Duration = Duration::from_secs(2);

/// Programs that a window started.
pub type Started = Arc<Mutex<Vec<Watched>>>;

/// Part of a program's batches that is shown and recorded.
#[derive(Clone, Debug, Default)]
pub struct Extent {
    /// Batches to show and record.
    pub selection: Selection,
    /// Limits of the recording, `None` to record everything. The window shows all selected batches.
    pub limits: Option<Limits>,
}

/// Content of the window at the start.
#[derive(Clone, Default)]
pub struct Start {
    /// Recordings to open. The first one is shown, and the others are added to the recent files.
    pub files: Vec<PathBuf>,
    /// True to run the demo.
    pub demo: bool,
    /// Lesson to open.
    pub learn: Option<preview::LearnTarget>,
    /// True to draw without animations.
    pub still: bool,
    /// Command of the user's editor.
    pub editor: Option<String>,
    /// Language of the system.
    pub language: Language,
    /// Language of `--lang`, which overrides the stored one.
    pub asked_language: Option<Language>,
    /// Started program to watch.
    pub watched: Option<Watched>,
    /// Part of its batches to show and record.
    pub extent: Extent,
    /// Command of that program, if it can be started again.
    pub program: Option<Program>,
    /// List for the programs that the window starts. They may outlive the window.
    pub started: Started,
    /// Journal that stores live runs as they arrive. Without it, they are only in memory.
    pub journal: Option<Journal>,
    /// Storage of the preferences. Without it, they are lost.
    pub store: Option<Store>,
    /// Memory limit of a live run's loaders, bytes. `None` for no limit.
    pub memory: Option<u64>,
    /// True to keep a log of all messages, for replay.
    pub keeps_messages: bool,
    /// True if there is no graphics card, so processors compute the pixels.
    pub computes_pixels: bool,
}

/// Main window.
pub struct App {
    /// Shown state. Public for tests.
    pub state: Model,
    session: Option<Session>,
    /// Start of the session.
    begun: Instant,
    /// Sessions of the window's other runs, by number.
    kept: BTreeMap<u32, Session>,
    journal: Option<Journal>,
    /// Memory limit of a live run's loaders, bytes.
    memory: Option<u64>,
    store: Option<Store>,
    dialogs: Dialogs,
    wake: Waker,
    /// File or folder that is checked before it is opened.
    path_check: Option<pending::PathCheck>,
    system_motion: SystemMotion,
    /// True if the window must close, even with unsaved runs.
    closing: bool,
    window: Window,
    /// Lesson file that is being written.
    preview: Option<preview::Preview>,
    /// Output files of the programs started here.
    outputs: outputs::Outputs,
    /// Programs that were started here and have not ended.
    launched: Vec<launch::Launched>,
    /// All programs that were started here, for code that outlives the window.
    started: Started,
    /// Trials of other settings in progress.
    tries: Option<launch::Tries>,
    /// Recording that is being read for a comparison.
    comparing: Option<pending::Reading>,
    /// Interval between frames.
    pacing: frame_pacing::FramePacing,
    /// True if the shown run is slowed down so that the user can follow it by eye.
    is_slowed: bool,
}

impl App {
    /// Creates a window with the stored preferences.
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
                true => SystemMotion::unknown(),
                false => SystemMotion::query(Arc::clone(&wake)),
            },
            wake,
            path_check: None,
            closing: false,
            window: Window::default(),
            preview: None,
            launched: Vec::new(),
            started: start.started,
            tries: None,
            comparing: None,
            pacing,
            is_slowed: false,
        };
        app.outputs.sweep();
        app.check_options();
        app.offer_left_over(ctx, start.files.is_empty() && start.watched.is_none());
        if let Some(watched) = &start.watched {
            let watched = app.watch(ctx, watched, start.extent, start.program);
            if let Err(e) = watched {
                app.notify_error(e.to_string());
            }
        }
        app.open_all(ctx, &start.files);
        app.open_learn(ctx, start.learn);
        if start.demo {
            app.run(ctx, Action::RunDemo.into());
        }
        app
    }

    /// Returns the first state of the window.
    pub fn beginning(prefs: Prefs, start: &Start) -> State {
        let place = Environment {
            no_engine: !session::HAS_ENGINE,
            datasets: session::datasets(),
            platform: desktop::PLATFORM,
            still_for_now: start.still,
            language: start.language,
            asked_language: start.asked_language,
            editor: start.editor.clone(),
            keeps_journal: start.journal.is_some(),
            ..Environment::default()
        };
        loadscope_window::initial_state(prefs, place, !start.files.is_empty())
    }

    /// Opens the first of several files. Two files are compared.
    fn open_all(&mut self, ctx: &Context, files: &[PathBuf]) {
        let Some((first, others)) = files.split_first() else {
            return;
        };
        self.dispatch(ctx, Message::Recent(others.to_vec()));
        match others {
            [second] => {
                let compare = Command::Perform(Effect::Compare(second.clone()));
                self.check_and_open_then(ctx, first.clone(), compare);
            }
            _ => self.check_and_open(ctx, first.clone()),
        }
    }

    /// Returns the preferences to store.
    pub fn prefs(&self) -> Prefs {
        self.state.prefs_to_keep()
    }

    /// Performs a command.
    pub fn run(&mut self, ctx: &Context, command: Command) {
        match command {
            Command::Perform(Effect::Open(path)) => self.check_and_open(ctx, path),
            command => self.dispatch(ctx, command),
        }
    }
}

impl eframe::App for App {
    fn logic(&mut self, ctx: &Context, frame: &mut eframe::Frame) {
        theme::set_preference(ctx, self.state.prefs.theme);
        self.update_unattended(ctx, frame);
        self.update_motion(ctx);
        let more = self.apply_events(ctx);
        self.show_partial_run(ctx);
        self.poll_tries(ctx);
        self.report_ended_programs(ctx);
        if !more && self.session.as_ref().is_some_and(Session::ended_by_signal) {
            // An unsaved run stays in the journal.
            self.closing = true;
            ctx.send_viewport_cmd(ViewportCommand::Close);
        }
        self.poll_comparison(ctx);
        self.poll_path_check(ctx);
        let answers: Vec<Command> = self.dialogs.commands().collect();
        for command in answers {
            self.run(ctx, command);
        }
        self.dropped_files(ctx);
        self.close_request(ctx);
        self.poll_preview(ctx);
        frame_loop::step(self, ctx, more);
        self.save_prefs_if_due(ctx);
    }

    fn ui(&mut self, ui: &mut Ui, _frame: &mut eframe::Frame) {
        frame_loop::draw(self, ui);
    }

    fn on_exit(&mut self, _gl: Option<&eframe::glow::Context>) {
        let prefs = self.prefs();
        if let Some(store) = &mut self.store {
            store.finish(&prefs);
        }
        self.clean_journal();
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
            // A thread that exceeds the timeout is reading a file. The exit cannot unload a library that it needs.
            let _ = session.end(PATIENCE);
        }
    }

    fn persist_egui_memory(&self) -> bool {
        // A broken layout must not survive a restart.
        false
    }
}
