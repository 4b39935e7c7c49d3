//! Table of all batches with their time in each stage. It sorts and scrolls a hundred thousand rows without delay.

use std::ops::Range;
use std::time::Duration;

use egui::{
    Align, Button, Layout, RichText, Role, ScrollArea, Sense, TextEdit, Ui, WidgetInfo, vec2,
};
use egui_extras::{TableBuilder, TableRow};
use loadscope_insight::format::count;
use loadscope_model::command::Command;
use loadscope_model::menu_entries::MenuTarget;
use loadscope_model::state::State;
use loadscope_model::view::Item;
use loadscope_trace::Stage;
use loadscope_words::say;

use crate::kit::action::show_menu;
use crate::kit::empty::{empty_line, no_batches_yet};
use crate::theme::{Palette, sans, size, space};
use columns::{BETWEEN, Cell, Column, widths};
use durations::Durations;
use filter::{EXAMPLE, Filter};
use order::Order;

mod columns;
mod durations;
mod filter;
mod order;
mod unit;

/// Table of all batches.
#[derive(Debug)]
pub struct BatchTable {
    /// Run number of the cached data.
    run: u64,
    durations: Durations,
    /// Sort column, and whether the largest value comes first. `None` is dispatch order.
    sort: Option<(Column, bool)>,
    /// Filter text, its parsed form, and the number of its changes.
    typed: String,
    filter: Result<Filter, String>,
    filters: u32,
    order: Order<(Option<Column>, u32)>,
    /// Time of the last sorting, seconds.
    ordered_at: f64,
    /// Selection in the last frame.
    selected: Option<Item>,
    /// Rows that were fully visible in the last frame.
    in_sight: Range<usize>,
}

impl Default for BatchTable {
    fn default() -> Self {
        Self {
            run: 0,
            durations: Durations::default(),
            sort: None,
            typed: String::new(),
            filter: Ok(Filter::default()),
            filters: 0,
            order: Order::default(),
            ordered_at: 0.0,
            selected: None,
            in_sight: 0..0,
        }
    }
}

const ROW: f32 = 20.0;
/// Interval at which the order is updated while events arrive, seconds.
const RESORT: f64 = 0.5;
/// Maximum time per frame for computing the durations of new batches.
const BUDGET: Duration = Duration::from_millis(4);

impl BatchTable {
    /// Returns the name of the last column, for tests.
    pub fn last_column() -> &'static str {
        Column::ALL.last().map_or("", |column| column.name())
    }

    /// Draws the table.
    pub fn show(&mut self, ui: &mut Ui, state: &State) -> Vec<Command> {
        let (run, platform) = (&state.session.run, state.place.platform);
        if run.batches().is_empty() {
            let room = ui.available_rect_before_wrap();
            let text = no_batches_yet(ui, state);
            empty_line(ui, room, &text);
            return Vec::new();
        }
        if self.run != state.session.run_number {
            self.run = state.session.run_number;
            self.durations = Durations::default();
            self.order.clear();
        }
        self.order.clear_beyond(run.batches().len());
        if self.typed != state.session.filter {
            self.typed.clone_from(&state.session.filter);
            self.filter = Filter::parse(&self.typed);
            self.filters += 1;
        }
        let is_complete = self.durations.update(run, &platform.budget(BUDGET));
        self.reorder(ui, state, is_complete);
        self.order.clear_beyond(run.batches().len());
        let mut commands = Vec::new();
        self.filter_field(ui, state, &mut commands);
        let columns = Column::ALL.iter().copied();
        let columns: Vec<Column> = columns.filter(|column| column.has_values(run)).collect();
        let widths = widths(&columns, ui.available_width());
        ScrollArea::horizontal()
            .id_salt("batches across")
            .show(ui, |ui| {
                self.table(ui, state, &columns, &widths, &mut commands);
            });
        // A row that was clicked here is already visible.
        let clicked = commands.iter().rev().find_map(|c| match c {
            Command::Select(item) => Some(*item),
            _ => None,
        });
        self.selected = clicked.unwrap_or(state.session.selection);
        commands
    }

    fn table(
        &mut self,
        ui: &mut Ui,
        state: &State,
        columns: &[Column],
        widths: &[f32],
        commands: &mut Vec<Command>,
    ) {
        ui.spacing_mut().item_spacing = vec2(BETWEEN, 0.0);
        // The color of a selection must not be a stage color.
        ui.visuals_mut().selection.bg_fill = Palette::of(ui.ctx()).selected();
        let mut table = TableBuilder::new(ui)
            .id_salt("batches")
            .striped(true)
            .auto_shrink(false)
            .animate_scrolling(false)
            .sense(Sense::CLICK)
            .cell_layout(Layout::right_to_left(Align::Center))
            .stick_to_bottom(state.session.source.is_live() && self.sort.is_none());
        for width in widths {
            table = table.column(egui_extras::Column::exact(*width).clip(true));
        }
        if state.session.selection != self.selected
            && let Some(at) =
                self.place_of(state.session.selection, state.session.run.batches().len())
            && !self.in_sight.contains(&at)
        {
            table = table.scroll_to_row(at, Some(Align::Center));
        }
        let mut wanted = None;
        let headed = table.header(ROW + 4.0, |mut row| {
            for column in columns {
                row.col(|ui| {
                    if self.head(ui, *column) {
                        wanted = Some(*column);
                    }
                });
            }
        });
        let pipeline = state.pipeline();
        let mut drawn: Option<(usize, usize)> = None;
        let shown = self.order.shown(state.session.run.batches().len());
        headed.body(|body| {
            body.rows(ROW, shown, |row| {
                let at = self.order.row(row.index());
                let stage = pipeline.stage_of(state.session.run.batches()[at].id);
                drawn = Some((drawn.map_or(row.index(), |(first, _)| first), row.index()));
                self.line(row, state, columns, at, stage, commands);
            });
        });
        // The first and the last row drawn may be clipped.
        self.in_sight = match drawn {
            Some((0, last)) => 0..last.saturating_sub(1),
            Some((first, last)) => first + 1..last.saturating_sub(1),
            None => 0..0,
        };
        if let Some(column) = wanted {
            self.sort_by(column);
        }
    }

    /// Shows the name of a column. Returns true if it was clicked.
    fn head(&self, ui: &mut Ui, column: Column) -> bool {
        let palette = Palette::of(ui.ctx());
        let arrow = match self.sort {
            Some((by, down)) if by == column => {
                if down {
                    " ↓"
                } else {
                    " ↑"
                }
            }
            _ => "",
        };
        let name = self.name(column);
        let color = if arrow.is_empty() {
            palette.weak
        } else {
            palette.strong
        };
        let text = RichText::new(format!("{name}{arrow}"))
            .size(size::SMALL)
            .color(color);
        let add = |ui: &mut Ui| ui.add(Button::new(text).frame(false));
        let response = if column == Column::Stage {
            let left = Layout::left_to_right(Align::Center);
            ui.with_layout(left, |ui| {
                ui.add_space(8.0);
                add(ui)
            })
            .inner
        } else {
            add(ui)
        };
        response.on_hover_text(column.meaning()).clicked()
    }

    /// Cycles from largest first to smallest first to dispatch order. Some columns start with the smallest.
    fn sort_by(&mut self, column: Column) {
        let first_down = column.sorts_down();
        self.sort = match self.sort {
            Some((by, down)) if by == column && down == first_down => Some((column, !down)),
            Some((by, _)) if by == column => None,
            _ => Some((column, first_down)),
        };
    }

    fn reorder(&mut self, ui: &Ui, state: &State, is_complete: bool) {
        let run = &state.session.run;
        let is_filtered = self.filter.as_ref().is_ok_and(|f| !f.is_empty());
        let (column, down) = self.sort.unzip();
        if column.is_none() && !is_filtered {
            self.order.clear();
            return;
        }
        let down = down.unwrap_or(false);
        if !is_complete {
            // Sorting needs the durations of all batches.
            ui.ctx().request_repaint();
            return;
        }
        let made_of = (column, self.filters);
        let wanted = (run.version(), made_of, down);
        let now = ui.input(|i| i.time);
        let is_stale = match self.order.latest_spec() {
            Some(known) if known == wanted => false,
            Some((_, f, d)) if (f, d) == (made_of, down) && state.session.source.is_live() => {
                now - self.ordered_at > RESORT
            }
            _ => true,
        };
        if is_stale {
            self.ordered_at = now;
            self.order.start(wanted);
        }
        let mut order = std::mem::take(&mut self.order);
        let key = |row| {
            let filter = self.filter.as_ref();
            let is_shown = filter.map_or(true, |f| f.shows(run, &self.durations, row));
            is_shown.then(|| match column {
                Some(column) => column.key(run, row, self.durations.of(row, column)),
                None => row as i64,
            })
        };
        if order.resume(ui.ctx(), state.place.platform, run.batches().len(), key) {
            ui.ctx().request_repaint();
        }
        self.order = order;
    }

    /// Returns the name of a column, with its unit.
    fn name(&self, column: Column) -> String {
        match self.durations.unit(column) {
            Some(unit) => format!("{}, {}", column.name(), unit.symbol),
            None => column.name().to_owned(),
        }
    }

    /// Returns the position of a selected batch in the table.
    fn place_of(&self, item: Option<Item>, count: usize) -> Option<usize> {
        let row = item?.batch().filter(|row| *row < count)?;
        self.order.position(row)
    }

    fn line(
        &self,
        mut row: TableRow<'_, '_>,
        state: &State,
        columns: &[Column],
        at: usize,
        stage: Option<Stage>,
        commands: &mut Vec<Command>,
    ) {
        let item = Item::Batch(at);
        let is_selected = state.session.selection == Some(item);
        row.set_selected(is_selected);
        row.set_hovered(state.session.hovered == Some(item));
        let times = self.durations.row(&state.session.run, at);
        for column in columns {
            row.col(|ui| {
                if *column == Column::Batch && number(ui, state, at, is_selected, commands) {
                    commands.push(Command::Select(Some(item)));
                }
                let time = times.get(*column);
                let cell = Cell {
                    time,
                    unit: self.durations.unit(*column).unwrap_or_default(),
                    is_slow: time.is_some_and(|time| self.durations.is_slow(*column, time)),
                    stage,
                };
                column.cell(ui, &state.session.run, at, &cell);
            });
        }
        let response = row.response();
        show_menu(&response, state, || Some(MenuTarget::Batch(at)), commands);
        if response.hovered() {
            commands.push(Command::Hover(Some(item)));
        }
        if response.clicked() {
            commands.push(Command::Select((!is_selected).then_some(item)));
        }
    }
}

/// Makes the first cell focusable, with the batch's name. Returns true if it was clicked.
fn number(
    ui: &Ui,
    state: &State,
    at: usize,
    is_selected: bool,
    commands: &mut Vec<Command>,
) -> bool {
    let id = ui.scope_id().with("batch");
    let response = ui.interact(ui.max_rect(), id, Sense::click());
    let name = state.session.run.batches()[at].id;
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_selected, name));
    show_menu(&response, state, || Some(MenuTarget::Batch(at)), commands);
    response.clicked()
}

/// Maximum width of the field, points.
const WIDTH: f32 = 300.0;

impl BatchTable {
    /// Shows the field and the result of the filter.
    fn filter_field(&self, ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
        let all = state.session.run.batches().len();
        let palette = Palette::of(ui);
        let small = |text: String| RichText::new(text).font(sans(size::SMALL));
        ui.horizontal(|ui| {
            ui.set_height(space::LANE + 2.0);
            ui.add_space(space::GAP * 2.0);
            let width = WIDTH.min(ui.available_width() * 0.5);
            let mut typed = self.typed.clone();
            let field = TextEdit::singleline(&mut typed)
                .hint_text(say!("Show only: {EXAMPLE}"))
                .desired_width(width);
            let response = ui.add(field);
            response
                .widget_info(|| WidgetInfo::labeled(Role::TextInput, true, say!("Batch filter")));
            if response.changed() {
                commands.push(Command::Filter(typed));
            }
            if !self.typed.is_empty() && ui.small_button(say!("Show all")).clicked() {
                commands.push(Command::Filter(String::new()));
            }
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                ui.add_space(space::GAP * 2.0);
                let shown = self.order.shown(all);
                let (text, color) = match &self.filter {
                    Err(part) => {
                        let text = say!("Invalid filter: {part}, try {EXAMPLE}");
                        (text, palette.stall)
                    }
                    Ok(_) if shown < all => {
                        let text = say!("{} of {} batches", count(shown as u64), count(all as u64));
                        (text, palette.text)
                    }
                    Ok(_) => (say!("{} batches", count(all as u64)), palette.weak),
                };
                ui.add(egui::Label::new(small(text).color(color)).truncate());
            });
        });
    }
}
