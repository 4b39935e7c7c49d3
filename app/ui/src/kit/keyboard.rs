//! Keyboard focus of fields that appear.

use egui::{Id, Ui};

/// True in the pass in which the widget `id` appears, also if it has appeared before: it was not there in the pass before.
pub fn appears(ui: &Ui, id: Id) -> bool {
    let pass = ui.ctx().cumulative_pass_nr();
    let key = id.with("last shown");
    let last = ui.data_mut(|d| {
        let last = d.get_temp::<u64>(key);
        d.insert_temp(key, pass);
        last
    });
    last.is_none_or(|last| last + 1 < pass)
}
