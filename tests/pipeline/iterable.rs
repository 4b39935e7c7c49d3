//! Tests of the pipeline of an iterable dataset, in which each worker's stream ends at its own time.

use eframe::egui::Theme;
use egui_kittest::SnapshotResults;
use egui_kittest::kittest::Queryable as _;
use loadscope_engine::simulate::{Simulation, Work};
use loadscope_model::view::Cursor;
use loadscope_trace::{Nanos, Run, RunInfo, RunOptions, Stage};

use super::{pipeline, save, state, step_of};

/// Returns three streams of 8, 3 and 10 samples in batches of two.
fn streams() -> Run {
    let options = RunOptions {
        num_workers: 3,
        batch_size: Some(2),
        ..RunOptions::default()
    };
    let lengths = [8, 3, 10];
    let simulation = Simulation {
        info: RunInfo {
            options,
            ..RunInfo::default()
        },
        work: Work::Streams {
            streams: lengths.map(|len| (0..len).collect()).to_vec(),
            batch_size: 2,
            drop_last: false,
        },
        collate: Nanos::from_millis(2),
        pin: None,
        step: Nanos::from_millis(10),
    };
    let mut run = Run::default();
    let cost = |i| Nanos::from_millis(20 + 7 * i as i64);
    simulation.run(cost).iter().for_each(|e| run.apply(e));
    assert_eq!(run.anomalies(), (0, 0));
    run
}

#[test]
fn an_ended_stream_marks_its_worker_exhausted() {
    let mut results = SnapshotResults::new();
    for (name, size, theme, with_table) in [
        ("iterable", (1100.0, 320.0), Theme::Dark, true),
        ("iterable-small", (700.0, 220.0), Theme::Light, false),
    ] {
        let run = streams();
        // This instant is the first response that a stream has ended.
        let ended = run
            .transitions()
            .iter()
            .find(|t| t.stage == Stage::Discarded);
        let idx = run.batches()[ended.expect("streams end").batch as usize]
            .id
            .idx;
        let cursor = step_of(&run, idx, Stage::Discarded);
        let mut state = state(run, cursor);
        state.prefs.variables_open = with_table;
        let (mut harness, _) = pipeline(size, theme, state);
        harness.run();
        harness.get_by_label(
            "Worker 1 has no data left for batch 7: its part of the dataset is exhausted",
        );
        if with_table {
            harness.get_by_label("workers_status 1 False");
            harness.get_by_label("workers_status 0 True");
        }
        save(&mut harness, name);
        results.extend_harness(&mut harness);
    }
}

#[test]
fn the_pipeline_draws_every_step_of_a_stream() {
    let run = streams();
    let steps = run.transitions().len();
    let mut state = state(run, Cursor::Step(0));
    state.prefs.variables_open = true;
    let (mut harness, _) = pipeline((900.0, 260.0), Theme::Dark, state);
    for step in 0..=steps {
        harness.state_mut().session.cursor = Cursor::Step(step);
        harness.run();
    }
    // No worker receives tasks any more.
    harness.get_by_label("workers_status 2 False");
}
