//! Search field and its results.

use egui::text::{CCursor, CCursorRange};
use egui::text_edit::TextEditState;
use egui::{
    Align, Align2, Area, Id, Key, Layout, Modifiers, Order, Rect, RichText, Role, ScrollArea,
    Sense, TextEdit, Ui, WidgetInfo, pos2, vec2,
};

use super::transport::icon_button;
use crate::kit::icons::Icon;
use crate::kit::sheet::overlay_frame;
use crate::theme::{Palette, mono, sans, size, space};
use loadscope_insight::format;
use loadscope_insight::search::{Hit, Query, example_of_slow};
use loadscope_model::command::{Action, Command};
use loadscope_model::state::State;
use loadscope_words::say;

/// Maximum width, points.
const WIDTH: f32 = 520.0;
/// Minimum width, points.
const LEAST: f32 = 300.0;
/// Width of the margins and the border, points.
const MARGINS: f32 = 32.0;
/// Top edge, below the toolbar, points.
const TOP: f32 = 38.0;
/// Height of a line, points.
const LINE: f32 = 22.0;
/// Maximum number of visible results. The list scrolls.
const MAX_VISIBLE: usize = 8;

/// Shows the search if it is open, above `middle`, so that the inspector next to it stays visible.
pub fn show(ui: &mut Ui, state: &State, middle: Rect) -> Vec<Command> {
    let mut commands = Vec::new();
    if !state.look.search.open || state.overlay.palette.is_some() {
        return commands;
    }
    let width = (middle.width() - MARGINS).clamp(LEAST, WIDTH);
    Area::new(Id::unique("search"))
        .order(Order::Foreground)
        .pivot(Align2::CENTER_TOP)
        .fixed_pos(pos2(middle.center().x, TOP))
        .show(ui.ctx(), |ui| {
            overlay_frame(Palette::of(ui)).show(ui, |ui| {
                ui.set_width(width);
                ui.horizontal(|ui| field(ui, state, &mut commands));
                if state.look.search.query().is_none() {
                    examples(ui, state, &mut commands);
                } else {
                    hits(ui, state, &mut commands);
                }
            });
        });
    commands
}

fn field(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    let search = &state.look.search;
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        if ui
            .small_button(say!("Close"))
            .on_hover_text(say!("Closes the search  Esc"))
            .clicked()
        {
            commands.push(Action::Escape.into());
        }
        ui.spacing_mut().item_spacing.x = 2.0;
        let any = !search.hits().is_empty();
        for (action, icon) in [
            (Action::NextMatch, Icon::Down),
            (Action::PreviousMatch, Icon::Up),
        ] {
            let info = action.info();
            let tip = format!("{}  {}", info.name, action.all_keys(ui.ctx()));
            let response = icon_button(ui, any, icon, "", false, info.name);
            if response.on_hover_text(tip).clicked() && any {
                commands.push(action.into());
            }
        }
        ui.spacing_mut().item_spacing.x = 8.0;
        let text = RichText::new(count(state)).font(mono(size::SMALL));
        ui.label(text.color(Palette::of(ui).weak));
        let mut text = search.text().to_owned();
        let id = Id::unique("search field");
        let key = |ui: &Ui, modifiers, key| {
            ui.memory(|m| m.has_focus(id)) && ui.input_mut(|i| i.consume_key(modifiers, key))
        };
        let back = key(ui, Modifiers::SHIFT, Key::Enter) || key(ui, Modifiers::NONE, Key::ArrowUp);
        let on = key(ui, Modifiers::NONE, Key::Enter) || key(ui, Modifiers::NONE, Key::ArrowDown);
        let edit = TextEdit::singleline(&mut text)
            .id(id)
            .hint_text(say!("batch 512, sample 40123, slower than 200 ms"))
            .desired_width(f32::INFINITY);
        let response = ui.add(edit);
        response.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, say!("Search")));
        // Each search command focuses the field.
        let seen = id.with("asked");
        if ui.data(|d| d.get_temp(seen)) != Some(search.asked) {
            ui.data_mut(|d| d.insert_temp(seen, search.asked));
            response.request_focus();
            // New text replaces the old text.
            if let Some(mut kept) = TextEditState::load(ui.ctx(), id) {
                let all = CCursorRange::two(CCursor::new(0), CCursor::new(text.chars().count()));
                kept.cursor.set_char_range(Some(all));
                kept.store(ui.ctx(), id);
            }
        }
        if text != search.text() {
            commands.push(Command::Search(text));
        } else if back && any {
            commands.push(Action::PreviousMatch.into());
        } else if on && any {
            commands.push(Action::NextMatch.into());
        }
    });
}

/// Returns, for example, `3 of 41`, with an ellipsis while the search continues.
fn count(state: &State) -> String {
    let search = &state.look.search;
    if search.query().is_none() {
        return String::new();
    }
    let count = format::count(search.hits().len() as u64);
    let more = if search.is_complete(&state.session.run) {
        ""
    } else {
        "…"
    };
    match search.current {
        Some(at) => say!("{} of {count}{more}", format::count(at as u64 + 1)),
        None => say!("{count} found{more}"),
    }
}

fn examples(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    let weak = Palette::of(ui).weak;
    ui.add_space(space::GAP);
    ui.horizontal_wrapped(|ui| {
        ui.label(
            RichText::new(say!("For example"))
                .font(sans(size::SMALL))
                .color(weak),
        );
        let slowest = example_of_slow(&state.session.run);
        let slow = slowest.map(|t| {
            let half = loadscope_trace::Nanos(t.0 / 2);
            format!("batches slower than {half}").replace('\u{2009}', " ")
        });
        let fixed = Query::EXAMPLES
            .into_iter()
            .filter(|e| !e.starts_with("slower"));
        for example in fixed.map(str::to_owned).chain(slow) {
            if ui.small_button(&example).clicked() {
                commands.push(Command::Search(example));
                commands.push(Action::Search.into());
            }
        }
    });
}

fn hits(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    let palette = Palette::of(ui);
    let search = &state.look.search;
    let all = search.hits();
    if all.is_empty() {
        let text = match (search.is_complete(&state.session.run), search.query()) {
            (false, _) => say!("Searching…").to_owned(),
            (true, Some(Query::Text(text))) => say!(
                "No match for {text:?}. Try a number, sample 3, worker 3, slower than 200 ms or errors."
            ),
            _ => say!("Nothing found").to_owned(),
        };
        ui.label(RichText::new(text).color(palette.weak));
        return;
    }
    ui.add_space(space::GAP);
    ui.spacing_mut().item_spacing.y = 0.0;
    // After a jump to a result, the list would only cover the view.
    if let Some((at, hit)) = search.current.and_then(|at| Some((at, all.get(at)?))) {
        line(ui, state, at, hit, commands);
        return;
    }
    ScrollArea::vertical()
        .id_salt("hits")
        .max_height(LINE * MAX_VISIBLE as f32)
        .min_scrolled_height(LINE * MAX_VISIBLE as f32)
        .show_rows(ui, LINE, all.len(), |ui, range| {
            for at in range {
                if let Some(hit) = all.get(at) {
                    line(ui, state, at, hit, commands);
                }
            }
        });
}

/// Shows a result in the list.
fn line(ui: &mut Ui, state: &State, at: usize, hit: &Hit, commands: &mut Vec<Command>) {
    let palette = Palette::of(ui);
    let (what, more) = hit.describe(&state.session.run);
    let room = vec2(ui.available_width(), LINE);
    let (rect, response) = ui.allocate_exact_size(room, Sense::click());
    let name = say!("{what}, {more}");
    let here = state.look.search.current == Some(at);
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, here, &name));
    let painter = ui.painter_at(rect);
    if response.hovered() {
        painter.rect_filled(rect, 4.0, palette.hovered());
    }
    let left = pos2(rect.left() + space::GAP * 2.0, rect.center().y);
    let font = sans(size::BODY);
    let named = painter.text(left, Align2::LEFT_CENTER, what, font, palette.strong);
    let at_x = named.right().max(rect.left() + 160.0) + space::GROUP;
    let more = more.lines().next().unwrap_or_default().to_owned();
    painter.text(
        pos2(at_x, rect.center().y),
        Align2::LEFT_CENTER,
        more,
        sans(size::SMALL),
        palette.weak,
    );
    if response.clicked() {
        commands.push(Command::Hit(at));
    }
}
