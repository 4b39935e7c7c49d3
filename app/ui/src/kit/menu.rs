//! Context menu of a batch, a span, a lane or a row.

use egui::{Popup, Response, Role, WidgetInfo};
use loadscope_model::command::Command;
use loadscope_model::menu_entries::{MenuTarget, menu_entries};
use loadscope_model::state::State;

/// Width of a menu, points.
const WIDTH: f32 = 220.0;

/// Shows the context menu of `response` while it is open. The menu keeps the target that was clicked, even when the pointer moves.
pub fn show(
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
