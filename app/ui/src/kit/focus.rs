//! Keyboard focus of fields that appear.

use egui::{Id, Ui};

/// Returns true in the pass in which the widget `id` appears. A widget that was absent in the previous pass appears again.
pub fn just_appeared(ui: &Ui, id: Id) -> bool {
    let pass = ui.ctx().cumulative_pass_nr();
    let key = id.with("last shown");
    let last = ui.data_mut(|d| {
        let last = d.get_temp::<u64>(key);
        d.insert_temp(key, pass);
        last
    });
    last.is_none_or(|last| last + 1 < pass)
}
