//! Cost of the open window for the loader. The same run is measured with and without the window, alternately, each in its own process. The
//! comparison is in batches per second and in CPU time.
//!
//! - `alone`: events are recorded and discarded, as by `loadscope run`
//! - `frames`: the window applies the events and draws its frames, without pixels, as with a graphics card
//! - `window`: a real window. Without a graphics card (`llvmpipe`), the same processors compute its pixels. Their time is printed
//!   separately. It needs a display, for example `xvfb-run -s "-screen 0 1920x1080x24" cargo bench -p loadscope --bench window`.
//!
//! `ROUNDS=5 SECONDS=4` measures for longer, `WARM_UP=20` starts to measure later.

#![allow(clippy::expect_used, reason = "it ends with what went wrong")]
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it prints what it measures"
)]

use std::collections::BTreeMap;
use std::process::Command as Process;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use eframe::egui::{self, Context, Pos2, RawInput, Rect, Ui, vec2};
use eframe::{App as _, Frame};
use loadscope::window::frame_pacing::computes_pixels;
use loadscope::window::{App, Start};
use loadscope_model::command::Action;
use loadscope_model::prefs::Prefs;
use loadscope_session::{Record, Session, SessionEvent};
use loadscope_trace::{EventKind, RunOptions, Stage};

use clock::{Clock, Measured, number};

mod clock;

/// Allocator of the program.
#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: loadscope::allocator::Allocator = loadscope::allocator::Allocator;

const FRAME: Duration = Duration::from_millis(33);

/// Returns the names and options of the measured runs.
fn works() -> [(&'static str, RunOptions); 4] {
    // 1,000,000 samples per epoch give the maximum number of batches of a run.
    let options = |dataset: &str, num_workers, batch_size| RunOptions {
        dataset: dataset.to_owned(),
        batch_size: Some(batch_size),
        num_workers,
        prefetch_factor: Some(4),
        epochs: 20 * batch_size as u32,
        ..RunOptions::default()
    };
    [
        // The workers only pass batches on, for the maximum rate of events.
        (
            "as fast as it can",
            options("synthetic:len=1000000,cost_ms=0,shape=4", 2, 4),
        ),
        // With two processors, one is left for everything else.
        (
            "1 worker computes",
            options("synthetic:len=1000000,cost_ms=0.1,cpu=true,shape=4", 1, 1),
        ),
        // All processors compute, as for a loader that does not keep up.
        (
            "2 workers compute",
            options("synthetic:len=1000000,cost_ms=0.1,cpu=true,shape=4", 2, 2),
        ),
        // Samples come from elsewhere, so the processors are idle.
        (
            "16 workers wait",
            options("synthetic:len=1000000,cost_ms=0.5,shape=4", 16, 2),
        ),
    ]
}

/// Measures a run without a window.
fn alone(options: &RunOptions, seconds: f64) -> Measured {
    let session = Session::start(options, Record::Memory, Arc::new(|| {})).expect("sound options");
    let mut clock = Clock::new(seconds);
    let (mut batches, mut events) = (0, 0);
    let (from, to) = clock.range();
    while !clock.is_over() {
        for event in session.events.try_iter() {
            let new = match event {
                SessionEvent::Events(new) => new,
                SessionEvent::Failed(error) => panic!("the run failed: {error}"),
                _ => continue,
            };
            for event in new.iter().filter(|e| e.at >= from && e.at < to) {
                events += 1;
                let stage = Stage::Training;
                batches += usize::from(
                    matches!(event.kind, EventKind::Entered { stage: s, .. } if s == stage),
                );
            }
        }
        std::thread::sleep(FRAME);
    }
    Measured {
        batches: batches as f64 / seconds,
        events: events as f64 / seconds,
        ..clock.measured()
    }
}

fn app(ctx: &Context, options: &RunOptions, computes_pixels: bool) -> App {
    let start = Start {
        computes_pixels,
        ..Start::default()
    };
    let mut app = App::new(ctx, Prefs::default(), start);
    app.state.set_up().prefs.options = options.clone();
    app.run(ctx, Action::Run.into());
    app
}

/// Returns the counts of the window, after it has received all events before the end of the clock.
fn seen(app: &mut App, ctx: &Context, frame: &mut Frame, clock: &Clock) -> Measured {
    let measured = clock.measured();
    std::thread::sleep(Duration::from_millis(200));
    let (from, to) = clock.range();
    let patience = Instant::now() + Duration::from_secs(20);
    while app.state.session.run.end() < to {
        assert!(Instant::now() < patience, "the run has not come so far");
        app.logic(ctx, frame);
    }
    let run = &app.state.session.run;
    let yields = run.yields();
    let batches = yields.before(to).saturating_sub(yields.before(from));
    let share = (to - from).0 as f64 / run.end().0.max(1) as f64;
    Measured {
        batches: batches as f64 / clock.seconds,
        events: run.events() as f64 * share / clock.seconds,
        lost: run.dropped(),
        ..measured
    }
}

/// Time of the next requested frame, as a window system stores it.
#[derive(Clone, Default)]
struct Due(Arc<Mutex<Option<Instant>>>);

impl Due {
    fn sooner(&self, delay: Duration) {
        let due = Instant::now().checked_add(delay);
        let mut kept = self.0.lock().expect("no one panics with it");
        *kept = kept.into_iter().chain(due).min();
    }

    /// Returns true once a frame is due.
    fn take(&self) -> bool {
        let mut kept = self
            .0
            .lock()
            .expect("no thread panics while it holds the lock");
        kept.take_if(|due| *due <= Instant::now()).is_some()
    }
}

/// Measures a run with the window, without pixels.
fn frames(options: &RunOptions, seconds: f64) -> Measured {
    let ctx = Context::default();
    ctx.set_pixels_per_point(1.0);
    let due = Due::default();
    let asked = due.clone();
    ctx.set_request_repaint_callback(move |info| asked.sooner(info.delay));
    due.sooner(Duration::ZERO);
    let mut app = app(&ctx, options, false);
    let mut frame = Frame::_new_kittest();
    let mut clock = Clock::new(seconds);
    let start = Instant::now();
    while !clock.is_over() {
        if !due.take() {
            std::thread::sleep(Duration::from_millis(2));
            continue;
        }
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, vec2(1440.0, 900.0))),
            time: Some(start.elapsed().as_secs_f64()),
            ..RawInput::default()
        };
        let mut output = ctx.run_ui(input, |ui| {
            app.logic(&ui.ctx().clone(), &mut frame);
            app.ui(ui, &mut frame);
        });
        output.textures_delta.clear();
        for viewport in output.viewport_output.values() {
            // A screen with 60 Hz shows no more frames.
            let least = Duration::from_millis(16);
            due.sooner(viewport.repaint_delay.max(least));
        }
        let painted = ctx.tessellate(output.shapes, output.pixels_per_point);
        clock.frames += usize::from(!painted.is_empty());
    }
    seen(&mut app, &ctx, &mut frame, &clock)
}

/// Real window that runs until the clock ends.
struct Timed {
    app: App,
    clock: Clock,
}

impl eframe::App for Timed {
    fn logic(&mut self, ctx: &Context, frame: &mut Frame) {
        self.app.logic(ctx, frame);
        if self.clock.is_over() {
            seen(&mut self.app, ctx, frame, &self.clock).print();
            // Closing it would ask about the unsaved run.
            self.app.on_exit(None);
            std::process::exit(0);
        }
    }

    fn ui(&mut self, ui: &mut Ui, frame: &mut Frame) {
        self.clock.frames += 1;
        self.app.ui(ui, frame);
    }
}

fn window(options: &RunOptions, seconds: f64) -> Measured {
    let native = eframe::NativeOptions {
        renderer: eframe::Renderer::Glow,
        viewport: egui::ViewportBuilder::default().with_inner_size([1440.0, 900.0]),
        persist_window: false,
        ..eframe::NativeOptions::default()
    };
    let options = options.clone();
    let made = eframe::run_native(
        "loadscope-bench",
        native,
        Box::new(move |cc| {
            Ok(Box::new(Timed {
                app: app(&cc.egui_ctx, &options, computes_pixels(cc.gl.as_deref())),
                clock: Clock::new(seconds),
            }))
        }),
    );
    made.expect("a display and OpenGL");
    unreachable!("the process ends with the clock");
}

/// Measures one run in its own process.
fn measure(mode: &str, work: usize) -> Option<Vec<f64>> {
    let own = std::env::current_exe().ok()?;
    let run = Process::new(own)
        .args(["--one", mode, &work.to_string()])
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&run.stdout);
    let line = text.lines().find_map(|l| l.strip_prefix("measured "));
    if line.is_none() {
        eprintln!("{mode}: {}", String::from_utf8_lossy(&run.stderr));
    }
    Some(line?.split(' ').filter_map(|n| n.parse().ok()).collect())
}

/// Returns the median.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn main() {
    let seconds = number("SECONDS", 2.0);
    let works = works();
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(at) = arguments.iter().position(|a| a == "--one") {
        let (mode, work) = (arguments[at + 1].as_str(), arguments[at + 2].as_str());
        let work: usize = work.parse().expect("the number of a work");
        let options = &works[work].1;
        let m = match mode {
            "alone" => alone(options, seconds),
            "frames" => frames(options, seconds),
            _ => window(options, seconds),
        };
        m.print();
        return;
    }
    let rounds = number("ROUNDS", 3.0) as usize;
    let has_display = ["DISPLAY", "WAYLAND_DISPLAY"].map(std::env::var_os);
    let mut modes = vec!["alone", "frames"];
    if has_display.iter().any(Option::is_some) {
        modes.push("window");
    } else {
        println!("no display: without a real window");
    }
    for (work, (name, _)) in works.iter().enumerate() {
        let mut all: BTreeMap<&str, Vec<Vec<f64>>> = BTreeMap::new();
        for _ in 0..rounds {
            for mode in &modes {
                all.entry(mode).or_default().extend(measure(mode, work));
            }
        }
        let middle = |mode: &str, k: usize| {
            let of = all.get(mode).into_iter().flatten();
            median(of.filter_map(|m| m.get(k).copied()).collect())
        };
        for mode in &modes {
            let of = |k| middle(mode, k);
            // Each round is compared separately, to cancel the effect of other load on the host.
            let pairs = all
                .get("alone")
                .into_iter()
                .flatten()
                .zip(all.get(mode).into_iter().flatten());
            let lost = median(pairs.map(|(a, b)| (1.0 - b[0] / a[0]) * 100.0).collect());
            println!(
                "{name:<18} {mode:<7} {:8.0} batches/s  {:8.0} events/s  {lost:5.1} % slower  {:3.0} frames/s  \
                 processors: window {:4.2}, pixels {:4.2}, all {:4.2}   {:.0} events lost",
                of(0),
                of(1),
                of(2),
                of(3),
                of(4),
                of(5),
                of(6)
            );
        }
    }
}
