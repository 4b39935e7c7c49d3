//! Cells of the table.

use egui::{Align, Color32, Label, Layout, RichText, Sense, Ui, vec2};
use loadscope_insight::format;
use loadscope_insight::waits::LONG;
use loadscope_trace::{Nanos, Run, Stage};
use loadscope_words::say;

use super::columns::Field;
use super::durations::{ARRIVED, Row, WAITED, time};
use super::{BatchTable, samples};
use crate::pipeline::stage_dot;
use crate::theme::{Palette, mono, size};

impl BatchTable {
    /// Shows the value of a column in a row. Its color depends on how unusual the value is.
    pub(super) fn cell(
        &self,
        ui: &mut Ui,
        run: &Run,
        field: Field,
        at: usize,
        times: &Row,
        stage: Option<Stage>,
    ) {
        let palette = Palette::of(ui.ctx());
        let batch = &run.batches()[at];
        let (text, color) = match field {
            Field::Batch => (batch.id.idx.to_string(), palette.text),
            Field::Epoch => (batch.id.epoch.to_string(), palette.weak),
            Field::Worker => (
                batch.worker.map_or("—".to_owned(), |w| w.to_string()),
                palette.text,
            ),
            Field::Samples => match samples(run, at) {
                0 => ("—".to_owned(), palette.weak),
                n => (format::count(n as u64), palette.text),
            },
            Field::Time(k) => match time(times, k) {
                None => ("—".to_owned(), palette.weak),
                Some(t) if k == ARRIVED => self.arrived(t, palette),
                Some(t) if k == WAITED && t >= LONG => {
                    (self.durations.unit(k).write(t), palette.stall)
                }
                Some(t) => {
                    let usual = palette.weak.lerp_to_gamma(palette.text, 0.6);
                    let is_slow = self.durations.is_slow(k, t);
                    let color = if is_slow { palette.strong } else { usual };
                    (self.durations.unit(k).write(t), color)
                }
            },
            Field::Stage => return stage_now(ui, stage),
        };
        let text = RichText::new(text).font(mono(size::SMALL)).color(color);
        ui.add(Label::new(text).selectable(false));
    }

    /// Formats how early or late a batch arrived. A noticeable delay is red.
    fn arrived(&self, by: Nanos, palette: &Palette) -> (String, Color32) {
        let long = self
            .durations
            .unit(ARRIVED)
            .write(Nanos(by.0.saturating_abs()));
        match by < Nanos::ZERO {
            true if by.0 <= -LONG.0 => (say!("{long} late"), palette.stall),
            true => (say!("{long} late"), palette.weak),
            false => (say!("{long} early"), palette.text),
        }
    }
}

fn stage_now(ui: &mut Ui, stage: Option<Stage>) {
    ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
        ui.add_space(8.0);
        let (dot, _) = ui.allocate_exact_size(vec2(8.0, 8.0), Sense::hover());
        stage_dot(ui, dot, stage);
        let word = stage.map_or("—", Stage::label);
        ui.add(Label::new(word).selectable(false).truncate());
    });
}
