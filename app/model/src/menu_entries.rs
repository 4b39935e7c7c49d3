//! Entries of context menus. Each entry is a list of commands, so a menu offers nothing that commands cannot do.

use loadscope_insight::format;
use loadscope_insight::waits::{LONG, wait_for};
use loadscope_trace::{Activity, Lane, Nanos, Run, Span};
use loadscope_words::say;

use crate::clipboard::indices;
use crate::command::{Action, Command};
use crate::effect::Effect;
use crate::state::State;
use crate::update::is_possible;
use crate::view::{Cursor, Item, LaneGroup, TimeView};

/// Target of a context menu.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MenuTarget {
    /// A batch, by its position in the run.
    Batch(usize),
    /// A span on a lane.
    Span(Lane, Span),
    /// Lane of the pipeline or the timeline.
    Lane(Lane),
    /// Sampler of the pipeline.
    Sampler,
    /// The shown line of code.
    Line,
}

impl MenuTarget {
    /// Returns the target for a selected item. Ranges and activities have no menu.
    pub fn of(item: Item) -> Option<Self> {
        match item {
            Item::Batch(row) => Some(Self::Batch(row)),
            Item::Lane(lane) => Some(Self::Lane(lane)),
            Item::Sampler => Some(Self::Sampler),
            Item::Range(..) | Item::Activity(_) => None,
        }
    }
}

/// An entry of a menu.
#[derive(Clone, Debug, PartialEq)]
pub struct MenuEntry {
    /// Label in the menu.
    pub text: String,
    /// Commands in their order of execution.
    pub commands: Vec<Command>,
}

fn offer(text: impl Into<String>, commands: impl IntoIterator<Item = Command>) -> MenuEntry {
    MenuEntry {
        text: text.into(),
        commands: commands.into_iter().collect(),
    }
}

/// Returns the entries available now, in non-empty groups.
pub fn menu_entries(state: &State, thing: MenuTarget) -> Vec<Vec<MenuEntry>> {
    let mut groups = match thing {
        MenuTarget::Batch(row) => of_batch(state, row),
        MenuTarget::Span(lane, span) => of_span(state, lane, &span),
        MenuTarget::Lane(lane) => of_lane(state, lane),
        MenuTarget::Line => of_line(state),
        MenuTarget::Sampler => vec![
            vec![select(state, Item::Sampler)],
            vec![offer(
                say!("Show the order of the samples"),
                [Action::ShowSampling.into()],
            )],
        ],
    };
    groups.retain(|group| !group.is_empty());
    groups
}

/// Returns the entries of the shown line of code.
fn of_line(state: &State) -> Vec<Vec<MenuEntry>> {
    let actions = [Action::CopyPlace, Action::OpenEditor].into_iter();
    let possible = actions.filter(|action| is_possible(state, *action));
    vec![
        possible
            .map(|action| offer(action.info().name, [action.into()]))
            .collect(),
    ]
}

/// Selects an item and shows its code, if there are stacks.
fn code_of(state: &State, item: Item) -> Option<MenuEntry> {
    let commands = [Command::Select(Some(item)), Action::ShowCode.into()];
    let has_stacks = !state.session.run.stacks().is_empty();
    has_stacks.then(|| offer(say!("Show its code"), commands))
}

fn select(state: &State, item: Item) -> MenuEntry {
    match state.session.selection == Some(item) {
        true => offer(say!("Clear the selection"), [Command::Select(None)]),
        false => offer(say!("Select"), [Command::Select(Some(item))]),
    }
}

fn of_batch(state: &State, row: usize) -> Vec<Vec<MenuEntry>> {
    let run = &state.session.run;
    let Some(batch) = run.batches().get(row) else {
        return Vec::new();
    };
    let path = run.path(row);
    let start = path.first().map(|step| step.start);
    let end = path.last().and_then(|step| match step.stage.is_final() {
        true => Some(step.start),
        false => step.end,
    });
    let wait = wait_for(run, row);
    let mut times = Vec::new();
    times.extend(start.map(|at| to(say!("Go to its start"), row, at)));
    times.extend(wait.map(|wait| to(say!("Go to its arrival at the trainer"), row, wait.end)));
    times.extend(end.map(|at| to(say!("Go to its end"), row, at)));
    let seen = start.map(|start| (start, end.unwrap_or(run.end())));
    times.extend(seen.map(|(start, end)| zoom(start, end)));
    vec![
        vec![select(state, Item::Batch(row))],
        times,
        (why_late(state, row).into_iter())
            .chain(code_of(state, Item::Batch(row)))
            .collect(),
        batch
            .worker
            .map_or_else(Vec::new, |worker| of_worker(Lane::Worker(worker))),
        vec![
            offer(
                say!("Copy as text"),
                [Command::Perform(Effect::Copy(batch_text(run, row)))],
            ),
            offer(
                say!("Copy the indices"),
                [Command::Perform(Effect::Copy(indices(run, row)))],
            ),
        ],
    ]
}

/// Moves the cursor to an instant of a batch, and selects the batch to make it visible there.
fn to(text: &str, row: usize, at: Nanos) -> MenuEntry {
    let batch = Command::Select(Some(Item::Batch(row)));
    offer(text, [batch, Command::Cursor(Cursor::At(at))])
}

fn zoom(start: Nanos, end: Nanos) -> MenuEntry {
    let air = Nanos((end - start).0 / 10);
    let view = TimeView::new(start - air, end + air);
    offer(say!("Zoom to it"), [Command::View(Some(view))])
}

/// Moves the cursor into the wait for a batch. The inspector shows the cause of the wait.
fn why_late(state: &State, row: usize) -> Option<MenuEntry> {
    let wait = wait_for(&state.session.run, row)?;
    let long = wait.end - wait.start;
    let mut commands = vec![
        Command::Select(Some(Item::Batch(row))),
        Command::Cursor(Cursor::At(wait.start + Nanos(long.0 / 2))),
    ];
    commands.extend((!state.prefs.inspector_open).then_some(Action::ToggleInspector.into()));
    (long >= LONG).then(|| offer(say!("Why was it late? ({long})"), commands))
}

fn of_worker(lane: Lane) -> Vec<MenuEntry> {
    let Lane::Worker(worker) = lane else {
        return Vec::new();
    };
    let shows = [
        Action::ShowDebug.into(),
        Action::ShowBatches.into(),
        Command::Filter(format!("worker {worker}")),
    ];
    vec![
        offer(
            say!("Show worker {worker}"),
            [Command::Select(Some(Item::Lane(lane)))],
        ),
        offer(say!("Show only worker {worker} in the table"), shows),
    ]
}

fn of_span(state: &State, lane: Lane, span: &Span) -> Vec<Vec<MenuEntry>> {
    let end = span.end.min(state.session.run.end());
    let at = |text: &str, at| offer(text, [Command::Cursor(Cursor::At(at))]);
    let times = vec![
        at(say!("Go to the start of this span"), span.start),
        at(say!("Go to the end of this span"), end),
        zoom(span.start, end),
    ];
    let Some(row) = span.batch() else {
        return std::iter::once(times).chain(of_lane(state, lane)).collect();
    };
    let why = why_late(state, row).filter(|_| span.activity == Activity::Waiting);
    let mut groups = of_batch(state, row);
    // The times of the span replace the times of the batch.
    if groups.len() > 2 {
        groups[1] = times;
        let code = code_of(state, Item::Batch(row));
        groups[2] = why.into_iter().chain(code).collect();
    }
    groups
}

fn of_lane(state: &State, lane: Lane) -> Vec<Vec<MenuEntry>> {
    let mut there = Vec::new();
    if lane == Lane::Trainer && is_possible(state, Action::LongestWait) {
        there.push(offer(
            say!("Go to its longest wait"),
            [Action::LongestWait.into()],
        ));
    }
    if lane == Lane::Trainer && is_possible(state, Action::ShowDiagnose) {
        there.push(offer(
            say!("Why does it wait?"),
            [Action::ShowDiagnose.into()],
        ));
    }
    if matches!(lane, Lane::Worker(_) | Lane::Main | Lane::Trainer) {
        there.extend(code_of(state, Item::Lane(lane)));
    }
    let group = LaneGroup::of(lane);
    let fold = group.map(|group| {
        let is_folded = state.look.folded.contains(&group);
        let verb = if is_folded {
            say!("Unfold")
        } else {
            say!("Fold")
        };
        offer(say!("{verb}: {}", group.label()), [Command::Fold(group)])
    });
    let mut only = of_worker(lane);
    only.retain(|offer| offer.commands.len() > 1);
    vec![
        vec![select(state, Item::Lane(lane))],
        there,
        only,
        fold.into_iter().collect(),
        vec![offer(
            say!("Copy as text"),
            [Command::Perform(Effect::Copy(lane_text(state, lane)))],
        )],
    ]
}

/// Formats the stages of a batch: `batch 3: queued 1.20 ms, fetching 600 ms, …`
fn batch_text(run: &Run, row: usize) -> String {
    let Some(batch) = run.batches().get(row) else {
        return String::new();
    };
    let path = run.path(row);
    let steps = path.iter().map(|step| match step.end {
        Some(end) if !step.stage.is_final() => {
            format!("{}\t{}\t{}", step.stage, step.start, end - step.start)
        }
        _ => format!("{}\t{}", step.stage, step.start),
    });
    let mut lines = vec![batch.id.to_string()];
    lines.extend(batch.worker.map(|worker| Lane::Worker(worker).to_string()));
    lines.extend(steps);
    if let Some(wait) = wait_for(run, row) {
        let long = wait.end - wait.start;
        lines.push(say!("The trainer waited {long} for it"));
    }
    lines.join("\n") + "\n"
}

/// Formats the activities of a lane so far, with their durations.
fn lane_text(state: &State, lane: Lane) -> String {
    let run = &state.session.run;
    let (start, now) = (run.whole().start().unwrap_or_default(), state.now());
    let whole = (now - start).0.max(1) as f64;
    let spent = run.spent(lane, start, now);
    let mut lines = vec![lane.to_string()];
    lines.extend(spent.iter().map(|(activity, time)| {
        let share = format::percent(time.0 as f64 / whole);
        format!("{}\t{time}\t{share}", activity.label())
    }));
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests;
