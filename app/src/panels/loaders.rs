//! All loaders of the session under each other: what their trainers did in the range on the screen, and which rank holds the
//! others up.

use eframe::egui::text::{LayoutJob, TextWrapping};
use eframe::egui::{
    Align2, Color32, FontId, Frame, Label, Margin, Pos2, Rect, RichText, Role, ScrollArea, Sense,
    Stroke, StrokeKind, Ui, WidgetInfo, pos2, vec2,
};
use loadscope_trace::fleet::{Straggler, straggler};
use loadscope_trace::{Glance, Nanos, Run, RunId, count, percent};

use super::strip;
use crate::command::Command;
use crate::loaders::{crews, name, trainer};
use crate::state::State;
use crate::theme::{Palette, heading, mono, size, space, words};
use crate::view::TimeView;

/// Height of a row.
const ROW: f32 = 26.0;
/// Widths of the columns before the strip.
const NAME: f32 = 180.0;
const NUMBER: f32 = 64.0;
/// From this width on there is room for all columns.
const ROOMY: f32 = 760.0;
/// A strip is drawn of so many parts at most.
const MOST_PARTS: usize = 600;

/// What was drawn in the last frame, as long as nothing changes.
#[derive(Default)]
pub struct LoadersView {
    made_for: Option<Key>,
    rows: Vec<Row>,
    sentences: Vec<String>,
}

/// What the rows depend on.
#[derive(PartialEq)]
struct Key {
    events: u64,
    shown: RunId,
    count: usize,
    view: TimeView,
    parts: usize,
}

/// A loader.
struct Row {
    id: RunId,
    name: String,
    batches: String,
    per_second: String,
    waited: String,
    parts: Vec<(f32, f32)>,
    /// The first of those that do the same on all ranks.
    begins: bool,
    holds_up: bool,
}

impl LoadersView {
    /// Shows them; a click on one shows it in the place of the present one.
    pub fn show(&mut self, ui: &mut Ui, state: &State) -> Vec<Command> {
        self.update(state, ui.available_width());
        let mut commands = Vec::new();
        ui.add_space(space::GAP);
        let margin = space::MARGIN;
        ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = space::GAP;
            let strong = Palette::of(ui).strong;
            let inner = Margin::symmetric(margin as i8, 0);
            Frame::NONE.inner_margin(inner).show(ui, |ui| {
                for sentence in &self.sentences {
                    let text = RichText::new(sentence).font(heading(size::BODY));
                    ui.add(Label::new(text.color(strong)).wrap());
                }
            });
            head(ui, margin);
            for row in &self.rows {
                if row.begins {
                    ui.add_space(space::GAP);
                }
                if one(ui, state, row, margin) {
                    commands.push(Command::ShowLoader(row.id));
                }
            }
        });
        commands
    }

    fn update(&mut self, state: &State, width: f32) {
        let all = state.loaders.all(&state.run);
        let view = state.shown();
        let room = Rect::from_min_size(Pos2::ZERO, vec2(width, ROW));
        let strip = Columns::of(room, space::MARGIN).strip.width();
        let key = Key {
            events: all.iter().map(|(_, run)| run.events()).sum(),
            shown: state.loaders.shown(),
            count: all.len(),
            view,
            parts: (strip as usize / 2).clamp(1, MOST_PARTS),
        };
        if self.made_for.as_ref() == Some(&key) {
            return;
        }
        self.rows.clear();
        self.sentences.clear();
        for crew in crews(&all) {
            let runs: Vec<(RunId, &Run)> = crew.iter().map(|k| all[*k]).collect();
            let slow = straggler(runs.iter().copied());
            self.sentences.extend(said(&runs, slow.as_ref()));
            for (k, (id, run)) in runs.iter().enumerate() {
                self.rows.push(Row {
                    begins: k == 0,
                    holds_up: slow.as_ref().is_some_and(|s| s.run == *id),
                    ..row(*id, run, view, key.parts)
                });
            }
        }
        self.made_for = Some(key);
    }
}

/// Whether a rank holds the others up, in a sentence.
fn said(runs: &[(RunId, &Run)], slow: Option<&Straggler>) -> Option<String> {
    let (_, first) = runs.first().filter(|_| runs.len() > 1)?;
    let Some(slow) = slow else {
        return Some(format!(
            "No rank of {} waits for its loader longer than the others",
            first.info.dataset
        ));
    };
    let slowest = runs.iter().find(|(id, _)| *id == slow.run);
    let whole = slowest.map_or(Nanos::ZERO, |(_, run)| Glance::of(run).total);
    let often = match slow.of_epochs {
        0 | 1 => String::new(),
        of => format!("; it was the slowest in {} of {of} epochs", slow.epochs),
    };
    Some(format!(
        "Rank {} holds the others up: its trainer waited {} for {}, the median of theirs is {} ({} of the time){often}",
        slow.rank,
        slow.waited.beside(whole),
        first.info.dataset,
        slow.usual.beside(whole),
        percent(slow.share)
    ))
}

fn row(id: RunId, run: &Run, view: TimeView, parts: usize) -> Row {
    let glance = Glance::of(run);
    let samples: u64 = run.batches().iter().map(|b| u64::from(b.samples())).sum();
    let per_second = match glance.total.as_secs_f64() {
        s if s > 0.0 => format!("{:.1}", samples as f64 / s),
        _ => "—".to_owned(),
    };
    Row {
        id,
        name: name(&run.info),
        batches: count(run.batches().len() as u64),
        per_second,
        waited: percent(glance.share()),
        parts: trainer(run, view, parts),
        begins: false,
        holds_up: false,
    }
}

/// Where the columns stand.
struct Columns {
    name: Rect,
    /// Batches and samples a second, where there is room.
    counts: Option<[Rect; 2]>,
    waited: Rect,
    strip: Rect,
}

impl Columns {
    fn of(rect: Rect, margin: f32) -> Self {
        let mut x = rect.left() + margin;
        let mut next = |width: f32| {
            let column = Rect::from_x_y_ranges(x..=x + width, rect.y_range());
            x += width + margin;
            column
        };
        let name = next(NAME);
        let counts = (rect.width() >= ROOMY).then(|| [next(NUMBER), next(NUMBER)]);
        let waited = next(NUMBER);
        let strip = x..=(rect.right() - margin).max(x + 1.0);
        Self {
            name,
            counts,
            waited,
            strip: Rect::from_x_y_ranges(strip, rect.y_range()),
        }
    }
}

/// Text at the left of a column, cut with an ellipsis where it is too long.
fn left(ui: &Ui, column: Rect, text: &str, font: FontId, colour: Color32) {
    let mut job = LayoutJob::simple_singleline(text.to_owned(), font, colour);
    job.wrap = TextWrapping::truncate_at_width(column.width());
    let galley = ui.painter().layout_job(job);
    let at = Align2::LEFT_CENTER.align_size_within_rect(galley.size(), column);
    ui.painter().galley(at.min, galley, colour);
}

fn head(ui: &mut Ui, margin: f32) {
    let palette = Palette::of(ui);
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), 18.0), Sense::hover());
    let columns = Columns::of(rect, margin);
    let font = || words(size::SMALL);
    left(ui, columns.name, "Loader", font(), palette.weak);
    let about = "Its trainer, in the range on the screen";
    left(ui, columns.strip, about, font(), palette.weak);
    let mut numbers = vec![(columns.waited, "Waited")];
    if let Some([batches, speed]) = columns.counts {
        numbers.extend([(batches, "Batches"), (speed, "Samples/s")]);
    }
    for (column, text) in numbers {
        let at = column.right_center();
        let align = Align2::RIGHT_CENTER;
        ui.painter().text(at, align, text, font(), palette.weak);
    }
}

/// A loader; true if it is asked for.
fn one(ui: &mut Ui, state: &State, row: &Row, margin: f32) -> bool {
    let palette = Palette::of(ui);
    let is_shown = row.id == state.loaders.shown();
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::click());
    let spoken = format!(
        "{}, {} batches, waited {}",
        row.name, row.batches, row.waited
    );
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_shown, &spoken));
    if is_shown {
        ui.painter().rect_filled(rect, 0.0, palette.selected());
    } else if response.hovered() || response.has_focus() {
        ui.painter().rect_filled(rect, 0.0, palette.hovered());
    }
    let columns = Columns::of(rect, margin);
    let colour = if is_shown {
        palette.strong
    } else {
        palette.text
    };
    left(ui, columns.name, &row.name, words(size::BODY), colour);
    let stalled = if row.holds_up { palette.stall } else { colour };
    let mut numbers = vec![(columns.waited, &row.waited, stalled)];
    if let Some([batches, speed]) = columns.counts {
        numbers.extend([
            (batches, &row.batches, colour),
            (speed, &row.per_second, colour),
        ]);
    }
    for (column, text, colour) in numbers {
        let (at, font) = (column.right_center(), mono(size::SMALL));
        ui.painter()
            .text(at, Align2::RIGHT_CENTER, text, font, colour);
    }
    let room = columns.strip.shrink2(vec2(0.0, 3.0));
    strip::paint(ui, room, &row.parts);
    cursor(ui, state, room);
    if response.has_focus() {
        let stroke = Stroke::new(1.0, palette.text);
        ui.painter()
            .rect_stroke(rect, 2.0, stroke, StrokeKind::Inside);
    }
    let response = response.on_hover_text(match is_shown {
        true => "This one is shown",
        false => "Shows this one: machine, timeline, and everything else",
    });
    response.clicked() && !is_shown
}

/// The instant that is looked at.
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
