//! How samples become a batch.

use egui::{ComboBox, DragValue, Ui};
use loadscope_trace::{Collate, RunOptions};

use super::row::row;

/// The collate function, and the value of padding.
pub(super) fn collate(ui: &mut Ui, o: &mut RunOptions) {
    row(
        ui,
        "collate_fn",
        "How samples become a batch: stacked, as lists of each field, padded to the largest, or one behind the other with offsets",
        |ui, label| {
            let in_force = Collate::Fitting.in_force(&o.dataset);
            let name = |choice: Collate| match choice {
                Collate::Fitting => format!("usual ({})", short(in_force)),
                other => short(other).to_owned(),
            };
            let combo = ComboBox::from_id_salt("collate")
                .selected_text(name(o.collate))
                .width(140.0);
            let response = combo.show_ui(ui, |ui| {
                let padding = match o.collate {
                    Collate::Pad(value) => Collate::Pad(value),
                    _ => Collate::Pad(0.0),
                };
                for choice in [
                    Collate::Fitting,
                    Collate::Stack,
                    Collate::List,
                    padding,
                    Collate::Concat,
                ] {
                    ui.selectable_value(&mut o.collate, choice, name(choice));
                }
            });
            response.response.labelled_by(label);
        },
    );
    if let Collate::Pad(value) = &mut o.collate {
        row(
            ui,
            "padding_value",
            "What stands behind the elements of a shorter sample",
            |ui, label| {
                ui.add(DragValue::new(value).speed(0.1)).labelled_by(label);
            },
        );
    }
}

fn short(choice: Collate) -> &'static str {
    match choice {
        Collate::Fitting | Collate::Stack => "default",
        Collate::List => "list",
        Collate::Pad(_) => "pad",
        Collate::Concat => "concat",
    }
}
