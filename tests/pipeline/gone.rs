//! Test that ended or dead workers keep their places.

use eframe::egui::Theme;
use egui_kittest::SnapshotResults;
use loadscope_model::view::Cursor;
use loadscope_trace::{BatchId, EndReason, Event, EventKind, Nanos, Run, RunId, Stage, WorkerInfo};

use super::{pipeline, save, state};

/// Returns a run in which worker 1 has died and worker 2 received the command to end.
fn diminished(workers: u16) -> Run {
    let reason = [EndReason::Died, EndReason::Finished];
    let mut kinds: Vec<EventKind> = (0..workers)
        .map(|worker| {
            let os_id = Some(4_100 + u64::from(worker));
            let seed = Some(7);
            EventKind::WorkerStarted(Box::new(WorkerInfo {
                worker,
                seed,
                os_id,
            }))
        })
        .collect();
    let id = |idx| BatchId { epoch: 0, idx };
    kinds.push(EventKind::EpochStarted { epoch: 0 });
    kinds.extend(
        (0..2 * u32::from(workers)).map(|idx| {
            EventKind::dispatched(id(idx), Some(idx as u16 % workers), [u64::from(idx)])
        }),
    );
    kinds.push(EventKind::Consumer { waiting: true });
    kinds.extend((0..u32::from(workers)).map(|idx| EventKind::Entered {
        batch: id(idx),
        stage: Stage::Fetching,
    }));
    kinds.extend(
        (1..3)
            .zip(reason)
            .map(|(worker, reason)| EventKind::WorkerEnded {
                worker,
                reason,
                os_id: None,
            }),
    );
    kinds.extend(
        [Stage::Collating, Stage::Returning].map(|stage| EventKind::Entered {
            batch: id(0),
            stage,
        }),
    );
    let mut run = Run::default();
    for (ms, kind) in kinds.into_iter().enumerate() {
        let at = Nanos::from_millis(ms as i64);
        run.apply(&Event {
            at,
            run: RunId(0),
            kind,
        });
    }
    run
}

#[test]
fn ended_and_dead_workers_keep_their_places() {
    let mut results = SnapshotResults::new();
    for (name, workers, size, theme) in [
        ("gone", 3, (1100.0, 320.0), Theme::Dark),
        ("gone-small", 3, (700.0, 220.0), Theme::Light),
        ("gone-16", 16, (700.0, 220.0), Theme::Dark),
    ] {
        let (mut harness, _) = pipeline(size, theme, state(diminished(workers), Cursor::Live));
        harness.run();
        save(&mut harness, name);
        results.extend_harness(&mut harness);
    }
}
