//! Time travel in a million batches: the pipeline at a random instant, the next stall, and the state of all buttons in each frame.
//! Also a search in ten million samples.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it prints what it measures"
)]

use std::hint::black_box;
use std::time::Duration;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use loadscope::desktop;
use loadscope_insight::landmarks::{Goal, Landmarks};
use loadscope_insight::search::Search;
use loadscope_model::command::Action;
use loadscope_model::state::{SessionState, Source, State, ViewState};
use loadscope_model::update::obstacle;
use loadscope_model::view::Cursor;
use loadscope_trace::{
    BatchId, Event, EventKind, Fetched, Nanos, Run, RunId, RunInfo, SampleTiming, Stage,
};

const BATCHES: u32 = 1_000_000;
const SAMPLES: u32 = 10;
/// Interval between two dispatches, ns.
const TICK: i64 = 50_000;

/// Returns a run with `window` batches in flight at all times. Every 50,000th wait of the trainer is long, the others are negligible.
fn run(batches: u32, window: u32, samples: u32) -> Run {
    let mut run = Run::new(RunInfo::default());
    let mut tell = |at: i64, kind| {
        run.apply(&Event {
            at: Nanos(at),
            run: RunId(0),
            kind,
        });
    };
    tell(0, EventKind::EpochStarted { epoch: 0 });
    let id = |idx| BatchId { epoch: 0, idx };
    let mut at = 0;
    for tick in 0..batches + window {
        at += TICK;
        if tick < batches {
            let first = u64::from(tick) * u64::from(samples);
            let indices: Vec<u64> = (first..first + u64::from(samples)).collect();
            tell(
                at,
                EventKind::dispatched(id(tick), Some((tick % 16) as u16), indices),
            );
        }
        let mut step = |share: u32, stage| {
            let idx = tick
                .checked_sub(window * share / 8)
                .filter(|i| *i < batches);
            if let Some(idx) = idx {
                if stage == Stage::Training {
                    // The previous step is over.
                    if let Some(last) = idx.checked_sub(1) {
                        let (batch, stage) = (id(last), Stage::Done);
                        tell(at, EventKind::Entered { batch, stage });
                    }
                    tell(at, EventKind::Consumer { waiting: true });
                    at += if idx % 50_000 == 25_000 {
                        5_000_000
                    } else {
                        900
                    };
                }
                if stage == Stage::Collating {
                    let sample = |k: u32| SampleTiming {
                        start: Nanos(at - 1_000 * i64::from(k)),
                        wall: Nanos(1_000 + i64::from((idx + k) % 97)),
                        cpu: None,
                    };
                    let fetched = Fetched {
                        batch: id(idx),
                        samples: (0..samples).map(sample).collect(),
                        stages: Vec::new(),
                    };
                    tell(at, EventKind::Fetched(Box::new(fetched)));
                }
                let batch = id(idx);
                tell(at, EventKind::Entered { batch, stage });
            }
        };
        step(1, Stage::Fetching);
        step(3, Stage::Collating);
        step(4, Stage::Returning);
        step(5, Stage::Held);
        step(6, Stage::Ready);
        step(8, Stage::Training);
    }
    tell(at, EventKind::EpochEnded { epoch: 0 });
    assert_eq!(run.anomalies(), (0, 0));
    run
}

/// Returns instants across the run, the same in every benchmark.
fn instants(run: &Run) -> impl FnMut() -> Nanos + use<> {
    let end = run.end().0;
    let mut noise = 1u64;
    move || {
        noise = noise
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        Nanos(((noise >> 33) as i64).wrapping_mul(997) % end)
    }
}

fn pipelines(c: &mut Criterion) {
    for (name, window) in [
        (
            "pipeline at a random instant of 1M batches, 32 in flight",
            32,
        ),
        (
            "pipeline at a random instant of 1M batches, 4,096 in flight",
            4_096,
        ),
    ] {
        let run = run(BATCHES, window, 1);
        println!("{} transitions", run.transitions().len());
        let mut next = instants(&run);
        c.bench_function(name, |b| {
            b.iter_batched(
                &mut next,
                |t| run.pipeline_at(t).rcvd_idx,
                BatchSize::SmallInput,
            );
        });
    }
}

fn journeys(c: &mut Criterion) {
    let run = run(BATCHES, 32, SAMPLES);
    let mut next = instants(&run);
    let landmarks = Landmarks::of(&run);
    c.bench_function("next and previous stall among 1M waits", |b| {
        b.iter_batched(
            &mut next,
            |t| {
                let after = landmarks.after(&run, Goal::Stall, 0, t);
                (after, landmarks.before(&run, Goal::Stall, 0, t))
            },
            BatchSize::SmallInput,
        );
    });
    c.bench_function("landmarks of 1M batches, from nothing", |b| {
        b.iter(|| Landmarks::of(&run).out_of_order().len());
    });
    c.bench_function("search through 10M samples, from nothing", |b| {
        b.iter(|| {
            let mut search = Search::default();
            search.set("slower than 1095 ns".to_owned());
            while search.advance(
                &run,
                &landmarks,
                &desktop::PLATFORM.budget(Duration::from_millis(4)),
            ) {}
            black_box(search.hits().len())
        });
    });
    let mut state = State {
        session: SessionState {
            run,
            landmarks,
            source: Source::Finished,
            ..SessionState::default()
        },
        look: ViewState {
            speed: 1.0,
            ..ViewState::default()
        },
        ..State::default()
    };
    c.bench_function("what every button asks in a frame, 1M batches", |b| {
        b.iter(|| {
            state.session.cursor = Cursor::At(next());
            Action::all()
                .filter(|a| obstacle(&state, *a).is_none())
                .count()
        });
    });
}

criterion_group!(benches, pipelines, journeys);
criterion_main!(benches);
