//! Analysis and image of ten million indices in random order, and plots of a run of half a million batches while panning.

#![allow(clippy::expect_used, reason = "it ends with what went wrong")]

use std::sync::Arc;

use criterion::{Criterion, criterion_group, criterion_main};
use eframe::egui::{Context, RawInput, Rect, pos2};
use loadscope_insight::Datasets;
use loadscope_insight::background::Progress;
use loadscope_insight::sampling::analysis::{Question, answer};
use loadscope_insight::sampling::order::{Digest, Order};
use loadscope_insight::sampling::predict;
use loadscope_insight::sampling::raster::{Raster, Window};
use loadscope_model::state::{SessionState, State};
use loadscope_model::view::TimeView;
use loadscope_trace::{BatchId, Event, EventKind, Nanos, Run, RunId, RunInfo, RunOptions, Stage};
use loadscope_ui::panels::plots::Plots;

const INDICES: u64 = 10_000_000;

/// Returns the embedded loader's order for `shuffle=True`.
fn order() -> Order {
    let options = RunOptions {
        dataset: format!("synthetic:len={INDICES}"),
        batch_size: Some(256),
        shuffle: true,
        seed: Some(1),
        ..RunOptions::default()
    };
    let mut order = Order::default();
    predict::epochs(&options, 0, Datasets::default(), &mut |epoch| {
        epoch.batches().for_each(|b| order.push(b, None, None));
        true
    })
    .expect("the options are sound");
    order
}

fn orders(c: &mut Criterion) {
    let order = Arc::new(order());
    let question = Question {
        recorded: Some(Arc::clone(&order)),
        len: Some(INDICES),
        is_complete: true,
        ..Question::default()
    };
    let mut group = c.benchmark_group("10M indices");
    group.sample_size(10);
    group.bench_function("all answers", |b| {
        b.iter(|| answer(&question, &Progress::default()).map(|a| a.map(|a| a.coverage.distinct)));
    });
    group.bench_function("digest", |b| b.iter(|| Digest::of(&order)));
    let whole = Window::whole(order.indices.len(), INDICES);
    group.bench_function("picture of 1000 × 700 pixels", |b| {
        b.iter(|| Raster::of(&order.indices, &whole, (1000, 700), 1).max);
    });
    group.finish();
}

fn run(batches: u32) -> Run {
    let mut run = Run::new(RunInfo::default());
    let mut now = 0;
    let mut tell = |step, kind| {
        now += step;
        run.apply(&Event {
            at: Nanos(now),
            run: RunId(0),
            kind,
        });
    };
    tell(0, EventKind::EpochStarted { epoch: 0 });
    for idx in 0..batches {
        let batch = BatchId { epoch: 0, idx };
        let worker = (idx % 16) as u16;
        tell(1_000, EventKind::dispatched(batch, Some(worker), [1, 2]));
        for (step, stage) in [
            (9_000, Stage::Fetching),
            (2_000, Stage::Collating),
            (3_000, Stage::Returning),
            (500, Stage::Ready),
            (500, Stage::Training),
            (4_000, Stage::Done),
        ] {
            tell(step, EventKind::Entered { batch, stage });
        }
    }
    run
}

fn plots(c: &mut Criterion) {
    let mut state = State {
        session: SessionState {
            run: run(500_000),
            ..SessionState::default()
        },
        ..State::default()
    };
    let ctx = Context::default();
    loadscope_ui::theme::install(&ctx);
    let mut plots = Plots::default();
    let mut frame = |state: &State| {
        let input = RawInput {
            screen_rect: Some(Rect::from_min_max(pos2(0.0, 0.0), pos2(1350.0, 620.0))),
            ..RawInput::default()
        };
        let mut output = ctx.run_ui(input, |ui| drop(plots.show(ui, state)));
        // No textures are uploaded here.
        output.textures_delta.clear();
        output.shapes.len()
    };
    // The plots apply the recorded data in pieces.
    for _ in 0..20 {
        frame(&state);
    }
    let end = state.session.run.end();
    let mut start = 0;
    c.bench_function("plots of 500k batches, a frame while panning", |b| {
        b.iter(|| {
            start = (start + 1_000_003) % (end.0 / 2);
            state.session.view = Some(TimeView::new(Nanos(start), Nanos(start + end.0 / 2)));
            frame(&state)
        });
    });
}

criterion_group!(benches, orders, plots);
criterion_main!(benches);
