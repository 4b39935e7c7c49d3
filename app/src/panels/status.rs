//! The status line: where the events come from, the clock, what was lost, and what watching costs.

use eframe::egui::{Align, Layout, RichText, Ui};
use loadscope_trace::{Level, Stage};

use crate::format;
use crate::state::{Source, State};
use crate::theme::{Palette, mono, size, words};
use crate::view::Cursor;

/// Shows the status line.
pub fn show(ui: &mut Ui, state: &State) {
    let palette = Palette::of(ui);
    let small = |text: String| {
        RichText::new(text)
            .font(words(size::SMALL))
            .color(palette.weak)
    };
    let digits = |text: String| {
        RichText::new(text)
            .font(mono(size::SMALL))
            .color(palette.weak)
    };
    ui.horizontal(|ui| {
        let run = &state.run;
        ui.label(small(origin(state)));
        if let Some(path) = &state.saving {
            ui.separator();
            ui.label(small(format!("Saving to {}…", path.display())));
        }
        if state.has_run() {
            ui.separator();
            ui.label(small(run.info.dataset.clone()));
            ui.separator();
            ui.label(digits(format!(
                "t = {:>12}",
                format!("{:.3} ms", state.now().as_millis_f64())
            )));
            if let Some(pinning) = &run.info.pinning {
                ui.separator();
                ui.label(small(format!("pinned: {pinning}")));
            }
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if !state.has_run() {
                return;
            }
            ui.label(digits(format!("frame {:4.1} ms", state.frame_ms)))
                .on_hover_text("What drawing the window costs the processor");
            ui.separator();
            ui.label(digits(format!("{} events", format::count(run.events()))));
            if run.dropped() > 0 {
                let text = format!("{} events lost", format::count(run.dropped()));
                let text = RichText::new(text)
                    .font(words(size::SMALL))
                    .color(palette.stall)
                    .strong();
                ui.label(text).on_hover_text(
                    "The loader was faster than the window; what is shown has gaps. \
                     Record to a file without the window to lose nothing",
                );
            }
            let (late, odd) = run.anomalies();
            if late + odd > 0 {
                ui.separator();
                ui.colored_label(
                    palette.stall,
                    small(format!("{} events out of place", format::count(late + odd))),
                );
            }
            let errors = run
                .messages()
                .iter()
                .filter(|(_, m)| m.level == Level::Error)
                .count();
            if errors > 0 {
                ui.separator();
                let text = format::plural(errors as u64, "error", "errors");
                ui.label(
                    RichText::new(text)
                        .font(words(size::SMALL))
                        .color(palette.stall),
                );
            }
        });
    });
}

fn origin(state: &State) -> String {
    match &state.source {
        Source::None => "No run".to_owned(),
        Source::Loading { share, .. } => format!("Opening, {}", format::percent(f64::from(*share))),
        Source::Live { paused } => {
            let paused = if *paused { ", paused" } else { "" };
            let past = match state.cursor {
                Cursor::Live => "",
                _ => ", the past is shown",
            };
            format!("Live{paused}{past}")
        }
        Source::Finished => {
            let left = |stage| state.run.batches().iter().any(|b| b.stage == stage);
            let how = if left(Stage::Discarded) {
                "Stopped"
            } else {
                "Finished"
            };
            format!("{how}, {}", state.run.info.origin.label())
        }
        Source::Recording { path, cut } => {
            let name = path
                .file_name()
                .unwrap_or(path.as_os_str())
                .to_string_lossy();
            let cut = if *cut { ", cut off in the middle" } else { "" };
            format!("{name}, {}{cut}", state.run.info.origin.label())
        }
    }
}
