//! Drop-downs, operated by mouse or keyboard.

use egui::{
    ComboBox, Context, EventFilter, FocusDirection, Id, InnerResponse, Key, Modifiers, Response,
    Ui, WidgetText,
};

/// Maximum time between two typed letters of one word, seconds.
const TYPE_AHEAD_TIMEOUT: f64 = 1.0;

/// Entry of the open drop-down.
#[derive(Clone)]
struct Entry {
    id: Id,
    name: String,
    is_chosen: bool,
}

/// Keyboard state of the open drop-down.
#[derive(Clone, Default)]
struct KeyboardState {
    /// True once the chosen entry has received the keyboard focus.
    has_focused: bool,
    /// Letters typed so far, in lower case.
    typed: String,
    /// Time of the last letter, seconds.
    typed_at: f64,
}

/// Shows a drop-down. It opens with the keyboard focus on the chosen entry. Arrow keys move to the next entry. Letters select the next
/// entry that begins with them.
pub fn show(ui: &mut Ui, combo: ComboBox<'_>, entries: impl FnOnce(&mut Ui)) -> Response {
    let of_entries = Id::unique("entries of the open drop-down");
    ui.data_mut(|d| d.insert_temp(of_entries, Vec::<Entry>::new()));
    let InnerResponse { inner, response } = combo.show_ui(ui, entries);
    let all: Vec<Entry> = ui
        .data_mut(|d| d.remove_temp(of_entries))
        .unwrap_or_default();
    let of_open = response.id.with("keyboard");
    let open = ui.data_mut(|d| d.remove_temp::<KeyboardState>(of_open));
    match inner {
        Some(()) => {
            let open = keys(ui, &all, open.unwrap_or_default());
            ui.data_mut(|d| d.insert_temp(of_open, open));
        }
        // After a choice by keyboard, the focus returns to the drop-down.
        None if open.is_some() && ui.memory(|m| m.focused().is_none()) => {
            response.request_focus();
        }
        None => {}
    }
    response
}

/// Returns the width of a drop-down in a row after a name, points. It is at most `most`.
pub fn width(ui: &Ui, most: f32) -> f32 {
    ui.available_width().min(most)
}

/// Shows an entry and returns true if it was chosen in this frame.
pub fn entry(ui: &mut Ui, is_chosen: bool, text: impl Into<WidgetText>) -> bool {
    item(ui, is_chosen, text).clicked()
}

/// Shows an entry and returns its response, for a tooltip.
pub fn item(ui: &mut Ui, is_chosen: bool, text: impl Into<WidgetText>) -> Response {
    let text = text.into();
    let name = text.text().to_lowercase();
    let response = ui.selectable_label(is_chosen, text);
    let id = response.id;
    if !response.enabled() {
        return response;
    }
    ui.data_mut(|d| {
        let all: &mut Vec<Entry> =
            d.get_temp_mut_or_default(Id::unique("entries of the open drop-down"));
        all.push(Entry {
            id,
            name,
            is_chosen,
        });
    });
    let arrows = EventFilter {
        vertical_arrows: true,
        ..EventFilter::default()
    };
    // Without the lock, egui would move the focus to the nearest widget below, even outside the list.
    ui.memory_mut(|m| m.set_focus_lock_filter(id, arrows));
    if response.gained_focus() {
        response.scroll_to_me(None);
    }
    // Egui closes the list only on a pointer click. After Enter it would stay open.
    if response.clicked() {
        ui.close();
    }
    response
}

/// Shows an entry that sets `current` to `value`.
pub fn value<V: PartialEq>(ui: &mut Ui, current: &mut V, value: V, text: impl Into<WidgetText>) {
    if entry(ui, *current == value, text) {
        *current = value;
    }
}

/// Moves the keyboard focus to the entry that this pass's key presses select.
fn keys(ctx: &Context, all: &[Entry], mut open: KeyboardState) -> KeyboardState {
    let focused = ctx.memory(|m| m.focused());
    let at = all.iter().position(|entry| Some(entry.id) == focused);
    let next = if open.has_focused {
        by_arrow(ctx, all.len(), at).or_else(|| by_letter(ctx, all, at, &mut open))
    } else {
        // The key press that opens the list must not also choose an entry.
        let opens = ctx.input(|i| i.key_pressed(Key::Enter) || i.key_pressed(Key::Space));
        // The first pass only measures the list, which has no entries yet.
        open.has_focused = !opens && !all.is_empty();
        let chosen = all.iter().position(|entry| entry.is_chosen);
        open.has_focused.then(|| chosen.unwrap_or(0))
    };
    if let Some(entry) = next.and_then(|next| all.get(next)) {
        ctx.memory_mut(|m| {
            m.move_focus(FocusDirection::None);
            m.request_focus(entry.id);
        });
        ctx.request_repaint();
    } else if !open.has_focused {
        ctx.request_repaint();
    }
    open
}

fn by_arrow(ctx: &Context, count: usize, at: Option<usize>) -> Option<usize> {
    let pressed = |key| ctx.input_mut(|i| i.consume_key(Modifiers::NONE, key));
    let last = count.checked_sub(1)?;
    if pressed(Key::ArrowDown) {
        return Some(at.map_or(0, |at| (at + 1).min(last)));
    }
    if pressed(Key::ArrowUp) {
        return Some(at.map_or(last, |at| at.saturating_sub(1)));
    }
    None
}

/// Returns the first entry that begins with the letters typed so far. Repeating the same letter selects the next entry.
fn by_letter(
    ctx: &Context,
    all: &[Entry],
    at: Option<usize>,
    open: &mut KeyboardState,
) -> Option<usize> {
    let (now, typed) = ctx.input(|i| {
        let texts = i.events.iter().filter_map(|event| match event {
            egui::Event::Text(text) => Some(text.to_lowercase()),
            _ => None,
        });
        (i.time, texts.collect::<String>())
    });
    if typed.trim().is_empty() {
        return None;
    }
    if now - open.typed_at > TYPE_AHEAD_TIMEOUT {
        open.typed.clear();
    }
    open.typed_at = now;
    let again = open.typed == typed;
    if !again {
        open.typed += &typed;
    }
    let begins = |entry: &Entry| entry.name.starts_with(&open.typed);
    let after = at.filter(|_| again).map_or(0, |at| at + 1);
    let found = all.iter().skip(after).position(begins);
    let found = found.map(|found| found + after);
    found.or_else(|| all.iter().position(begins))
}
