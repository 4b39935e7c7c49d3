//! Time of whole frames of the window without a screen: layout, painting and tessellation by egui. Prints the median and the 99th
//! percentile, because a mean would hide stutter.
//!
//! - panning, zooming and pointing in a recording of a million spans
//! - scrolling through the table of a million batches
//! - stepping with and without gliding batches
//! - a live run of 100,000 events per second, applied between frames as in the window

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it prints what it measures"
)]

use std::time::{Duration, Instant};

use eframe::egui::{
    self, Context, Event as Input, Modifiers, MouseWheelSource, MouseWheelUnit, Pos2, RawInput,
    Rect, TouchPhase, pos2, vec2,
};
use eframe::{App as _, Frame};
use loadscope::window::{App, Start};
use loadscope_model::command::{Action, Command};
use loadscope_model::prefs::Prefs;
use loadscope_model::state::Source;
use loadscope_model::view::{Cursor, Item, LowerPanel, TimeView};
use loadscope_trace::{Event, Nanos, Run, RunInfo};

mod recording;

use recording::Recording;

/// Allocator of the program. The placement of large lists affects the speed of iterating over them.
#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: loadscope::allocator::Allocator = loadscope::allocator::Allocator;

const SCREEN: egui::Vec2 = vec2(1920.0, 1080.0);
const FRAMES: usize = 600;

/// Window without a screen.
struct Window {
    ctx: Context,
    app: App,
    frame: Frame,
    time: f64,
    /// Number of triangles for the renderer.
    triangles: usize,
}

impl Window {
    fn new(run: Run) -> Self {
        Self::moving(run, false)
    }

    /// Creates a window with or without animations.
    fn moving(run: Run, moves: bool) -> Self {
        let ctx = Context::default();
        ctx.set_pixels_per_point(1.0);
        let start = Start {
            still: !moves,
            ..Start::default()
        };
        let mut app = App::new(&ctx, Prefs::default(), start);
        app.state.set_up().session.run = run;
        app.state.set_up().session.source = Source::Recording {
            path: "bench.jsonl".into(),
            cut: false,
        };
        Self {
            ctx,
            app,
            frame: Frame::_new_kittest(),
            time: 0.0,
            triangles: 0,
        }
    }

    /// Draws a frame and returns its CPU time.
    fn frame(&mut self, events: Vec<Input>) -> Duration {
        self.time += 1.0 / 60.0;
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, SCREEN)),
            time: Some(self.time),
            events,
            ..RawInput::default()
        };
        let start = Instant::now();
        let (app, frame) = (&mut self.app, &mut self.frame);
        let output = self.ctx.run_ui(input, |ui| {
            app.logic(&ui.ctx().clone(), frame);
            app.ui(ui, frame);
        });
        let painted = self.ctx.tessellate(output.shapes, output.pixels_per_point);
        let took = start.elapsed();
        let meshes = painted.iter().map(|p| match &p.primitive {
            egui::epaint::Primitive::Mesh(mesh) => mesh.indices.len() / 3,
            egui::epaint::Primitive::Callback(_) => 0,
        });
        self.triangles = meshes.sum();
        took
    }
}

/// Prints the times of frames. Returns the 99th percentile, ms.
fn report(name: &str, mut took: Vec<Duration>, triangles: usize) -> f64 {
    if std::env::var_os("SLOWEST").is_some() {
        let mut slow: Vec<(Duration, usize)> = took.iter().copied().zip(0..).collect();
        slow.sort_unstable_by(|a, b| b.cmp(a));
        slow.truncate(12);
        println!("    {slow:.1?}");
    }
    took.sort_unstable();
    let at = |share: f64| took[((took.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    println!(
        "{name:<44} median {:6.2} ms   p99 {:6.2} ms   longest {:6.2} ms   {triangles} triangles",
        at(0.5),
        at(0.99),
        at(1.0)
    );
    at(0.99)
}

fn pan(window: &mut Window, name: &str, length: impl Fn(Nanos) -> Nanos) {
    let end = window.app.state.session.run.end();
    let length = length(end);
    for _ in 0..20 {
        window.frame(Vec::new());
    }
    let room = (end - length).0;
    let took = (0..FRAMES).map(|k| {
        let start = Nanos((room as f64 * k as f64 / FRAMES as f64) as i64);
        window.app.state.set_up().session.view = Some(TimeView::new(start, start + length));
        // The pointer moves over the lanes, so that the frames include hovering.
        let x = 500.0 + (k as f32 * 7.3) % 1_000.0;
        let y = 620.0 + (k as f32 * 3.1) % 400.0;
        window.frame(vec![Input::PointerMoved(pos2(x, y))])
    });
    let took = took.collect();
    report(name, took, window.triangles);
}

fn panning() {
    let run = Recording::workers(16, 1_000_000).run();
    let mut window = Window::new(run);
    pan(&mut window, "pan, a twentieth of 1M spans", |end| {
        Nanos(end.0 / 20)
    });
    pan(&mut window, "pan, a thousandth", |end| Nanos(end.0 / 1_000));
    pan(&mut window, "pan, 5 ms", |_| Nanos::from_millis(5));
    let ctx = window.ctx.clone();
    let select = Command::Select(Some(Item::Batch(60_000)));
    window.app.run(&ctx, select);
    pan(&mut window, "pan, a tenth, a batch selected", |end| {
        Nanos(end.0 / 10)
    });
    window.app.run(&ctx, Command::Select(None));
    let end = window.app.state.session.run.end();
    let took = (0..FRAMES).map(|k| {
        let factor = 0.5f64.powf(k as f64 / FRAMES as f64 * 18.0);
        let view = TimeView::new(Nanos::ZERO, end).zoomed(Nanos(end.0 / 3), factor);
        window.app.state.set_up().session.view = Some(view);
        window.frame(Vec::new())
    });
    let took = took.collect();
    report("zoom, from all of it to 1 ms", took, window.triangles);
    window.app.state.set_up().session.view = None;
    let took = (0..FRAMES).map(|_| window.frame(Vec::new())).collect();
    report("nothing changes", took, window.triangles);
}

/// Scrolls through the table of a million batches, from the first row to the last.
fn table() {
    let run = Recording::workers(16, 7_000_000).run();
    let rows = run.batches().len();
    let mut window = Window::new(run);
    window.app.state.set_up().look.lower = LowerPanel::Batches;
    window.app.state.set_up().session.source = Source::Finished;
    let first = (0..3).map(|_| window.frame(Vec::new())).collect();
    report(&format!("table of {rows} rows, its first frames"), first, 0);
    let over = pos2(900.0, 900.0);
    window.frame(vec![Input::PointerMoved(over)]);
    let took = (0..FRAMES).map(|_| {
        let wheel = Input::MouseWheel {
            unit: MouseWheelUnit::Point,
            delta: vec2(0.0, -(rows as f32) * 22.0 / FRAMES as f32),
            phase: TouchPhase::Move,
            source: MouseWheelSource::Unknown,
            modifiers: Modifiers::default(),
        };
        window.frame(vec![Input::PointerMoved(over), wheel])
    });
    let took = took.collect();
    report("table, scrolled to its end", took, window.triangles);
}

/// Steps through a recording three times per second, with and without gliding. Measures the frames while batches glide. Afterwards, no
/// frame may be requested.
fn gliding() {
    const A_STEP: usize = 20;
    for (moves, name) in [
        (false, "stepping, nothing glides"),
        (true, "stepping, batches glide"),
    ] {
        let mut window = Window::moving(Recording::workers(16, 20_000).run(), moves);
        let ctx = window.ctx.clone();
        let middle = Nanos(window.app.state.session.run.end().0 / 2);
        window.app.run(&ctx, Command::Cursor(Cursor::At(middle)));
        for _ in 0..A_STEP {
            window.frame(Vec::new());
        }
        let mut took = Vec::new();
        for k in 0..FRAMES {
            if k % A_STEP == 0 {
                window.app.run(&ctx, Action::StepForward.into());
                window.frame(Vec::new());
            }
            let one = window.frame(Vec::new());
            // Batches glide for three quarters of a step.
            if k % A_STEP < A_STEP * 3 / 4 {
                took.push(one);
            }
        }
        report(name, took, window.triangles);
        for _ in 0..A_STEP {
            window.frame(Vec::new());
        }
        let asks = ctx.has_requested_repaint();
        println!(
            "    afterwards another frame is {}",
            if asks { "ASKED FOR" } else { "not asked for" }
        );
    }
}

/// Applies events at this rate and draws 30 frames per second.
fn live(rate: usize) {
    let events = Recording::workers(16, 700_000).events();
    let mut window = Window::new(Run::new(RunInfo::default()));
    window.app.state.set_up().session.source = Source::Live { paused: false };
    let a_frame = rate / 30;
    let mut took = Vec::new();
    let mut apply = Duration::ZERO;
    for chunk in events.chunks(a_frame) {
        let start = Instant::now();
        chunk
            .iter()
            .for_each(|e: &Event| window.app.state.set_up().session.run.apply(e));
        let taken_in = start.elapsed();
        apply += taken_in;
        took.push(taken_in + window.frame(Vec::new()));
    }
    let frames = took.len();
    let total: Duration = took.iter().sum();
    let name = format!("live, {rate} events a second");
    let worst = report(&name, took, window.triangles);
    println!(
        "    {frames} frames of {a_frame} events; {:.0} ns to take in an event; the processor is busy for {:.0} % of 33 ms{}",
        apply.as_nanos() as f64 / events.len() as f64,
        total.as_secs_f64() / frames as f64 / 0.033_333 * 100.0,
        if worst < 33.3 { "" } else { ": TOO SLOW" },
    );
}

fn main() {
    if std::env::var_os("LIVE").is_none() {
        panning();
        table();
        gliding();
    }
    live(100_000);
    live(1_000_000);
}
