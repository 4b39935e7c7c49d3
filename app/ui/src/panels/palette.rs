//! Command palette, which finds actions by a few typed letters.

use egui::{
    Align, Align2, Area, Id, Key, Modifiers, Order, RichText, Role, ScrollArea, Sense, TextEdit,
    Ui, WidgetInfo, pos2, vec2,
};

mod entries;

use entries::{Entry, entries};

use crate::kit::sheet::overlay_frame;
use crate::theme::{Palette, mono, sans, size, space};
use loadscope_model::command::Command;
use loadscope_model::effect::Effect;
use loadscope_model::state::State;
use loadscope_model::view::Palette as Typed;
use loadscope_words::say;

/// Width, and height of a line, points.
const WIDTH: f32 = 600.0;
const LINE: f32 = 26.0;
/// Maximum number of visible lines.
const LINES: f32 = 12.0;

/// Shows the palette if it is open.
pub fn show(ui: &mut Ui, state: &State) -> Vec<Command> {
    let Some(typed) = &state.overlay.palette else {
        return Vec::new();
    };
    let mut commands = Vec::new();
    let entries = entries(state, &typed.text);
    let mut next = typed.clone();
    next.chosen = next.chosen.min(entries.len().saturating_sub(1));
    let mut run = false;
    let area = Area::new(Id::unique("palette"))
        .order(Order::Foreground)
        .anchor(Align2::CENTER_TOP, vec2(0.0, 72.0))
        .show(ui.ctx(), |ui| {
            overlay_frame(Palette::of(ui)).show(ui, |ui| {
                ui.set_width(WIDTH);
                run = field(ui, &mut next, entries.len());
                if next.text != typed.text {
                    next.chosen = 0;
                }
                ui.add_space(space::GAP);
                let moved = next.chosen != typed.chosen;
                list(ui, &entries, next.chosen, moved, &mut commands);
            });
        });
    let outside = ui.input(|i| {
        let at = i.pointer.interact_pos();
        i.pointer.any_pressed() && at.is_some_and(|at| !area.response.rect.contains(at))
    });
    // Enter applies to the list of the previous text. Text typed in this frame does not affect it yet.
    if run && let Some(entry) = entries.get(typed.chosen.min(entries.len().saturating_sub(1))) {
        commands.extend(chosen(entry));
    } else if outside {
        commands.push(Command::Palette(None));
    } else if commands.is_empty() && next != *typed {
        commands.push(Command::Palette(Some(next)));
    }
    commands
}

/// Shows the text field. Returns true if the chosen entry should run.
fn field(ui: &mut Ui, next: &mut Typed, count: usize) -> bool {
    let key = |ui: &Ui, key| ui.input_mut(|i| i.consume_key(Modifiers::NONE, key));
    if key(ui, Key::ArrowDown) && count > 0 {
        next.chosen = (next.chosen + 1) % count;
    }
    if key(ui, Key::ArrowUp) && count > 0 {
        next.chosen = (next.chosen + count - 1) % count;
    }
    let run = key(ui, Key::Enter);
    let edit = TextEdit::singleline(&mut next.text)
        .hint_text(say!("Action or search: batch 512, slower than 200 ms"))
        .desired_width(f32::INFINITY);
    let response = ui.add(edit);
    response.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, say!("Action or search")));
    response.request_focus();
    run
}

fn list(
    ui: &mut Ui,
    entries: &[Entry],
    chosen_at: usize,
    moved: bool,
    commands: &mut Vec<Command>,
) {
    if entries.is_empty() {
        let text = say!("No matching action");
        ui.label(RichText::new(text).color(Palette::of(ui).weak));
        return;
    }
    ScrollArea::vertical()
        .max_height(LINE * LINES)
        // The area keeps the size of its last frame, so a growing list needs a minimum height.
        .min_scrolled_height(LINE * LINES)
        .auto_shrink([false, true])
        .show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            for (at, entry) in entries.iter().enumerate() {
                let response = line(ui, entry, at == chosen_at);
                if at == chosen_at && moved {
                    response.scroll_to_me(None);
                }
                if response.clicked() {
                    commands.extend(chosen(entry));
                }
            }
        });
}

/// Returns the commands of an entry. An unavailable action reports its reason, and the palette stays open.
fn chosen(entry: &Entry) -> Vec<Command> {
    match entry {
        Entry::Act(action, Some(_)) => vec![(*action).into()],
        Entry::Act(action, None) => vec![Command::Palette(None), (*action).into()],
        Entry::Compare(number, _) => vec![
            Command::Palette(None),
            Command::Perform(Effect::CompareRun(*number)),
        ],
        Entry::Find(query) => vec![
            Command::Palette(None),
            Command::Search(query.to_string()),
            loadscope_model::command::Action::Search.into(),
        ],
    }
}

/// Shows an entry with its keys, or with the reason if it is unavailable.
fn line(ui: &mut Ui, entry: &Entry, is_chosen: bool) -> egui::Response {
    let palette = Palette::of(ui);
    let (name, keys, why) = match entry {
        Entry::Act(action, why) => {
            let info = action.info();
            (info.name.to_owned(), info.keys(ui.ctx()), *why)
        }
        Entry::Compare(number, name) => {
            let name = say!("Compare with run #{number}, {name}");
            (name, String::new(), None)
        }
        Entry::Find(query) => (say!("Find {query}"), String::new(), None),
    };
    let size = vec2(ui.available_width(), LINE);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    response.widget_info(|| WidgetInfo::selected(Role::Button, why.is_none(), is_chosen, &name));
    let painter = ui.painter_at(rect);
    if is_chosen {
        painter.rect_filled(rect, 4.0, palette.selected());
    } else if response.hovered() {
        painter.rect_filled(rect, 4.0, palette.hovered());
    }
    let left = rect.left() + space::GAP * 2.0;
    let right = rect.right() - space::GAP * 2.0;
    let middle = rect.center().y;
    let color = match why {
        None => palette.strong,
        Some(_) => palette.weak,
    };
    let font = sans(size::BODY);
    let named = painter.text(pos2(left, middle), Align2::LEFT_CENTER, &name, font, color);
    let at = pos2(right, middle);
    let keys = painter.text(
        at,
        Align2::RIGHT_CENTER,
        keys,
        mono(size::SMALL),
        palette.weak,
    );
    if let Some(why) = why {
        let room = keys.left() - named.right() - 2.0 * space::GROUP;
        let mut job = egui::text::LayoutJob::simple_singleline(
            why.to_owned(),
            sans(size::SMALL),
            palette.weak,
        );
        job.wrap = egui::text::TextWrapping::truncate_at_width(room.max(0.0));
        job.halign = Align::LEFT;
        let galley = painter.layout_job(job);
        let at = pos2(named.right() + space::GROUP, middle - galley.size().y / 2.0);
        painter.galley(at, galley, palette.weak);
    }
    response
}
