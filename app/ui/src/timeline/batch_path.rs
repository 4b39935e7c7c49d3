//! Path of a batch across the lanes.

use loadscope_trace::{Activity, Lane, Run, Span, Stage, Track};

/// Stay of a batch in a row of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathSpan {
    /// Lane and row.
    pub track: Track,
    /// Time span.
    pub span: Span,
}

/// Returns the places of a batch, in time order.
pub fn batch_path(run: &Run, row: usize) -> Vec<PathSpan> {
    let Some(batch) = run.batches().get(row) else {
        return Vec::new();
    };
    let mut places = Vec::new();
    let mut pinned = false;
    for step in run.path(row) {
        pinned |= step.stage == Stage::Pinning;
        let lane = Lane::of(step.stage, batch.worker, pinned);
        let Some((lane, activity)) = lane.zip(Activity::of(step.stage)) else {
            continue;
        };
        let rows = run
            .lanes()
            .find(|(l, _)| *l == lane)
            .map_or(0, |(_, rows)| rows);
        let place = (0..rows).find_map(|r| {
            let track = Track {
                lane,
                row: u16::try_from(r).ok()?,
            };
            let all = run.track(track)?.all();
            let first = all.partition_point(|s| s.start < step.start);
            let mut at_once = all
                .range(first..)
                .iter()
                .take_while(|s| s.start == step.start);
            let span = at_once.find(|s| s.batch() == Some(row) && s.activity == activity)?;
            Some(PathSpan { track, span: *span })
        });
        places.extend(place);
    }
    places
}
