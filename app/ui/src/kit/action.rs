//! Buttons of actions, and context menus.

use egui::{Button, Context, Popup, Response, RichText, Role, Ui, WidgetInfo};
use loadscope_model::command::{Action, Command};
use loadscope_model::menu_entries::{MenuTarget, menu_entries};
use loadscope_model::state::State;
use loadscope_model::update::obstacle;

use crate::theme::{sans, size};

/// Returns the tooltip of an action: name, key and description.
pub fn tooltip(ctx: &Context, action: Action) -> String {
    let info = action.info();
    match action.all_keys(ctx) {
        keys if keys.is_empty() => format!("{}\n{}", info.name, info.tooltip),
        keys => format!("{}  {keys}\n{}", info.name, info.tooltip),
    }
}

/// Returns the tooltip of an action, with the reason if it is unavailable now.
pub fn tooltip_with_obstacle(ctx: &Context, state: &State, action: Action) -> String {
    let about = tooltip(ctx, action);
    match obstacle(state, action) {
        Some(why) => format!("{about}\n{why}"),
        None => about,
    }
}

/// Adds the tooltip of `action` to `response` and pushes the action when it is clicked.
pub fn push_on_click(response: Response, action: Action, commands: &mut Vec<Command>) {
    let about = tooltip(&response.ctx, action);
    if response.on_hover_text(about).clicked() {
        commands.push(action.into());
    }
}

/// Shows a button with the action's own name. While the action is unavailable, the tooltip gives the reason.
pub fn button(ui: &mut Ui, state: &State, action: Action, on: bool, commands: &mut Vec<Command>) {
    let is_possible = obstacle(state, action).is_none();
    let button = Button::new(action.info().name).selected(on);
    let response = ui.add_enabled(is_possible, button);
    let why_not = tooltip_with_obstacle(ui, state, action);
    push_on_click(response.on_disabled_hover_text(why_not), action, commands);
}

/// Shows a button with a shorter name than the action's own. While the action is unavailable, the tooltip gives the reason.
pub fn renamed_button(
    ui: &mut Ui,
    state: &State,
    action: Action,
    name: &str,
    commands: &mut Vec<Command>,
) {
    let is_possible = obstacle(state, action).is_none();
    let response = ui.add_enabled(is_possible, Button::new(name));
    let why_not = tooltip_with_obstacle(ui, state, action);
    push_on_click(response.on_disabled_hover_text(why_not), action, commands);
}

/// Returns a small button with one word.
pub fn small_button(word: &str) -> Button<'_> {
    Button::new(RichText::new(word).font(sans(size::SMALL))).small()
}

/// Sets the accessible name of `response` to the name of the action, for screen readers.
pub fn set_accessible_name(response: &Response, action: Action) {
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, action.info().name));
}

/// Width of a menu, points.
const WIDTH: f32 = 220.0;

/// Shows the context menu of `response` while it is open. The menu keeps the target that was clicked, even when the pointer moves.
pub fn show_menu(
    response: &Response,
    state: &State,
    thing: impl FnOnce() -> Option<MenuTarget>,
    commands: &mut Vec<Command>,
) {
    let id = response.id.with("thing of the menu");
    if response.secondary_clicked() {
        let Some(thing) = thing() else {
            return;
        };
        response.ctx.data_mut(|data| data.insert_temp(id, thing));
    }
    Popup::context_menu(response).show(|ui| {
        ui.set_min_width(WIDTH);
        let Some(thing) = ui.data(|data| data.get_temp::<MenuTarget>(id)) else {
            return;
        };
        for (k, group) in menu_entries(state, thing).into_iter().enumerate() {
            if k > 0 {
                ui.separator();
            }
            for offer in group {
                let button = ui.button(&offer.text);
                button.widget_info(|| WidgetInfo::labeled(Role::MenuItem, true, &offer.text));
                if button.clicked() {
                    commands.extend(offer.commands);
                    ui.close();
                }
            }
        }
    });
}
