//! Details of a lane or an activity, with the time spent.

use egui::Ui;
use loadscope_trace::{Activity, EndReason, Lane, Nanos, Run, Shares, Track, WorkerId};
use loadscope_words::say;

use super::lane_batches;
use crate::kit::empty::remark;
use crate::kit::rows::{Marks, fact, share};
use crate::kit::table::{Column, Table};
use crate::kit::titles::{section, title};
use crate::theme::Palette;
use loadscope_insight::format;
use loadscope_insight::format::capital;
use loadscope_insight::idle::{describe_idle, meaning, purpose};
use loadscope_insight::narrate::describe_location;
use loadscope_insight::waits::LONG;
use loadscope_model::command::Command;
use loadscope_model::state::State;
use loadscope_model::view::Item;

/// Shows the details of a worker, a queue or the trainer.
pub fn show(ui: &mut Ui, state: &State, lane: Lane, commands: &mut Vec<Command>) {
    let now = state.now();
    title(ui, capital(&lane.to_string()));
    remark(ui, purpose(lane));
    match lane {
        Lane::Worker(worker) => worker_facts(ui, state, worker),
        Lane::Trainer => trainer_facts(ui, state),
        _ if lane.is_queue() => lane_batches::queue(ui, state, lane),
        _ => {}
    }
    section(ui, say!("Now"));
    let pipeline = state.pipeline();
    let mut empty = true;
    for batch in pipeline.in_lane(lane) {
        empty = false;
        let text = say!(
            "Batch {} · {} · {}",
            batch.id.idx,
            batch.stage,
            now - batch.since
        );
        if ui
            .link(text)
            .on_hover_text(describe_location(&batch))
            .clicked()
        {
            commands.push(Command::Select(Some(Item::Batch(batch.row))));
        }
    }
    if let (Lane::Trainer, Some(wait)) = (lane, pipeline.waiting) {
        empty = false;
        let on = pipeline
            .awaited()
            .map_or(say!("a batch").to_owned(), |b| b.id.to_string());
        let (palette, long) = (Palette::of(ui.ctx()), now - wait.start);
        let color = if long >= LONG {
            palette.stall
        } else {
            palette.text
        };
        ui.colored_label(color, say!("Waits for {on} · {long}"));
    }
    if empty {
        match lane.is_queue() {
            true => remark(ui, say!("Empty")),
            false => remark(ui, &describe_idle(&state.session.run, &pipeline, lane)),
        }
    }
    let spent = state.session.run.spent(lane, Nanos(i64::MIN), now);
    let whole = now
        - state
            .session
            .run
            .epochs()
            .first()
            .map_or(Nanos::ZERO, |e| e.start);
    // Several batches wait in a queue at the same time, so shares of the run are meaningless there.
    table(
        ui,
        say!("Time so far"),
        spent,
        (!lane.is_queue()).then_some(whole),
    );
    match lane {
        Lane::Worker(_) | Lane::Main => lane_batches::batches(ui, state, lane, commands),
        Lane::Trainer => lane_batches::waits(ui, state, commands),
        _ => {}
    }
}

fn trainer_facts(ui: &mut Ui, state: &State) {
    let now = state.now();
    let waits = state.session.run.waits();
    let past = waits.range(..waits.partition_point(|w| w.start <= now));
    let got = past
        .iter()
        .filter(|w| w.end <= now && w.batch.is_some())
        .count() as u64;
    ui.add_space(4.0);
    fact(ui, say!("Batches so far"), format::count(got));
}

fn worker_facts(ui: &mut Ui, state: &State, worker: WorkerId) {
    let now = state.now();
    let run = &state.session.run;
    let known = run
        .workers()
        .iter()
        .rev()
        .find(|w| w.info.worker == worker && w.start <= now);
    ui.add_space(4.0);
    if let Some(known) = known {
        let number = |n: Option<u64>| n.map_or("—".to_owned(), |n| n.to_string());
        fact(ui, say!("Seed"), number(known.info.seed));
        fact(ui, say!("OS id"), number(known.info.os_id));
        if let Some((at, reason)) = known.end.filter(|(at, _)| *at <= now) {
            let word = if reason == EndReason::Died {
                say!("died")
            } else {
                say!("finished")
            };
            fact(ui, say!("Ended"), say!("{word} at {at}"));
        }
    }
    fact(
        ui,
        say!("Batches done"),
        format::count(batches_done(run, worker, now)),
    );
    let start = known.map_or(Nanos::ZERO, |w| w.start);
    let busy = run.spent(Lane::Worker(worker), start, now).total();
    let part = busy.0 as f64 / (now - start).0.max(1) as f64;
    fact(ui, say!("Busy"), format::percent(part));
}

/// Returns the number of batches that a worker has finished by `now`.
fn batches_done(run: &Run, worker: WorkerId, now: Nanos) -> u64 {
    let lane = Lane::Worker(worker);
    let Some(track) = run.track(Track { lane, row: 0 }) else {
        return 0;
    };
    // A batch has a fetching span and a collating span. Only the last one counts.
    let all = track.all();
    let past = (0..track.index_after(now)).filter(|k| all[*k].end <= now);
    past.filter(|k| {
        all.get(k + 1)
            .is_none_or(|next| next.batch != all[*k].batch)
    })
    .count() as u64
}

/// Shows the time per activity, with shares of `whole` if given.
pub(super) fn table(ui: &mut Ui, name: &str, shares: Shares, whole: Option<Nanos>) {
    let palette = Palette::of(ui.ctx());
    section(ui, name);
    if shares.total().0 == 0 {
        remark(ui, say!("None"));
        return;
    }
    if let Some(whole) = whole {
        lane_batches::stacked(ui, shares, whole);
    }
    let (word, time, part) = (92.0, 66.0, 52.0);
    let mut columns = vec![
        Column::words(say!("Activity"), word),
        Column::numbers(say!("Time, s"), time),
    ];
    columns.extend(whole.map(|_| Column::numbers(say!("Share"), part)));
    let table = Table::new(ui, columns);
    // Shares that round to zero are not listed.
    let mut idle = whole.and_then(|w| Some(w - shares.total()).filter(|i| i.0 > w.0 / 1_000));
    let most = shares
        .iter()
        .map(|(_, t)| t)
        .chain(idle)
        .max()
        .unwrap_or(Nanos::ZERO);
    let mut line = |label: &str, spent: Nanos, color| {
        let mut cells = vec![label.into(), format!("{:.3}", spent.as_secs_f64()).into()];
        cells.extend(whole.map(|w| {
            let share = spent.0 as f64 / w.0.max(1) as f64;
            format::percent(share).into()
        }));
        let bar = Some((0.0, share(spent, most), color));
        let dot = Some(color);
        table.row(ui, cells, Marks { dot, bar });
    };
    for (activity, spent) in shares.iter() {
        line(activity.label(), spent, palette.activity(activity));
    }
    if let Some(idle) = idle.take() {
        line(say!("Idle"), idle, palette.weak);
    }
}

/// Shows the time of an activity per lane.
pub fn activity(ui: &mut Ui, state: &State, activity: Activity) {
    let palette = Palette::of(ui.ctx());
    let now = state.now();
    title(ui, activity.label());
    remark(ui, meaning(activity));
    section(ui, say!("Time so far"));
    let lanes: Vec<(Lane, Nanos)> = state
        .session
        .run
        .lanes()
        .map(|(lane, _)| {
            (
                lane,
                state
                    .session
                    .run
                    .spent(lane, Nanos(i64::MIN), now)
                    .time_in(activity),
            )
        })
        .filter(|(_, t)| t.0 > 0)
        .collect();
    let Some(most) = lanes.iter().map(|(_, t)| *t).max() else {
        remark(ui, say!("None"));
        return;
    };
    let columns = [
        Column::words(say!("Place"), 112.0),
        Column::numbers(say!("Time, s"), 66.0),
    ];
    let table = Table::new(ui, columns);
    for (lane, spent) in lanes {
        let cells = [
            capital(&lane.to_string()).into(),
            format!("{:.3}", spent.as_secs_f64()).into(),
        ];
        let bar = Some((0.0, share(spent, most), palette.activity(activity)));
        table.row(ui, cells, Marks { dot: None, bar });
    }
}
