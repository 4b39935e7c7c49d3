//! The window with run after run: live runs that are diagnosed and paused, and recordings that are opened, played, diagnosed, saved and
//! opened again. Each replaces the previous one.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use eframe::egui::{Context, Pos2, RawInput, Rect, vec2};
use eframe::{App as _, Frame};
use loadscope::window::{App, Start};
use loadscope_model::command::{Action, Command};
use loadscope_model::effect::Effect;
use loadscope_model::message::Message;
use loadscope_model::prefs::Prefs;
use loadscope_model::state::Source;
use loadscope_session::SessionEvent;
use loadscope_trace::{Event, LogWriter, count};

use crate::job::Job;
use crate::training::Training;

/// Maximum number of events per run.
const EVENTS: u64 = 1_000_000;
/// Number of times that each run is applied: live, opened, opened again.
const TIMES: u64 = 3;
/// Minimum number of rounds, so that memory kept from the first runs is negligible.
const ROUNDS: u64 = 100;
/// Number of events per message, as from a session.
const CHUNK: usize = 1024;
/// Number of messages between two frames.
const CHUNKS: usize = 16;
/// Timeout for everything that the window waits for.
const PATIENCE: Duration = Duration::from_secs(600);

/// Shows run after run.
///
/// # Errors
/// If something cannot be written or times out.
pub fn run(job: &Job) -> Result<()> {
    let of_run = (job.events / TIMES / ROUNDS).clamp(1_000, EVENTS);
    let mut window = Window::new();
    let mut training = Training::new(job.seed, job.events / TIMES);
    let (mut folded, mut rounds, mut different) = (0, 0_u64, 0_u64);
    while folded < job.events {
        let first = job.folder.join(format!("run-{rounds}.jsonl.zst"));
        let again = job.folder.join(format!("again-{rounds}.jsonl.zst"));
        let mut events: Vec<Event> = (0..of_run).map(|_| training.next()).collect();
        events.extend(training.end());
        write(&first, &events)?;
        let live = window.apply_live_run(events, &mut |more| {
            folded += more;
            job.monitor.done(folded);
        })?;
        for (path, copy) in [(&first, Some(&again)), (&again, None)] {
            let opened = window.open(path, copy)?;
            different += u64::from(opened != live);
            folded += opened;
            job.monitor.done(folded);
        }
        for path in [&first, &again] {
            fs::remove_file(path).with_context(|| path.display().to_string())?;
        }
        rounds += 1;
        training = Training::new(job.seed.wrapping_add(rounds), job.events / TIMES);
    }
    job.monitor.finish();
    let text = format!(
        "{} rounds with {} events each: live with a pause and a diagnosis, opened, diagnosed, played, saved, opened again, {} frames",
        count(rounds),
        count(of_run),
        count(window.frames)
    );
    job.monitor.row("actions", &text, None);
    let what = "recordings that have the same events when they are opened";
    job.monitor.share(what, rounds * 2 - different, rounds * 2);
    Ok(())
}

fn write(path: &Path, events: &[Event]) -> Result<()> {
    let mut log = LogWriter::create(path)?;
    for event in events {
        log.write(event)?;
    }
    log.finish()?;
    Ok(())
}

/// Window without a screen.
struct Window {
    app: App,
    ctx: Context,
    frame: Frame,
    start: Instant,
    frames: u64,
}

impl Window {
    fn new() -> Self {
        let ctx = Context::default();
        ctx.set_pixels_per_point(1.0);
        let mut app = App::new(&ctx, Prefs::default(), Start::default());
        app.state.set_up().prefs.asks = false;
        Self {
            app,
            ctx,
            frame: Frame::_new_kittest(),
            start: Instant::now(),
            frames: 0,
        }
    }

    fn draw(&mut self) {
        self.frames += 1;
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, vec2(1440.0, 900.0))),
            time: Some(self.start.elapsed().as_secs_f64()),
            ..RawInput::default()
        };
        let (app, frame) = (&mut self.app, &mut self.frame);
        let mut output = self.ctx.run_ui(input, |ui| {
            app.logic(&ui.ctx().clone(), frame);
            app.ui(ui, frame);
        });
        // There is no renderer for textures.
        output.textures_delta.clear();
        drop(self.ctx.tessellate(output.shapes, output.pixels_per_point));
    }

    /// Draws frames until `is_so` is true.
    fn until(&mut self, what: &str, is_so: impl Fn(&App) -> bool) -> Result<()> {
        let begun = Instant::now();
        while !is_so(&self.app) {
            if begun.elapsed() > PATIENCE {
                let notices = &self.app.state.session.notices;
                bail!("{what}: it does not come. The window says {notices:?}");
            }
            self.draw();
            std::thread::sleep(Duration::from_millis(2));
        }
        Ok(())
    }

    fn run(&mut self, command: impl Into<Command>) {
        let ctx = self.ctx.clone();
        self.app.run(&ctx, command.into());
    }

    /// Applies a run as it arrives from a session. Returns its number of events.
    fn apply_live_run(
        &mut self,
        events: Vec<Event>,
        progress: &mut impl FnMut(u64),
    ) -> Result<u64> {
        self.run(Action::Close);
        self.run(Action::ShowDebug);
        let source = Source::Live { paused: false };
        let watched = false;
        let _ = self.app.state.apply(Message::Begun { source, watched });
        let half = events.len() / 2;
        let (mut taken, mut has_paused) = (0, false);
        let mut events = events.into_iter();
        loop {
            for _ in 0..CHUNKS {
                let chunk: Vec<Event> = events.by_ref().take(CHUNK).collect();
                taken += chunk.len();
                progress(chunk.len() as u64);
                let _ = self
                    .app
                    .state
                    .apply(Message::Session(SessionEvent::Events(chunk)));
            }
            self.draw();
            if taken >= half && !has_paused {
                has_paused = true;
                self.pause()?;
            }
            if events.as_slice().is_empty() {
                break;
            }
        }
        let _ = self
            .app
            .state
            .apply(Message::Session(SessionEvent::Ended(None)));
        self.diagnose()?;
        Ok(self.app.state.session.run.events())
    }

    /// Pauses the run, navigates, and resumes.
    fn pause(&mut self) -> Result<()> {
        self.run(Action::PauseResume);
        for action in [Action::StepBack, Action::LongestWait, Action::FollowLive] {
            self.run(action);
            self.draw();
        }
        self.run(Action::PauseResume);
        Ok(())
    }

    /// Waits for the findings and the forecasts.
    fn diagnose(&mut self) -> Result<()> {
        self.run(Action::ShowDiagnose);
        self.until("the diagnosis", |app| {
            let answers = &app.state.session.results.diagnosis;
            answers.look.is_some() && (answers.what_if.is_some() || answers.refusal.is_some())
        })?;
        self.draw();
        self.run(Action::ShowDebug);
        Ok(())
    }

    /// Opens a recording, plays it, and saves it to `copy`, if given. Returns its number of events.
    fn open(&mut self, path: &Path, copy: Option<&PathBuf>) -> Result<u64> {
        self.run(Command::Perform(Effect::Open(path.to_owned())));
        self.until("the recording is opened", |app| {
            matches!(&app.state.session.source, Source::Recording { path: opened, .. } if opened == path)
        })?;
        self.run(Action::PauseResume);
        for _ in 0..10 {
            self.draw();
        }
        self.run(Action::PauseResume);
        if let Some(copy) = copy {
            self.diagnose()?;
            self.run(Command::SaveTo(copy.clone()));
            self.until("the recording is saved", |app| {
                app.state.session.saving.is_none()
            })?;
        }
        Ok(self.app.state.session.run.events())
    }
}
