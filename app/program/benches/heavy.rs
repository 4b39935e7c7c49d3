//! The longest frame during heavy work on a run of a million batches: it is opened, diagnosed, saved, exported and replaced. A folder of
//! many files is opened. The loader sends events while the run is shown.
//!
//! Prints a table of the longest and the median frame of each step, ms. No frame should take more than 16 ms. The third column is the
//! most CPU time of a frame: on a busy host, a frame also waits for a core. `BATCHES=100000` makes a shorter run.

#![allow(clippy::print_stdout, reason = "it prints what it measures")]
#![allow(
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "it makes files to measure with, and ends with what went wrong"
)]

mod recording;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use eframe::egui::{Context, Pos2, RawInput, Rect, vec2};
use eframe::{App as _, Frame};
use loadscope::window::{App, Start};
use loadscope_model::command::{Action, Command};
use loadscope_model::effect::Effect;
use loadscope_model::prefs::Prefs;
use loadscope_model::state::Source;
use loadscope_trace::{LogWriter, RunOptions};
use recording::Recording;

/// Allocator of the program.
#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: loadscope::allocator::Allocator = loadscope::allocator::Allocator;

/// Number of files in the listed folder.
const FILES: usize = 20_000;

/// Window without pixels.
struct Window {
    app: App,
    ctx: Context,
    frame: Frame,
    start: Instant,
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
        }
    }

    /// Draws a frame. Returns its time and its CPU time.
    fn frame(&mut self) -> (Duration, Duration) {
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, vec2(1440.0, 900.0))),
            time: Some(self.start.elapsed().as_secs_f64()),
            ..RawInput::default()
        };
        let (begun, cpu) = (Instant::now(), cpu_time());
        let (app, frame) = (&mut self.app, &mut self.frame);
        let mut output = self.ctx.run_ui(input, |ui| {
            app.logic(&ui.ctx().clone(), frame);
            app.ui(ui, frame);
        });
        // There is no renderer for textures.
        output.textures_delta.clear();
        drop(self.ctx.tessellate(output.shapes, output.pixels_per_point));
        (begun.elapsed(), cpu_time().saturating_sub(cpu))
    }

    /// Draws frames until `done`, for at least one second and at most two minutes. Prints the longest frame.
    fn watch(&mut self, what: &str, done: impl Fn(&App) -> bool) {
        let begun = Instant::now();
        let mut frames = Vec::new();
        loop {
            frames.push(self.frame());
            let since = begun.elapsed();
            if (since > Duration::from_secs(1) && done(&self.app))
                || since > Duration::from_secs(120)
            {
                break;
            }
            std::thread::sleep(Duration::from_millis(8));
        }
        let (mut times, mut cpu): (Vec<_>, Vec<_>) = frames.into_iter().unzip();
        times.sort_unstable();
        cpu.sort_unstable();
        let ms = |time: Option<&Duration>| time.map_or(0.0, Duration::as_secs_f64) * 1e3;
        println!(
            "| {what} | {:.1} | {:.1} | {:.1} | {} |",
            ms(times.last()),
            ms(times.get(times.len() / 2)),
            ms(cpu.last()),
            times.len()
        );
    }

    fn run(&mut self, command: impl Into<Command>) {
        let begun = Instant::now();
        self.app.run(&self.ctx.clone(), command.into());
        let took = begun.elapsed();
        if took > Duration::from_millis(16) {
            println!(
                "| (the command itself) | {:.1} | | | 1 |",
                took.as_secs_f64() * 1e3
            );
        }
    }
}

/// Returns the CPU time of this thread.
#[cfg(unix)]
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// Returns zero: the CPU time of a thread is not available on this platform.
#[cfg(not(unix))]
fn cpu_time() -> Duration {
    Duration::ZERO
}

fn write(path: &Path, batches: u32) {
    let mut log = LogWriter::create(path).expect("the folder is writable");
    Recording::batches(batches, 4)
        .for_each_event(|event| log.write(&event).expect("there is room"));
    log.finish().expect("there is room");
}

fn is_open(app: &App) -> bool {
    matches!(app.state.session.source, Source::Recording { .. })
}

fn main() {
    let batches = std::env::var("BATCHES").ok().and_then(|n| n.parse().ok());
    let batches = batches.unwrap_or(1_000_000);
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("run.jsonl.zst");
    write(&path, batches);
    let many = dir.path().join("many");
    fs::create_dir(&many).expect("there is room");
    for k in 0..FILES {
        fs::write(many.join(format!("{k:06}.jsonl")), "no recording\n").expect("there is room");
    }
    println!(
        "| {batches} batches | longest frame, ms | median, ms | most CPU time, ms | frames |\n|---|---|---|---|---|"
    );
    let mut window = Window::new();
    window.watch("nothing", |_| true);
    window.run(Command::Perform(Effect::Open(many)));
    window.watch("a folder of many files is looked at", |app| {
        app.state.overlay.checking_file.is_none()
    });
    window.run(Command::Perform(Effect::Open(path.clone())));
    window.watch("the recording is opened", is_open);
    window.watch("it is shown", |_| true);
    window.run(Action::ShowDiagnose);
    window.watch("it is diagnosed", |app| {
        app.state.session.results.diagnosis.what_if.is_some()
    });
    window.run(Action::ShowSampling);
    window.watch("its order is looked at", |app| {
        app.state.session.results.sampling.answers.is_some()
    });
    window.run(Action::ShowDebug);
    window.run(Command::SaveTo(dir.path().join("copy.jsonl.zst")));
    window.watch("it is saved", |app| app.state.session.saving.is_none());
    window.run(Command::ExportTo(dir.path().join("run.json.gz")));
    window.watch("it is exported", |app| {
        app.state.session.exporting.is_none()
    });
    window.run(Action::Close);
    window.watch("it is closed", |_| true);
    window.app.state.set_up().prefs.options = RunOptions {
        dataset: format!("synthetic:len={batches},cost_ms=0.01"),
        batch_size: Some(1),
        num_workers: 2,
        ..RunOptions::default()
    };
    window.run(Action::Simulate);
    window.watch("a run is simulated", |app| {
        app.state.session.source == Source::Finished
    });
    window.run(Command::SaveTo(dir.path().join("simulated.jsonl.zst")));
    window.watch("it is saved from memory", |app| {
        app.state.session.saving.is_none()
    });
    window.app.state.set_up().prefs.options = RunOptions {
        dataset: format!("synthetic:len={batches},cost_ms=0,shape=4"),
        batch_size: Some(1),
        num_workers: 2,
        epochs: 20,
        ..RunOptions::default()
    };
    window.run(Action::Run);
    let enough = u64::from(batches);
    window.watch("it is replaced by a live run", move |app| {
        app.state.session.run.events() > enough || app.state.session.source == Source::Finished
    });
    window.run(Action::ShowDiagnose);
    let until = Instant::now() + Duration::from_secs(10);
    window.watch("the live run is diagnosed", move |_| Instant::now() > until);
    window.run(Action::Stop);
}
