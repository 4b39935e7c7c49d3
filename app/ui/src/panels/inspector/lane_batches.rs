//! Batches and slowest samples of a worker or the main process, and longest waits of the trainer.

use egui::{Rect, Sense, Ui, vec2};
use loadscope_trace::{Activity, Lane, Nanos, Run, Sample, Shares, Track, Wait};
use loadscope_words::say;

use crate::kit::empty::remark;
use crate::kit::rows::{Marks, fact, share};
use crate::kit::table::{Column, Table, Text};
use crate::kit::titles::section;
use crate::theme::Palette;
use loadscope_insight::format;
use loadscope_insight::waits::LONG;
use loadscope_model::command::Command;
use loadscope_model::state::State;
use loadscope_model::view::{Cursor, Item};

/// Maximum number of spans searched, so that a long run does not slow the page down.
const SPANS: usize = 512;
/// Maximum number of batches listed.
const BATCHES: usize = 12;
/// Maximum number of samples or waits listed.
const SLOWEST: usize = 6;

/// Shows the last batches of a lane with one row, and their slowest samples.
pub fn batches(ui: &mut Ui, state: &State, lane: Lane, commands: &mut Vec<Command>) {
    let run = &state.session.run;
    let now = state.now();
    let (rows, is_cut) = recent(run, lane, now);
    section(ui, say!("Last batches"));
    if rows.is_empty() {
        remark(ui, say!("None yet"));
        return;
    }
    let palette = Palette::of(ui.ctx());
    let shown: Vec<(usize, Nanos)> = rows
        .iter()
        .take(BATCHES)
        .map(|row| (*row, fetching(run, *row, now)))
        .collect();
    let most = shown.iter().map(|(_, t)| *t).max().unwrap_or(Nanos::ZERO);
    let columns = [
        Column::numbers(say!("Batch"), 56.0),
        Column::numbers(say!("Fetching"), 66.0),
    ];
    let table = Table::new(ui, columns);
    for (at, took) in shown {
        let cells = [
            run.batches()[at].id.idx.to_string().into(),
            took.to_string().into(),
        ];
        let bar = Some((0.0, share(took, most), palette.activity(Activity::Fetching)));
        let shows = Command::Select(Some(Item::Batch(at)));
        clickable(ui, &table, cells, bar, shows, commands);
    }
    slowest(ui, run, &rows, is_cut, now, commands);
}

/// Shows the slowest samples that the listed batches have fetched by `now`.
fn slowest(
    ui: &mut Ui,
    run: &Run,
    rows: &[usize],
    is_cut: bool,
    now: Nanos,
    commands: &mut Vec<Command>,
) {
    let samples = rows
        .iter()
        .flat_map(|row| run.samples(*row).map(|s| (*row, s)));
    let mut samples: Vec<(usize, Sample)> = samples.filter(|(_, s)| s.end() <= now).collect();
    samples.sort_by_key(|(_, s)| std::cmp::Reverse(s.wall));
    samples.truncate(SLOWEST);
    let Some(most) = samples.first().map(|(_, s)| s.wall) else {
        return;
    };
    section(ui, say!("Slowest samples"));
    if is_cut {
        let count = format::plural(rows.len() as u64, say!(n: "batch"), say!(n: "batches"));
        remark(ui, &say!("From its last {count}"));
    }
    let palette = Palette::of(ui.ctx());
    let columns = [
        Column::numbers(say!("Index"), 56.0),
        Column::numbers(say!("Took"), 66.0),
        Column::numbers(say!("Batch"), 48.0),
    ];
    let table = Table::new(ui, columns);
    for (at, sample) in samples {
        let index = sample.index.map_or("—".to_owned(), |i| i.to_string());
        let cells = [
            index.into(),
            sample.wall.to_string().into(),
            run.batches()[at].id.idx.to_string().into(),
        ];
        let bar = Some((
            0.0,
            share(sample.wall, most),
            palette.activity(Activity::Fetching),
        ));
        let shows = Command::Select(Some(Item::Batch(at)));
        clickable(ui, &table, cells, bar, shows, commands);
    }
}

/// Shows a row that issues `command` when it is clicked.
fn clickable(
    ui: &mut Ui,
    table: &Table<'_>,
    texts: impl IntoIterator<Item = Text>,
    bar: Option<(f32, f32, egui::Color32)>,
    command: Command,
    commands: &mut Vec<Command>,
) {
    let response = table.button(ui, texts, Marks { dot: None, bar });
    if response.on_hover_text(say!("Shows it")).clicked() {
        commands.push(command);
    }
}

/// Returns the batches of a lane up to `now`, the latest first, and true if there were more.
fn recent(run: &Run, lane: Lane, now: Nanos) -> (Vec<usize>, bool) {
    let Some(track) = run.track(Track { lane, row: 0 }) else {
        return (Vec::new(), false);
    };
    let after = track.index_after(now);
    let first = after.saturating_sub(SPANS);
    let past = track.all().range(first..after).iter().rev();
    let mut rows: Vec<usize> = past.filter_map(|s| s.batch()).collect();
    rows.dedup();
    (rows, first > 0)
}

/// Returns the time that the batch at `at` was fetched by `now`.
fn fetching(run: &Run, at: usize, now: Nanos) -> Nanos {
    let path = run.path(at);
    let steps = path
        .iter()
        .filter(|s| s.stage == loadscope_trace::Stage::Fetching && s.start <= now);
    steps.fold(Nanos::ZERO, |sum, s| {
        sum + (s.end.unwrap_or(now).min(now) - s.start)
    })
}

/// Shows the longest waits of the trainer up to now.
pub fn waits(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    let run = &state.session.run;
    let now = state.now();
    let past = run
        .waits()
        .range(..run.waits().partition_point(|w| w.start <= now));
    let length = |w: &Wait| w.end.min(now) - w.start;
    let mut longest: Vec<&Wait> = Vec::with_capacity(SLOWEST + 1);
    // A single pass, because a run may have a million waits.
    for wait in past {
        let place = longest.partition_point(|w| length(w) >= length(wait));
        if place < SLOWEST {
            longest.insert(place, wait);
            longest.truncate(SLOWEST);
        }
    }
    longest.retain(|w| length(w) >= Nanos(1_000));
    section(ui, say!("Longest waits"));
    let Some(most) = longest.first().map(|w| length(w)) else {
        remark(ui, say!("No wait so far"));
        return;
    };
    let palette = Palette::of(ui.ctx());
    let columns = [
        Column::numbers(say!("At, s"), 64.0),
        Column::numbers(say!("Waited"), 66.0),
        Column::numbers(say!("Batch"), 48.0),
    ];
    let table = Table::new(ui, columns);
    for wait in longest {
        let batch = wait.batch.and_then(|b| run.batches().get(b as usize));
        let batch = batch.map_or("—".to_owned(), |b| b.id.idx.to_string());
        let cells = [
            format!("{:.3}", wait.start.as_secs_f64()).into(),
            length(wait).to_string().into(),
            batch.into(),
        ];
        let color = match length(wait) >= LONG {
            true => palette.stall,
            false => palette.wait,
        };
        let bar = Some((0.0, share(length(wait), most), color));
        let there = Command::Cursor(Cursor::At(wait.start));
        clickable(ui, &table, cells, bar, there, commands);
    }
}

/// Shows the shares of `whole` as one bar. Idle time stays empty.
pub fn stacked(ui: &mut Ui, shares: Shares, whole: Nanos) {
    let palette = Palette::of(ui.ctx());
    let size = vec2(ui.available_width(), 8.0);
    let (bar, _) = ui.allocate_exact_size(size, Sense::hover());
    ui.painter().rect_filled(bar, 1.0, palette.line);
    let mut before = Nanos::ZERO;
    for (activity, spent) in shares.iter() {
        let x = |t: Nanos| bar.left() + bar.width() * share(t, whole).min(1.0);
        let (left, right) = (x(before), x(before + spent));
        let part = Rect::from_x_y_ranges(left..=right, bar.y_range());
        ui.painter()
            .rect_filled(part, 1.0, palette.activity(activity));
        before += spent;
    }
}

/// Shows the number of batches in a queue and their mean time in it.
pub fn queue(ui: &mut Ui, state: &State, lane: Lane) {
    let run = &state.session.run;
    let now = state.now();
    let rows = run
        .lanes()
        .find(|(l, _)| *l == lane)
        .map_or(0, |(_, rows)| rows);
    let held = state.pipeline().in_lane(lane).count() as u64;
    let tracks = || {
        (0..rows).filter_map(|row| {
            run.track(Track {
                lane,
                row: u16::try_from(row).ok()?,
            })
        })
    };
    let passed: usize = tracks().map(|t| t.index_after(now)).sum();
    ui.add_space(4.0);
    fact(ui, say!("Batches now"), format::count(held));
    fact(ui, say!("Peak"), format::count(rows as u64));
    // A batch in the reorder buffer may be held and then ready, which would count twice.
    if passed > 0 && lane != Lane::Reorder {
        let totals = tracks().map(|t| t.until(now).total());
        let total = totals.fold(Nanos::ZERO, |sum, total| sum + total);
        fact(
            ui,
            say!("Mean time in queue"),
            Nanos(total.0 / passed as i64).to_string(),
        );
    }
}
