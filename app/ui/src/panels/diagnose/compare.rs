//! Comparison with another run: metrics with intervals, and both trainers on one time axis.

use egui::{Align, Id, Label, Rect, RichText, Role, Sense, Ui, Vec2, WidgetInfo};

use crate::kit::empty::{hint, remark};
use crate::kit::rows::Marks;
use crate::kit::strip;
use crate::kit::table::{Column, Table, Text};
use crate::kit::titles::{section_with, title_text};
use crate::theme::{Palette, mono, sans, size, space};
use loadscope_insight::diagnose;
use loadscope_insight::diagnose::compared::{Compared, Strip};
use loadscope_insight::report::compare::Outcome;
use loadscope_model::command::{Action, Command};
use loadscope_model::state::State;
use loadscope_words::say;

/// Widths of the columns, points.
const NAME: f32 = 120.0;
const NUMBER: f32 = 88.0;
const CHANGE: f32 = 210.0;
/// Height of a strip, points.
const STRIP: f32 = 32.0;

/// Shows the comparison, or a button to start one.
pub fn show(ui: &mut Ui, state: &State, compared: Option<&Compared>, commands: &mut Vec<Command>) {
    let other = state.session.diagnose.other.as_ref();
    ui.add_space(space::GAP);
    let top = Rect::from_min_size(ui.cursor().min, Vec2::splat(1.0));
    section_with(ui, say!("Compared with another run"), |ui| {
        if other.is_some() && ui.button(say!("Stop comparing")).clicked() {
            commands.push(Command::StopComparing);
        }
    });
    // The section is far below, so a new comparison scrolls it into view, until the sections above have their contents.
    let results = &state.session.results.diagnosis;
    let is_settled = compared.is_some() && (results.what_if.is_some() || results.refusal.is_some());
    let shown = Id::unique("compared with");
    let number = other
        .filter(|o| o.role != diagnose::Role::Before)
        .map(|o| o.number);
    if ui.data(|d| d.get_temp(shown)) != Some(number) {
        if is_settled || number.is_none() {
            ui.data_mut(|d| d.insert_temp(shown, number));
        }
        if number.is_some() {
            ui.scroll_to_rect(top, Some(Align::TOP));
        }
    }
    if other.is_none() {
        remark(
            ui,
            say!("Compare with another recording to see improvements and regressions"),
        );
        if ui.button(Action::Compare.info().name).clicked() {
            commands.push(Action::Compare.into());
        }
        return;
    }
    let Some(compared) = compared else {
        remark(
            ui,
            say!("The comparison is available once this run has ended"),
        );
        return;
    };
    let sentence = title_text(ui, &compared.sentence);
    ui.add(Label::new(sentence).wrap());
    remark(ui, &compared.options);
    numbers(ui, compared);
    for (name, strip) in compared.names.iter().zip(&compared.strips) {
        trainer(ui, name, strip);
    }
    hint(
        ui,
        say!("Both runs on one time axis: training below, waiting in red above"),
    );
    for (word, titles) in [
        (say!("Resolved findings"), &compared.gone),
        (say!("New findings"), &compared.new),
    ] {
        if !titles.is_empty() {
            remark(ui, &say!("{word}: {}", titles.join(say!(", "))));
        }
    }
    if let Some(epochs) = compared.only_epochs {
        let epochs =
            loadscope_insight::format::plural(epochs as u64, say!(n: "epoch"), say!(n: "epochs"));
        remark(ui, &say!("Compared: the first {epochs} of both runs"));
    }
}

fn numbers(ui: &mut Ui, compared: &Compared) {
    let palette = Palette::of(ui);
    let columns = [
        Column::words("", NAME),
        Column::numbers(&compared.names[0], NUMBER),
        Column::numbers(&compared.names[1], NUMBER),
        Column::numbers(say!("Change (95\u{2009}% interval)"), CHANGE),
    ];
    let table = Table::new(ui, columns);
    for r in &compared.rows {
        let change = Text::from(r.change.as_str());
        let change = match r.outcome {
            Outcome::Improved | Outcome::Worse => change.strong(palette),
            Outcome::Unclear => change.color(palette.weak),
        };
        let cells = [
            r.name.into(),
            r.before.as_str().into(),
            r.after.as_str().into(),
            change,
        ];
        let meaning = match r.outcome {
            Outcome::Improved => say!("Significantly better"),
            Outcome::Worse => say!("Significantly worse"),
            Outcome::Unclear => say!("Not significant"),
        };
        let response = table.row(ui, cells, Marks::default());
        response.on_hover_text(meaning);
    }
}

/// Shows the activity of a trainer from left to right.
fn trainer(ui: &mut Ui, name: &str, strip: &Strip) {
    let palette = Palette::of(ui);
    ui.horizontal(|ui| {
        let weak = palette.weak;
        ui.add_space(0.0);
        ui.label(RichText::new(name).font(sans(size::SMALL)).color(weak));
        ui.label(
            RichText::new(strip.total.to_string())
                .font(mono(size::SMALL))
                .color(weak),
        );
    });
    let response = strip::show(ui, STRIP, &strip.parts, Sense::hover());
    response
        .widget_info(|| WidgetInfo::labeled(Role::Label, true, say!("{name}, {}", strip.total)));
}
