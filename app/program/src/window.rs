//! The window: reads what is new, shows the state, carries commands out.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use eframe::egui::{Context, Ui, ViewportCommand};
use loadscope_trace::Nanos;

use crate::desktop;
use crate::dialog::Dialogs;
use crate::motion::SystemMotion;
use crate::preferences::Store;
use loadscope_insight::headline::Headline;
use loadscope_insight::options::problems;
use loadscope_model::Model;
use loadscope_model::command::Command;
use loadscope_model::message::Message;
use loadscope_model::prefs::Motion;
use loadscope_model::prefs::Prefs;
use loadscope_model::prefs::Splits;
use loadscope_model::state::{Look, Place, Source, State};
use loadscope_model::view::Workspace;
use loadscope_plan::plan::settled;
use loadscope_session::{self as session, Journal, Session, Waker, Watched};
use loadscope_ui::panels::batches::BatchTable;
use loadscope_ui::panels::inspector::Inspector;
use loadscope_ui::panels::loaders::LoadersView;
use loadscope_ui::panels::plots::Plots;
use loadscope_ui::panels::sampling::Sampling;
use loadscope_ui::pipeline::PipelineView;
use loadscope_ui::theme;
use loadscope_ui::timeline::Timeline;

mod compare;
mod frame;
mod grip;
mod held;
mod intake;
mod jobs;
mod keys;
mod opening;
mod pending;
mod perform;
mod runs;
mod system;
mod tries;
mod trying;

/// While data flow, the verdict is given so often.
const HEADLINE: Duration = Duration::from_millis(200);

/// So long a frame may be spent looking for what was searched for.
const SEARCH: Duration = Duration::from_millis(4);

/// While data flow, the window is drawn so often.
const LIVE_FRAME: Duration = Duration::from_millis(33);

/// When the window closes, the loader's threads are given so long to end: one that reads a large file cannot be asked.
const PATIENCE: Duration = Duration::from_secs(2);

/// What to show at the start.
#[derive(Clone, Default)]
pub struct Start {
    /// Recordings to open: the first one is shown, the others stand among the recent files.
    pub files: Vec<PathBuf>,
    /// Draw without animations.
    pub still: bool,
    /// A program that was started and is to be watched.
    pub watched: Option<Watched>,
    /// That program and its arguments.
    pub program: Vec<OsString>,
    /// Where folders for recordings of tries are made; empty: where this program was started.
    pub tries_in: PathBuf,
    /// Where live runs are written as they come; without, they are only in memory.
    pub journal: Option<Journal>,
    /// Where the preferences are kept; without, they are forgotten.
    pub store: Option<Store>,
    /// Keep everything that changes the state, so that it can be replayed.
    pub keeps_messages: bool,
}

/// The window.
pub struct App {
    /// What is shown. Public for tests.
    pub state: Model,
    session: Option<Session>,
    /// The sessions of the runs of this window that are not shown, by number.
    kept: BTreeMap<u32, Session>,
    journal: Option<Journal>,
    store: Option<Store>,
    dialogs: Dialogs,
    wake: Waker,
    held: held::Held,
    /// The file or folder that is looked at before it is opened.
    looking: Option<pending::Looking>,
    system_motion: SystemMotion,
    drive: grip::Drive,
    /// How wide the panels were in the last frame.
    sizes: Splits,
    /// The widget that is held while the options are changed.
    grip: grip::Grip,
    /// The window is to be closed, whatever is unsaved.
    closing: bool,
    timeline: Timeline,
    pipeline: PipelineView,
    inspector: Inspector,
    batches: BatchTable,
    plots: Plots,
    loaders: LoadersView,
    sampling: Sampling,
    jobs: jobs::Jobs,
    /// The program that is watched, and its arguments.
    program: Vec<OsString>,
    tries_in: PathBuf,
    /// Other arguments are tried on it.
    tries: Option<tries::Tries>,
    /// The recording that is being read, to compare the run with.
    comparing: Option<pending::Reading>,
    /// How many runs have been compared with.
    others: u64,
    headline: Option<Headline>,
    /// Which run the headline is about, and how far that was.
    headline_of: (u64, u64),
    headline_at: Instant,
    frame: Instant,
}

impl App {
    /// A window with what was remembered from the last time.
    pub fn new(ctx: &Context, prefs: Prefs, start: Start) -> Self {
        theme::install(ctx);
        let waker = ctx.clone();
        let wake: Waker = Arc::new(move || waker.request_repaint_after(LIVE_FRAME));
        let model = Model::new(Self::beginning(prefs, &start));
        let mut app = Self {
            state: match start.keeps_messages {
                true => model.with_log(),
                false => model,
            },
            session: None,
            kept: BTreeMap::new(),
            journal: start.journal,
            store: start.store,
            dialogs: Dialogs::new(Arc::clone(&wake)),
            system_motion: match start.still {
                true => SystemMotion::unasked(),
                false => SystemMotion::ask(Arc::clone(&wake)),
            },
            wake,
            held: held::Held::default(),
            looking: None,
            drive: grip::Drive::default(),
            sizes: Splits::default(),
            grip: grip::Grip::default(),
            closing: false,
            timeline: Timeline::default(),
            pipeline: PipelineView::default(),
            inspector: Inspector::default(),
            batches: BatchTable::default(),
            plots: Plots::default(),
            loaders: LoadersView::default(),
            sampling: Sampling::default(),
            jobs: jobs::Jobs::default(),
            program: start.program,
            tries_in: start.tries_in,
            tries: None,
            comparing: None,
            others: 0,
            headline: None,
            headline_of: (u64::MAX, 0),
            headline_at: Instant::now(),
            frame: Instant::now(),
        };
        app.check_options();
        app.offer_left_over(ctx, start.files.is_empty() && start.watched.is_none());
        if let Some(watched) = &start.watched {
            app.watch(ctx, watched);
        }
        app.open_all(ctx, &start.files);
        app
    }

    /// What is shown before anything has happened.
    pub fn beginning(prefs: Prefs, start: &Start) -> State {
        let motion = prefs.motion;
        State {
            prefs: Prefs {
                // With nothing to look at, a start is the welcome, whatever was looked at last.
                workspace: match start.files.is_empty() {
                    true => Workspace::default(),
                    false => prefs.workspace,
                },
                options: settled(prefs.options),
                ..prefs
            },
            look: Look {
                speed: 1.0,
                still: start.still || motion == Motion::Reduced,
                ..Look::default()
            },
            place: Place {
                no_engine: !session::HAS_ENGINE,
                datasets: session::datasets(),
                platform: desktop::PLATFORM,
                still_for_now: start.still,
                program: tries::shown(&start.program),
                keeps_journal: start.journal.is_some(),
                ..Place::default()
            },
            ..State::default()
        }
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
        self.state.prefs.clone()
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

    fn refresh_headline(&mut self) {
        let events = (
            self.state.session.run_number,
            self.state.session.run.events(),
        );
        // Of a long run it is a look at every wait, and numbers that change in every frame cannot be read.
        let soon = self.state.flows() && self.headline_at.elapsed() < HEADLINE;
        if self.headline_of != events && !(soon && self.headline.is_some()) {
            self.headline_of = events;
            self.headline_at = Instant::now();
            self.headline = Headline::of(&self.state.session.run);
        }
    }
}

impl eframe::App for App {
    fn logic(&mut self, ctx: &Context, _frame: &mut eframe::Frame) {
        theme::set_preference(ctx, self.state.prefs.theme);
        self.settle_motion(ctx);
        let elapsed = Nanos::from(self.frame.elapsed());
        self.frame = Instant::now();
        let more = self.drain(ctx) | self.drain_kept(ctx);
        self.hear_tries(ctx);
        if !more && self.session.as_ref().is_some_and(Session::was_asked_to_end) {
            // What was not saved stays in the journal.
            self.closing = true;
            ctx.send_viewport_cmd(ViewportCommand::Close);
        }
        self.take_other(ctx);
        self.take_look(ctx);
        self.refresh_headline();
        let answers: Vec<Command> = self.dialogs.answers().collect();
        for command in answers {
            self.run(ctx, command);
        }
        self.dropped_files(ctx);
        self.close_request(ctx);
        self.keys(ctx);
        self.tell(
            ctx,
            Message::Frame {
                // A frame after a long rest must not leap.
                elapsed: elapsed.min(Nanos::from_millis(100)),
                search: SEARCH,
            },
        );
        if let Some(answers) = self.jobs.update(ctx, &self.state) {
            self.tell(ctx, Message::Answered(Box::new(answers)));
        }
        let state = &self.state;
        if more || !state.look.search.is_complete(&state.session.run) {
            ctx.request_repaint();
        } else if state.session.playing || state.flows() {
            ctx.request_repaint_after(LIVE_FRAME);
        }
        self.keep_prefs(ctx);
    }

    fn ui(&mut self, ui: &mut Ui, _frame: &mut eframe::Frame) {
        let start = Instant::now();
        let ctx = ui.ctx().clone();
        self.tell(&ctx, Message::Drawing);
        let commands = self.show(ui);
        let acted = !commands.is_empty();
        for command in commands {
            self.run(&ctx, command);
        }
        // What a command changed is drawn at once, not with the next movement of the pointer.
        if acted && self.state.session.hovered != self.state.session.hovering {
            ctx.request_repaint();
        }
        if !self.state.place.still_for_now {
            let took = start.elapsed().as_secs_f32() * 1e3;
            self.tell(&ctx, Message::Drawn { ms: took });
        }
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
