//! Search results: outlines in the lanes, ticks on the ruler and in the minimap.

use egui::{Painter, Rangef, Rect, Stroke, StrokeKind, Ui, pos2};
use loadscope_trace::{Lane, Nanos, Run, Stage, Track};

use super::axis::TimeAxis;
use super::overlay;
use super::scene::Scene;
use loadscope_insight::search::Hit;

/// Search result with its position in time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VisibleHit {
    /// Lane, or `None` for an instant.
    pub lane: Option<Lane>,
    /// First instant.
    pub start: Nanos,
    /// End (exclusive). Equal to `start` for an instant.
    pub end: Nanos,
    /// True for the result that the user jumped to last.
    pub is_current: bool,
}

/// Number of visible results above which at most one per pixel is drawn.
const CROWDED_COUNT: usize = 2_000;
/// Maximum number of results that are checked one by one.
const UNSORTED_LIMIT: usize = 64;
/// Height of a tick, points.
const TICK_HEIGHT: f32 = 5.0;
/// Minimum width of an outline, points.
const MIN_WIDTH: f32 = 3.0;

/// Returns the search results that are visible on `axis`.
pub(super) fn visible(scene: &Scene<'_>, axis: &TimeAxis) -> Vec<VisibleHit> {
    let search = &scene.state.look.search;
    // A closed search shows no results.
    if !search.open {
        return Vec::new();
    }
    hits_on_screen(
        &scene.state.session.run,
        search.hits(),
        search.current,
        axis,
    )
}

/// Returns the `hits` that are visible on `axis`. If there are too many, the first one per pixel represents the others.
pub fn hits_on_screen(
    run: &Run,
    hits: &[Hit],
    current: Option<usize>,
    axis: &TimeAxis,
) -> Vec<VisibleHit> {
    let view = axis.view;
    // A result that starts before the screen may extend into it.
    let before = view.start - view.len();
    // A few results are all checked, because the slowest ones are not in time order.
    let (first, after) = match hits.len() <= UNSORTED_LIMIT {
        true => (0, hits.len()),
        false => (
            hits.partition_point(|hit| start_time(run, *hit) < before),
            hits.partition_point(|hit| start_time(run, *hit) <= view.end),
        ),
    };
    let crowded = after.saturating_sub(first) > CROWDED_COUNT;
    let pixel = Nanos((axis.ns_per_point() / f64::from(axis.pixels_per_point)).ceil() as i64);
    let mut found = Vec::new();
    let mut k = first;
    while k < after {
        let is_current = Some(k) == current;
        let here = locate(run, hits[k], is_current);
        found.extend(here.filter(|f| f.end >= view.start && f.start <= view.end));
        let next = start_time(run, hits[k]) + pixel;
        k += 1;
        if crowded {
            k += hits[k..after].partition_point(|hit| start_time(run, *hit) < next);
        }
    }
    let missed = current.filter(|at| crowded && *at < hits.len());
    found.extend(missed.and_then(|at| locate(run, hits[at], true)));
    found
}

/// Returns the instant by which hits are sorted. For a batch, it is the dispatch time.
fn start_time(run: &Run, hit: Hit) -> Nanos {
    match hit {
        Hit::Batch(row) | Hit::Sample(row, _) => run
            .path(row as usize)
            .first()
            .map_or(Nanos::ZERO, |step| step.start),
        hit => locate(run, hit, false).map_or(Nanos::ZERO, |f| f.start),
    }
}

fn locate(run: &Run, hit: Hit, is_current: bool) -> Option<VisibleHit> {
    let found = |lane, start, end| VisibleHit {
        lane,
        start,
        end,
        is_current,
    };
    let instant = |at| found(None, at, at);
    let worker = |row: u32| {
        let batch = run.batches().get(row as usize)?;
        Some(batch.worker.map_or(Lane::Main, Lane::Worker))
    };
    match hit {
        Hit::Batch(row) => {
            let path = run.path(row as usize);
            let step = path.iter().find(|s| s.stage == Stage::Fetching);
            let step = step.or(path.first())?;
            let end = step.end.unwrap_or(run.end());
            Some(found(worker(row), step.start, end))
        }
        Hit::Sample(row, position) => {
            let sample = run.samples(row as usize).nth(position as usize)?;
            Some(found(worker(row), sample.start, sample.end()))
        }
        Hit::Wait(k) => {
            let wait = run.waits().get(k as usize)?;
            let end = wait.end.min(run.end());
            Some(found(Some(Lane::Trainer), wait.start, end))
        }
        Hit::Message(k) => run.messages().get(k as usize).map(|(at, _)| instant(*at)),
        Hit::Step(step) => {
            let before = (step as usize).checked_sub(1)?;
            run.transitions().get(before).map(|t| instant(t.at))
        }
        Hit::Moment(at) => Some(instant(at)),
        Hit::Lane(_) => None,
    }
}

/// Outlines the results in the lanes.
pub(super) fn paint_outlines(
    ui: &Ui,
    areas: &overlay::OverlayAreas<'_>,
    scene: &Scene<'_>,
    all: &[VisibleHit],
) {
    for found in all {
        let Some(lane) = found.lane else {
            continue;
        };
        let track = Track { lane, row: 0 };
        let part = areas.part(track);
        let Some(edges) = part.edges(track) else {
            continue;
        };
        let area = Rect::from_x_y_ranges(scene.axis.range, part.area.y_range());
        let (left, right) = (scene.axis.x(found.start), scene.axis.x(found.end));
        let missing = (MIN_WIDTH - (right - left)).max(0.0) / 2.0;
        let rect = Rect::from_x_y_ranges(left - missing..=right + missing, edges);
        let width = if found.is_current { 2.0 } else { 1.0 };
        let stroke = Stroke::new(width, scene.palette.strong);
        ui.painter_at(area)
            .rect_stroke(rect, 1.0, stroke, StrokeKind::Outside);
    }
}

/// Draws ticks at the upper edge of `strip`.
pub(super) fn paint_ticks(
    painter: &Painter,
    strip: Rect,
    axis: &TimeAxis,
    scene: &Scene<'_>,
    all: &[VisibleHit],
) {
    for found in all {
        let x = axis.x(found.start);
        let (color, half) = match found.is_current {
            true => (scene.palette.strong, 1.5),
            false => (scene.palette.text, 1.0),
        };
        let height = Rangef::new(strip.top(), strip.top() + TICK_HEIGHT);
        let tick = Rect::from_min_max(pos2(x - half, height.min), pos2(x + half, height.max));
        painter.rect_filled(tick, 0.0, color);
    }
}

#[cfg(test)]
mod tests {
    use loadscope_trace::{BatchId, Event, EventKind, RunId, RunInfo};

    use super::*;
    use loadscope_model::view::TimeView;

    /// Returns a run with batches dispatched every 100 ns and fetched for 50 ns.
    fn run(batches: u32) -> Run {
        let mut run = Run::new(RunInfo::default());
        let mut tell = |at, kind| {
            run.apply(&Event {
                at: Nanos(at),
                run: RunId(0),
                kind,
            });
        };
        tell(0, EventKind::EpochStarted { epoch: 0 });
        for idx in 0..batches {
            let batch = BatchId { epoch: 0, idx };
            let at = i64::from(idx) * 100;
            tell(at, EventKind::dispatched(batch, Some(0), []));
            for (after, stage) in [(10, Stage::Fetching), (60, Stage::Done)] {
                tell(at + after, EventKind::Entered { batch, stage });
            }
        }
        run
    }

    fn axis(start: i64, end: i64) -> TimeAxis {
        let view = TimeView::new(Nanos(start), Nanos(end));
        TimeAxis::new(view, Rangef::new(0.0, 500.0), 1.0)
    }

    #[test]
    fn few_search_hits_are_all_drawn() {
        let run = run(1_000);
        let hits: Vec<Hit> = [3, 4, 500, 900].map(Hit::Batch).into();
        let found = hits_on_screen(&run, &hits, Some(1), &axis(370, 60_000));
        let starts: Vec<i64> = found.iter().map(|f| f.start.0).collect();
        assert_eq!(
            starts,
            [410, 50_010],
            "the first one ended before the screen"
        );
        assert!(found[0].is_current && !found[1].is_current);
        assert_eq!(found[0].lane, Some(Lane::Worker(0)));
    }

    #[test]
    fn many_search_hits_are_drawn_once_per_pixel() {
        let run = run(20_000);
        let hits: Vec<Hit> = (0..20_000).map(Hit::Batch).collect();
        let found = hits_on_screen(&run, &hits, Some(777), &axis(0, 2_000_000));
        assert!((400..=502).contains(&found.len()), "{}", found.len());
        let gaps = found[..found.len() - 1].windows(2);
        assert!(gaps.clone().all(|w| (w[1].start - w[0].start).0 <= 4_200));
        assert_eq!(found.iter().filter(|f| f.is_current).count(), 1);
    }
}
