//! Verdict: the share of time the trainer waits, the cause, and the best change.

use egui::{Label, Rect, RichText, Role, Sense, Ui, WidgetInfo, pos2};
use loadscope_diagnose::Severity;
use loadscope_words::say;

use crate::kit::titles::title_text;
use crate::theme::{Palette, space};
use loadscope_insight::diagnose::run_analysis::RunAnalysis;
use loadscope_insight::diagnose::what_if::WhatIf;
use loadscope_model::command::Command;
use loadscope_model::view::Item;

use super::findings::go_to;
use super::slowest::look_at;

/// Width of the bar at the left, points.
const BAR: f32 = 4.0;

/// Shows the verdict, with a bar in the color of its severity at the left.
pub fn show(
    ui: &mut Ui,
    look: &RunAnalysis,
    what_if: Option<&WhatIf>,
    pending: Option<&str>,
    commands: &mut Vec<Command>,
) {
    let palette = Palette::of(ui);
    let verdict = &look.diagnosis.verdict;
    let color = match verdict.severity {
        Severity::Note if look.share() < Severity::WARNING_SHARE => palette.step,
        _ => palette.stall,
    };
    let left = ui.max_rect().left();
    let inner = ui.horizontal(|ui| {
        ui.add_space(BAR + space::MARGIN);
        ui.vertical(|ui| {
            ui.spacing_mut().item_spacing.y = space::GAP;
            let headline = title_text(ui, &verdict.headline);
            ui.add(Label::new(headline).wrap());
            if let Some(cause) = &verdict.cause {
                let text = RichText::new(cause).color(palette.text);
                let label = Label::new(text).wrap().sense(Sense::click());
                let response = ui
                    .add(label)
                    .on_hover_text(say!("Shows it in the timeline"));
                response.widget_info(|| WidgetInfo::labeled(Role::Button, true, cause.as_str()));
                if let Some(wait) = look.waits.first().filter(|_| response.clicked()) {
                    look_at(wait.row, wait.end, commands);
                    go_to(Item::Batch(wait.row), commands);
                }
            }
            if let Some(left_out) = &verdict.left_out {
                ui.add(Label::new(RichText::new(left_out).color(palette.weak)).wrap());
            }
            if verdict.wants_outlook {
                outlook(ui, what_if, pending);
            }
        });
    });
    let rect = inner.response.rect;
    let bar = Rect::from_min_max(pos2(left, rect.top()), pos2(left + BAR, rect.bottom()));
    ui.painter().rect_filled(bar, 2.0, color);
}

/// Shows the best change. Its line exists before the forecast is ready, so that nothing moves later.
fn outlook(ui: &mut Ui, what_if: Option<&WhatIf>, pending: Option<&str>) {
    let palette = Palette::of(ui);
    let (text, color) = match (what_if.and_then(WhatIf::sentence), pending) {
        (Some(sentence), _) => (sentence, palette.text),
        (None, Some(pending)) => (pending.to_owned(), palette.weak),
        (None, None) => return,
    };
    ui.add(Label::new(RichText::new(text).color(color)).wrap());
}
