//! Loaders of the session, with equal loaders of all ranks grouped. The panel shows the trainers' activity on the screen, the straggler,
//! and the accuracy of the clocks.

mod columns;

use egui::{
    Align2, Color32, FontId, Frame, Label, Margin, Pos2, Rect, RichText, Role, ScrollArea, Sense,
    Stroke, StrokeKind, Ui, WidgetInfo, pos2, vec2,
};
use loadscope_diagnose::{WaitSummary, straggler};
use loadscope_trace::{Nanos, Run, RunId, count, percent};
use loadscope_words::say;

use columns::{Columns, left};

use crate::kit::strip;
use crate::theme::{Palette, heading, mono, sans, size, space};
use loadscope_insight::loaders::{
    Part, clocks, describe_straggler, group_names, names, rank_groups, trainer,
};
use loadscope_model::command::Command;
use loadscope_model::state::State;
use loadscope_model::view::TimeView;

/// Height of a row, points.
const ROW: f32 = 22.0;
/// Width of a part of a strip, points.
const PART: f32 = 3.0;
/// Maximum number of parts in a strip.
const MOST_PARTS: usize = 600;

/// Rows of the last frame, cached until something changes.
#[derive(Default)]
pub struct LoadersView {
    cache_key: Option<Key>,
    rank_groups: Vec<LoaderGroup>,
    /// Accuracy of the clocks.
    clocks: Vec<String>,
}

/// Everything that the rows depend on.
#[derive(PartialEq)]
struct Key {
    run: u64,
    events: u64,
    shown: RunId,
    count: usize,
    view: TimeView,
    parts: usize,
}

/// Loaders that do the same on all ranks.
struct LoaderGroup {
    /// Title of the group. `None` for a single loader, whose row has the name.
    title: Option<String>,
    /// Sentence about the straggler.
    straggler_text: Option<String>,
    rows: Vec<Row>,
}

/// Row of a loader.
struct Row {
    id: RunId,
    /// Name that is unique in the session.
    full: String,
    /// Name within the group, and host.
    name: String,
    host: String,
    batches: String,
    per_second: String,
    waited: String,
    share: String,
    parts: Vec<Part>,
    /// Start time and its uncertainty.
    within: Option<(Nanos, Nanos)>,
    holds_up: bool,
}

impl LoadersView {
    /// Shows the loaders. A click on a loader shows it in all panels.
    pub fn show(&mut self, ui: &mut Ui, state: &State) -> Vec<Command> {
        self.update(state, ui.available_width());
        let mut commands = Vec::new();
        ui.add_space(space::GAP);
        ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            head(ui, state.shown());
            for group in &self.rank_groups {
                title(ui, group);
                for row in &group.rows {
                    if one(ui, state, row) {
                        commands.push(Command::ShowLoader(row.id));
                    }
                }
            }
            if !self.clocks.is_empty() {
                ui.add_space(space::MARGIN);
            }
            for clock in &self.clocks {
                line(ui, clock, sans(size::SMALL), Palette::of(ui).weak);
            }
            ui.add_space(space::MARGIN);
        });
        commands
    }

    /// Recomputes the rows if a run, the visible range or the width has changed.
    fn update(&mut self, state: &State, width: f32) {
        let all = state.session.loaders.all(&state.session.run);
        let view = state.shown();
        let room = Rect::from_min_size(Pos2::ZERO, vec2(width, ROW));
        let strip = Columns::of(room).strip.width();
        let key = Key {
            run: state.session.run_number,
            events: all
                .iter()
                .fold(0, |sum: u64, (_, run)| sum.wrapping_add(run.version())),
            shown: state.session.loaders.shown(),
            count: all.len(),
            view,
            parts: ((strip / PART) as usize).clamp(1, MOST_PARTS),
        };
        if self.cache_key.as_ref() == Some(&key) {
            return;
        }
        let names = names(&all);
        let are_hosts = all
            .iter()
            .any(|(_, run)| run.info.host != all[0].1.info.host);
        let group = |(members, title): (&Vec<usize>, String)| {
            let runs: Vec<(RunId, &Run)> = members.iter().map(|k| all[*k]).collect();
            let slow = straggler(runs.iter().copied());
            let is_alone = runs.len() == 1;
            let rows = members.iter().map(|k| {
                let (id, run) = all[*k];
                let mut row = row(id, run, view, key.parts);
                row.full.clone_from(&names[*k]);
                row.name = match is_alone {
                    true => names[*k].clone(),
                    false => say!("rank {}", run.info.rank),
                };
                row.host = match are_hosts && !is_alone {
                    true => run.info.host.clone(),
                    false => String::new(),
                };
                row.holds_up = slow.as_ref().is_some_and(|s| s.run == id);
                row
            });
            LoaderGroup {
                title: (!is_alone).then_some(title),
                straggler_text: describe_straggler(&runs, slow.as_ref(), None),
                rows: rows.collect(),
            }
        };
        let rank_groups = rank_groups(&all);
        let titles = group_names(&all, &rank_groups);
        self.rank_groups = rank_groups.iter().zip(titles).map(group).collect();
        self.clocks = clocks(&all);
        self.cache_key = Some(key);
    }
}

/// Shows the name of a group and the description of its straggler.
fn title(ui: &mut Ui, group: &LoaderGroup) {
    ui.add_space(space::GAP * 2.0);
    let palette = Palette::of(ui);
    if let Some(title) = &group.title {
        line(ui, title, heading(size::BODY), palette.strong);
    }
    if let Some(text) = &group.straggler_text {
        line(ui, text, sans(size::BODY), palette.text);
        ui.add_space(space::GAP);
    }
}

/// Shows a text over the whole width.
fn line(ui: &mut Ui, text: &str, font: FontId, color: Color32) {
    let inner = Margin::symmetric(space::MARGIN as i8, 1);
    Frame::NONE.inner_margin(inner).show(ui, |ui| {
        ui.add(Label::new(RichText::new(text).font(font).color(color)).wrap());
    });
}

fn row(id: RunId, run: &Run, view: TimeView, parts: usize) -> Row {
    let wait_summary = WaitSummary::of(run);
    let samples: u64 = run.batches().iter().map(|b| u64::from(b.samples())).sum();
    let per_second = match wait_summary.total.as_secs_f64() {
        s if s > 0.0 && samples > 0 => format!("{:.1}", samples as f64 / s),
        _ => "—".to_owned(),
    };
    let begins = run.epochs().first().map(|epoch| epoch.start);
    let within = run.info.clock.and_then(|clock| clock.within);
    Row {
        id,
        full: String::new(),
        name: String::new(),
        host: String::new(),
        batches: count(run.batches().len() as u64),
        per_second,
        waited: wait_summary.waited.format_in_unit_of(wait_summary.total),
        share: percent(wait_summary.share()),
        parts: trainer(run, view.ends(), parts),
        within: begins.zip(within),
        holds_up: false,
    }
}

/// Shows the column names and the time range of the strips.
fn head(ui: &mut Ui, view: TimeView) {
    let palette = Palette::of(ui);
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), 18.0), Sense::hover());
    let columns = Columns::of(rect);
    let font = || sans(size::SMALL);
    left(ui, columns.name, say!("Loader"), font(), palette.weak);
    let painter = ui.painter();
    let mut numbers = vec![(
        columns.share,
        if columns.counts.is_some() {
            say!("Share")
        } else {
            say!("Waited")
        },
    )];
    if let Some([batches, speed, waited]) = columns.counts {
        numbers.extend([
            (batches, say!("Batches")),
            (speed, say!("Samples/s")),
            (waited, say!("Waited")),
        ]);
    }
    for (column, text) in numbers {
        let at = column.right_center();
        painter.text(at, Align2::RIGHT_CENTER, text, font(), palette.weak);
    }
    let strip = columns.strip;
    let font = || mono(size::SMALL);
    let (start, end) = (view.start.max(Nanos::ZERO), view.end);
    let ends = [
        (strip.left_center(), Align2::LEFT_CENTER, start),
        (strip.right_center(), Align2::RIGHT_CENTER, end),
    ];
    for (at, align, time) in ends {
        let text = match time.0 {
            0 => "0".to_owned(),
            _ => time.to_string(),
        };
        painter.text(at, align, text, font(), palette.weak);
    }
    if strip.width() > 320.0 {
        let about = say!("Waiting and training in the visible range");
        let font = sans(size::SMALL);
        painter.text(
            strip.center(),
            Align2::CENTER_CENTER,
            about,
            font,
            palette.weak,
        );
    }
}

/// Shows a loader. Returns true if the user selects it.
fn one(ui: &mut Ui, state: &State, row: &Row) -> bool {
    let palette = Palette::of(ui);
    let is_shown = row.id == state.session.loaders.shown();
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::click());
    let spoken = say!(
        "{}, {} batches, waited {}",
        row.full,
        row.batches,
        row.share
    );
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_shown, &spoken));
    if is_shown {
        ui.painter().rect_filled(rect, 0.0, palette.selected());
    } else if response.hovered() || response.has_focus() {
        ui.painter().rect_filled(rect, 0.0, palette.hovered());
    }
    let columns = Columns::of(rect);
    let color = if is_shown {
        palette.strong
    } else {
        palette.text
    };
    names_of(ui, columns.name, row, color);
    let stalled = if row.holds_up { palette.stall } else { color };
    if row.holds_up {
        let bar = Rect::from_min_size(rect.left_top() + vec2(3.0, 3.0), vec2(3.0, ROW - 6.0));
        ui.painter().rect_filled(bar, 1.0, palette.stall);
    }
    let mut numbers = vec![(columns.share, &row.share, stalled)];
    if let Some([batches, speed, waited]) = columns.counts {
        numbers.extend([
            (batches, &row.batches, color),
            (speed, &row.per_second, color),
            (waited, &row.waited, stalled),
        ]);
    }
    for (column, text, color) in numbers {
        let (at, font) = (column.right_center(), mono(size::SMALL));
        ui.painter()
            .text(at, Align2::RIGHT_CENTER, text, font, color);
    }
    let room = columns.strip.shrink2(vec2(0.0, 3.0));
    strip::paint(ui, room, &row.parts);
    uncertain(ui, state, row, room);
    cursor(ui, state, room);
    if response.has_focus() {
        let stroke = Stroke::new(1.0, palette.text);
        ui.painter()
            .rect_stroke(rect, 2.0, stroke, StrokeKind::Inside);
    }
    let tip = match is_shown {
        true => say!("This loader is shown"),
        false => say!("Shows this loader in all panels"),
    };
    let response = response.on_hover_text(format!("{spoken}\n{tip}"));
    response.clicked() && !is_shown
}

/// Shows the name and, in a weaker color, the host.
fn names_of(ui: &Ui, column: Rect, row: &Row, color: Color32) {
    left(ui, column, &row.name, sans(size::BODY), color);
    if !row.host.is_empty() {
        let (_, host) = column.split_left_right_at_fraction(0.42);
        left(ui, host, &row.host, sans(size::SMALL), Palette::of(ui).weak);
    }
}

/// Shows the uncertainty of a loader's start as a bracket, if it is wide enough.
fn uncertain(ui: &Ui, state: &State, row: &Row, room: Rect) {
    let Some((begins, within)) = row.within else {
        return;
    };
    let view = state.shown();
    let share = |time: Nanos| (time - view.start).0 as f64 / view.len().0.max(1) as f64;
    let x = |time| room.left() + room.width() * share(time) as f32;
    let (from, to) = (x(begins - within), x(begins + within));
    if to - from < 3.0 || to < room.left() || from > room.right() {
        return;
    }
    let (from, to) = (from.max(room.left()), to.min(room.right()));
    let painter = ui.painter();
    let stroke = Stroke::new(1.0, Palette::of(ui).strong);
    let y = room.center().y;
    painter.line_segment([pos2(from, y), pos2(to, y)], stroke);
    for x in [from, to] {
        painter.line_segment([pos2(x, y - 3.0), pos2(x, y + 3.0)], stroke);
    }
}

fn cursor(ui: &Ui, state: &State, room: Rect) {
    let view = state.shown();
    let share = (state.now() - view.start).0 as f64 / view.len().0 as f64;
    if (0.0..=1.0).contains(&share) {
        let x = room.left() + room.width() * share as f32;
        let line = [pos2(x, room.top()), pos2(x, room.bottom())];
        let stroke = Stroke::new(1.0, Palette::of(ui).strong);
        ui.painter().line_segment(line, stroke);
    }
}
