//! Layout and mesh of a million spans on 16 lanes, for a screen 1920 pixels wide.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it prints what it measures"
)]

use std::collections::BTreeSet;

use criterion::{Criterion, criterion_group, criterion_main};
use eframe::egui::Rangef;
use loadscope_insight::waits::LongWaits;
use loadscope_model::view::TimeView;
use loadscope_trace::{BatchId, Event, EventKind, Lane, Nanos, Run, RunId, RunInfo, Stage, Track};
use loadscope_ui::theme::Palette;
use loadscope_ui::timeline::axis::TimeAxis;
use loadscope_ui::timeline::canvas::Canvas;
use loadscope_ui::timeline::lanes::Lanes;
use loadscope_ui::timeline::layout::{Grid, lay_out};
use loadscope_ui::timeline::paint::Painted;
use loadscope_ui::timeline::stacks::Stacks;

/// Allocator of the program. The placement of large lists affects the speed of iterating over them.
#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: loadscope::allocator::Allocator = loadscope::allocator::Allocator;

const WORKERS: u16 = 16;
const SPANS: u32 = 1_000_000;

/// Returns a run of workers that fetch and collate, with pauses. No batch is queued or trained on, so all spans are on 16 lanes.
fn run() -> Run {
    let mut run = Run::new(RunInfo::default());
    let mut events = Vec::new();
    let mut tell = |at, kind| {
        events.push(Event {
            at: Nanos(at),
            run: RunId(0),
            kind,
        });
    };
    tell(0, EventKind::EpochStarted { epoch: 0 });
    let mut free = [0; WORKERS as usize];
    let mut noise = 1u32;
    for idx in 0..SPANS / 2 {
        noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        // Batches have numbers in the order of dispatch.
        let worker = (0..WORKERS)
            .min_by_key(|w| free[usize::from(*w)])
            .unwrap_or(0);
        let batch = BatchId { epoch: 0, idx };
        let at = &mut free[usize::from(worker)];
        tell(*at, EventKind::dispatched(batch, Some(worker), []));
        for (stage, time) in [
            (Stage::Fetching, 20_000),
            (Stage::Collating, 3_000),
            (Stage::Done, 0),
        ] {
            tell(*at, EventKind::Entered { batch, stage });
            *at += time + i64::from(noise >> 17);
        }
        *at += i64::from(noise >> 20);
    }
    events.sort_by_key(|e| e.at);
    events.iter().for_each(|e| run.apply(e));
    let spans = |(lane, _)| {
        run.track(Track { lane, row: 0 })
            .map_or(0, |t| t.all().len())
    };
    let workers = run
        .lanes()
        .filter(|(lane, _)| matches!(lane, Lane::Worker(_)));
    assert_eq!(workers.map(spans).sum::<usize>(), SPANS as usize);
    run
}

fn bench(c: &mut Criterion) {
    let run = run();
    let lanes = Lanes::of(&run, &BTreeSet::new());
    let mut frame = |name: &str, view: TimeView| {
        let axis = TimeAxis::new(view, Rangef::new(0.0, 1920.0), 1.0);
        let canvas = Canvas {
            stacks: &Stacks::default(),
            run: &run,
            axis,
            lanes: &lanes,
            top: 0.0,
            visible: Rangef::new(0.0, 4_000.0),
            palette: &Palette::DARK,
            selection: None,
            long: &LongWaits::default(),
        };
        let mut painted = Painted::default();
        painted.repaint(&canvas);
        println!(
            "{name}: {} rectangles, {} labels",
            painted.mesh.indices.len() / 6,
            painted.labels.len()
        );
        c.bench_function(name, |b| b.iter(|| painted.repaint(&canvas)));
        let grid = Grid::new(&axis, run.end());
        let mut drawn = Vec::new();
        c.bench_function(&format!("{name}, layout alone"), |b| {
            b.iter(|| {
                drawn.clear();
                for lane in &lanes.boxes {
                    lane.tracks()
                        .filter_map(|t| run.track(t))
                        .for_each(|t| lay_out(t, &grid, &mut drawn));
                }
                drawn.len()
            });
        });
    };
    let end = run.end();
    let part = |share: i64| TimeView::new(Nanos(end.0 / 2), Nanos(end.0 / 2 + end.0 / share));
    frame("1M spans, all of them", TimeView::new(Nanos::ZERO, end));
    frame("1M spans, a hundredth", part(100));
    frame("1M spans, zoomed in", part(10_000));
}

criterion_group!(benches, bench);
criterion_main!(benches);
