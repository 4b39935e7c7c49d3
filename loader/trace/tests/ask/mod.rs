//! All queries on a run, and the invariants of their results.

use loadscope_trace::{BatchId, FieldData, Nanos, Pictures, Pipeline, Run, Stage, Summary, Track};

const PROBES: [Nanos; 7] = [
    Nanos(i64::MIN),
    Nanos(-1),
    Nanos::ZERO,
    Nanos(1000),
    Nanos(500_000),
    Nanos(i64::MAX - 1),
    Nanos::MAX,
];

/// Runs all queries.
pub fn ask_everything(run: &Run) {
    let total = run.batches().len();
    ask_tracks(run);
    for at in PROBES {
        ask_pipeline(run, &run.pipeline_at(at));
    }
    for step in [0, 1, 255, 256, 257, usize::MAX] {
        ask_pipeline(run, &run.pipeline_after(step));
    }
    for row in (0..total).chain([total, usize::MAX]) {
        ask_batch(run, row);
    }
    assert_eq!(run.sample_timings().count(), run.sample_timings().len());
    for wait in run.waits() {
        assert!(run.awaited_in(wait).is_none_or(|row| row < total));
    }
    for t in run.transitions() {
        assert!((t.batch as usize) < total && t.at < Nanos::MAX);
    }
    for wait in run.waits() {
        assert!(wait.start <= wait.end && wait.batch.is_none_or(|b| (b as usize) < total));
    }
    for epoch in run.epochs() {
        assert!(epoch.end.is_none_or(|end| epoch.start <= end));
        for (idx, row) in epoch.rows.iter().enumerate() {
            let id = BatchId {
                epoch: epoch.epoch,
                idx: epoch.first.saturating_add(idx as u32),
            };
            assert_eq!(
                run.row(id),
                run.batches().get(*row as usize).map(|_| *row as usize)
            );
        }
    }
    assert!(run.waited() >= Nanos::ZERO && run.waited() <= run.end());
    let summary = Summary::of(run);
    assert!(summary.seconds >= 0.0 && summary.samples_per_second.is_finite());
    let past = run.past().map(loadscope_trace::Past::total);
    let past = past.map_or(0, |p| p.batches.saturating_add(p.discarded));
    assert!(summary.batches <= past.saturating_add(total as u64));
    assert!(summary.discarded <= past.saturating_add(total as u64));
    let (late, odd) = run.anomalies();
    assert!(late <= run.events() && odd <= 2 * run.events());
    let _ = (run.messages(), run.gauges(), run.workers(), run.dropped());
    for (part, what, series) in run.part_gauges() {
        assert!(usize::from(part) < run.parts().len() && !series.points().is_empty());
        assert!(run.part_gauge(part, what).is_some());
    }
    assert!(!format!("{summary:?}{run:?}").is_empty());
}

fn ask_tracks(run: &Run) {
    for (lane, rows) in run.lanes() {
        let rows = u16::try_from(rows).expect("rows that a track can name");
        assert!(rows > 0 && run.track(Track { lane, row: rows }).is_none());
        for row in 0..rows {
            let track = Track { lane, row };
            let spans = run.track(track).expect("a listed track");
            for pair in spans.all().pairs() {
                assert!(pair[0].end <= pair[1].start, "{lane} row {row}: {pair:?}");
            }
            for (at, until) in PROBES.into_iter().flat_map(|a| PROBES.map(|b| (a, b))) {
                let touched = run.spans(track, at, until);
                assert!(touched.iter().all(|s| s.end > at && s.start < until));
                let shares = spans.until(at) + spans.until(until);
                let _ = (shares.total(), (shares - spans.until(at)).iter().count());
                let index = spans.index_after(at);
                assert_eq!(spans.gallop(0, at), index);
                assert_eq!(spans.until_at(index, at), spans.until(at));
                assert!(spans.gallop(index, until) >= index);
            }
            assert!(spans.until(run.end()).total() <= run.end());
        }
    }
}

fn ask_pipeline(run: &Run, pipeline: &Pipeline<'_>) {
    let mut last = None;
    for held in pipeline.batches() {
        assert!(last < Some(held.row), "each batch once, in order");
        last = Some(held.row);
        assert_eq!(pipeline.stage_of(held.id), Some(held.stage));
        assert_eq!(held.lane.is_none(), held.stage.is_final());
        if let Some(lane) = held.lane {
            assert!(pipeline.in_lane(lane).any(|b| b.row == held.row));
        }
    }
    assert!(
        pipeline.tasks_outstanding <= pipeline.send_idx && pipeline.rcvd_idx <= pipeline.send_idx
    );
    for task in pipeline.task_info() {
        assert!(task.idx < pipeline.send_idx && run.batches().len() > task.row);
        assert_eq!(run.batches()[task.row].worker, task.worker);
    }
    let _ = (
        pipeline.awaited(),
        pipeline.takes_tasks(0),
        pipeline.takes_tasks(u16::MAX),
    );
    for id in [
        BatchId::default(),
        BatchId {
            epoch: u32::MAX,
            idx: u32::MAX,
        },
    ] {
        let _ = (pipeline.stage_of(id), run.batch(id));
    }
}

fn ask_batch(run: &Run, row: usize) {
    let mut steps: Vec<usize> = run.steps_back(row).map(|(step, _)| step).collect();
    steps.reverse();
    assert_eq!(steps, run.steps_of(row));
    let path = run.path(row);
    assert!(
        path.windows(2)
            .all(|p| p[0].end == Some(p[1].start) && p[0].stage != p[1].stage)
    );
    assert_eq!(
        path.last().map(|s| s.stage),
        run.batches().get(row).map(|b| b.stage)
    );
    for stage in Stage::ALL {
        let found = path.iter().rev().find(|s| s.stage == stage);
        assert_eq!(run.entered(row, stage), found.map(|s| s.start));
    }
    let indices = run.indices(row);
    let samples = run.samples(row);
    let count = samples.len();
    for s in samples {
        assert_eq!(s.index, indices.get(s.position).copied());
        let _ = s.end();
    }
    if let Some(stages) = run.sample_stages(row) {
        for at in (0..stages.names.len()).chain([usize::MAX]) {
            let _ = (
                stages.total(at),
                stages.wall(at, count),
                stages.wall(at, usize::MAX),
            );
        }
    }
    for field in run.content(row).into_iter().flat_map(|c| &c.fields) {
        if let FieldData::Pictures(pictures) = &field.data {
            ask_pictures(pictures);
        }
    }
}

fn ask_pictures(pictures: &Pictures) {
    let (count, stride) = (pictures.count(), pictures.stride());
    for k in (0..count).chain([count, usize::MAX]) {
        let picture = pictures.get(k);
        assert_eq!(picture.map(<[u8]>::len), (k < count).then_some(stride));
    }
}
