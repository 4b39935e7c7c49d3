//! Preview of the action for files dragged over the window.

use std::path::PathBuf;

use egui::{Align2, Area, Id, LayerId, Margin, Order, RichText, Stroke, StrokeKind, Ui, Vec2};

use crate::kit::sheet::overlay_frame;
use crate::kit::titles;
use crate::theme::{Palette, sans, size};
use loadscope_insight::format::plural;
use loadscope_words::say;

/// Shows the preview above everything else while files are dragged over the window.
pub fn show(ui: &Ui) {
    let held = ui.input(|input| {
        let files = input.raw.hovered_files.iter();
        let paths = files.map(|file| file.path.clone().unwrap_or_default());
        paths.collect::<Vec<PathBuf>>()
    });
    let Some((title, more)) = drop_text(&held) else {
        return;
    };
    let palette = Palette::of(ui);
    let window = ui.content_rect();
    let id = Id::unique("drop");
    let veil = LayerId::new(Order::Foreground, id.with("veil"));
    let painter = ui.ctx().layer_painter(veil);
    painter.rect_filled(window, 0.0, palette.canvas.gamma_multiply(0.7));
    let edge = Stroke::new(2.0, palette.fetch);
    painter.rect_stroke(window, 0.0, edge, StrokeKind::Inside);
    Area::new(id)
        .order(Order::Tooltip)
        .anchor(Align2::CENTER_CENTER, Vec2::ZERO)
        .interactable(false)
        .show(ui.ctx(), |ui| {
            let room = Margin::symmetric(24, 16);
            overlay_frame(palette).inner_margin(room).show(ui, |ui| {
                ui.set_max_width(480.0);
                ui.vertical_centered(|ui| {
                    titles::title(ui, title);
                    if let Some(more) = more {
                        let more = RichText::new(more).font(sans(size::SMALL));
                        ui.label(more.color(palette.text));
                    }
                });
            });
        });
}

/// Returns the action and optional details. Returns `None` if no files are dragged.
fn drop_text(held: &[PathBuf]) -> Option<(String, Option<String>)> {
    let name = |path: &PathBuf| match path.file_name() {
        Some(name) => name.to_string_lossy().into_owned(),
        None => say!("it").to_owned(),
    };
    let first = name(held.first()?);
    Some(match &held[1..] {
        [] => (say!("Drop to open {first}"), None),
        [second] => (say!("Drop to compare {first} with {}", name(second)), None),
        others => (
            say!("Drop to open {first}"),
            Some(say!(
                "{} will be added to Recent. To open recordings of one job together, drop their folder.",
                plural(others.len() as u64, say!(n: "other"), say!(n: "others"))
            )),
        ),
    })
}
