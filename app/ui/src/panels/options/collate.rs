//! Collation options.

use egui::{ComboBox, DragValue, Ui};
use loadscope_trace::{Argument, Collate, RunOptions};
use loadscope_words::say;

use super::row::{Form, part, row};
use crate::kit::dropdown;

/// Shows the collate function and the padding value.
pub(super) fn collate(ui: &mut Ui, form: &mut Form<'_>, o: &mut RunOptions) {
    row(
        ui,
        form,
        Argument::CollateFn,
        say!(
            "How samples become a batch: stacked, as a list per field, padded to the largest, or concatenated with offsets"
        ),
        |ui, label| {
            let in_force = Collate::Fitting.resolve(&o.dataset);
            let name = |choice: Collate| match choice {
                Collate::Fitting => say!("automatic ({})", short(in_force)),
                other => short(other).to_owned(),
            };
            let combo = ComboBox::from_id_salt("collate")
                .selected_text(name(o.collate))
                .width(dropdown::width(ui, 140.0))
                .truncate();
            let response = dropdown::show(ui, combo, |ui| {
                let padding = match o.collate {
                    Collate::Pad(value) => Collate::Pad(value),
                    _ => Collate::Pad(0.0),
                };
                for one in [
                    Collate::Fitting,
                    Collate::Stack,
                    Collate::List,
                    padding,
                    Collate::Concat,
                ] {
                    dropdown::value(ui, &mut o.collate, one, name(one));
                }
            });
            response.labelled_by(label);
        },
    );
    if let Collate::Pad(value) = &mut o.collate {
        part(
            ui,
            "padding_value",
            say!("Value appended to shorter samples"),
            |ui, label| {
                ui.add(DragValue::new(value).speed(0.1)).labelled_by(label);
            },
        );
    }
}

fn short(choice: Collate) -> &'static str {
    match choice {
        Collate::Fitting | Collate::Stack => say!("default"),
        Collate::List => say!("list"),
        Collate::Pad(_) => say!("pad"),
        Collate::Concat => say!("concat"),
    }
}
