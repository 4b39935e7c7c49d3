//! Interior of a worker's box: its activity, the current sample and the sample costs.

use egui::{Align2, Rect, Ui, pos2, vec2};
use loadscope_trace::{HeldBatch, Lane, Stage};
use loadscope_words::say;

use super::layout::PAD;
use super::pen::{Pen, Presence, inset, row, text_width};
use super::previews;
use super::sample_costs::{Part, SampleProgress, parts, sample_in_progress, weight};
use super::workers::{IDLE, ROOMY};
use crate::theme::{mono, sans, size};

/// Margin around a preview, points.
const INSET: f32 = 6.0;
/// Multiple of the median cost from which a sample is slow.
const SLOW: i64 = 3;

impl Pen<'_> {
    /// Draws the samples of a batch that is being fetched, next to each other. Higher costs stand out more.
    pub(super) fn strip(&self, ui: &Ui, rect: Rect, batch: &HeldBatch) {
        /// Minimum width of a sample, points.
        const NARROWEST: f32 = 3.0;
        let most = (rect.width() / NARROWEST) as usize;
        let parts = parts(self.scene.run, batch, self.scene.now, most);
        let wide = rect.width() / parts.len().max(1) as f32;
        let gap = if wide >= 6.0 { 1.0 } else { 0.0 };
        let focus = self.is_selected(batch);
        for (k, part) in parts.iter().enumerate() {
            let left = rect.left() + wide * k as f32;
            let place = Rect::from_x_y_ranges(left..=left + wide - gap, rect.y_range());
            let cost = match part {
                Part::Pending => {
                    ui.painter().rect_filled(place, 0.0, self.palette.line);
                    continue;
                }
                Part::Reading(cost) | Part::Done(cost) => *cost,
            };
            let color = self.palette.fetch;
            let color = color.lerp_to_gamma(self.palette.strong, weight(cost, self.median));
            let color = self.dim_unfocused(color, focus);
            ui.painter().rect_filled(place, 0.0, color);
            if matches!(part, Part::Reading(_)) && rect.height() >= 6.0 {
                let ground = self.palette.panel;
                ui.painter()
                    .rect_filled(place.shrink(wide.min(rect.height()) * 0.28), 0.0, ground);
            }
        }
    }

    /// Draws the preview of the current sample at the right end of `rect`. Returns the remaining space.
    fn preview(&self, ui: &Ui, rect: Rect, batch: Option<&HeldBatch>) -> Rect {
        const LEAST: f32 = 330.0;
        let Some((batch, previews)) = batch.zip(self.previews) else {
            return rect;
        };
        let known = previews::count(self.scene.run, batch.row);
        if known == 0
            || batch.stage > Stage::Collating
            || rect.width() < LEAST
            || rect.height() < 48.0
        {
            return rect;
        }
        let side = rect.height() - 2.0 * INSET;
        let right = rect.right() - INSET;
        let place = Rect::from_x_y_ranges(
            right - side..=right,
            rect.top() + INSET..=rect.bottom() - INSET,
        );
        let reading = sample_in_progress(self.scene.run, batch, self.scene.now);
        if let Some(reading) = reading {
            let at = (batch.row, reading.position);
            previews.borrow_mut().draw(ui, self.scene.run, at, place);
        }
        inset(rect, 0.0, side + INSET)
    }

    /// Draws two lines: the worker and the elapsed time, then its activity. A known preview of the sample is to their right. Returns the
    /// space without the preview.
    pub(super) fn full(
        &mut self,
        ui: &Ui,
        rect: Rect,
        lane: Lane,
        batch: Option<&HeldBatch>,
    ) -> Rect {
        let rect = self.preview(ui, rect, batch);
        let small = sans(size::SMALL);
        let weak = self.palette.weak;
        let strip = if rect.height() >= ROOMY { 62.0 } else { 50.0 };
        let top = ((rect.height() - strip) * 0.5).max(2.0).floor();
        let head = inset(row(rect, top, 16.0), PAD, PAD);
        // The caption already says that this is the main process.
        let (name, font) = match lane {
            Lane::Main if !self.scene.run.measures(Stage::Fetching) => {
                (say!("Fetching was not measured").to_owned(), small)
            }
            Lane::Main => ("num_workers=0".to_owned(), mono(size::SMALL)),
            _ => (lane.to_string(), small),
        };
        self.text(ui, head, Align2::LEFT_CENTER, &name, font, weak);
        let main = inset(row(rect, top + 19.0, 20.0), PAD, PAD);
        let Some(batch) = batch else {
            let font = sans(size::BODY);
            let (text, color) = self.idle_reason(ui, lane, &font, main.width());
            self.text(ui, main, Align2::LEFT_CENTER, &text, font, color);
            return rect;
        };
        let (what, stands_out, elapsed) = self.activity(lane, batch);
        self.text(
            ui,
            head,
            Align2::RIGHT_CENTER,
            &elapsed,
            mono(size::SMALL),
            self.palette.text,
        );
        let chip_size = vec2(self.scene.plan.chip_width() + 4.0, 20.0);
        let chip = Rect::from_min_size(main.min, chip_size);
        self.chip(ui, chip, batch, Presence::Here);
        let rest = inset(main, chip_size.x + 8.0, 0.0);
        let color = self.dim_unfocused(self.palette.text, self.is_selected(batch));
        let color = stands_out.unwrap_or(color);
        let taken = self.text(ui, rest, Align2::LEFT_CENTER, what, sans(size::BODY), color);
        let rest = inset(rest, taken + 8.0, 0.0);
        let samples = self.samples(batch);
        let fitting = samples.each_ref().map(String::as_str);
        let text = self.fitting(ui, &fitting, &mono(size::SMALL), rest.width());
        self.text(
            ui,
            rest,
            Align2::RIGHT_CENTER,
            text,
            mono(size::SMALL),
            weak,
        );
        rect
    }

    /// Returns four texts about the samples, longest first: the cost of a slow sample or the index, `sample 3 of 32`, `3/32`, and nothing.
    /// Outside fetching, the first text is the number of samples.
    fn samples(&self, batch: &HeldBatch) -> [String; 4] {
        let nothing = String::new;
        match self.scene.progress(batch) {
            Some((done, of)) => {
                let width = of.ilog10() as usize + 1;
                let at = (done + 1).min(of);
                let middle = say!("sample {at:>width$} of {of}");
                let reading = sample_in_progress(self.scene.run, batch, self.scene.now);
                let is_slow =
                    |r: &SampleProgress| self.median.is_some_and(|m| r.so_far.0 >= SLOW * m.0);
                let slow = reading
                    .filter(is_slow)
                    .and_then(|r| r.compared_to_median(self.median));
                let long = match (slow, self.scene.current_index(batch)) {
                    (Some(slow), _) => slow,
                    (None, Some(index)) => say!("{middle} · index {index}"),
                    (None, None) => middle.clone(),
                };
                [long, middle, format!("{at:>width$}/{of}"), nothing()]
            }
            None => match self.scene.run.indices(batch.row).len() {
                0 => [nothing(), nothing(), nothing(), nothing()],
                1 => [say!("1 sample").to_owned(), nothing(), nothing(), nothing()],
                n => [say!("{n} samples"), nothing(), nothing(), nothing()],
            },
        }
    }

    /// Draws one line: worker, activity and elapsed time.
    pub(super) fn line(&mut self, ui: &Ui, rect: Rect, lane: Lane, batch: Option<&HeldBatch>) {
        let (id, rest) = rect.split_left_right_at_x(rect.left() + 24.0);
        self.worker_number(ui, id, lane);
        let small = sans(size::SMALL);
        let Some(batch) = batch else {
            let room = inset(rest, 4.0, 4.0);
            let (text, color) = self.idle_reason(ui, lane, &small, room.width());
            self.text(ui, room, Align2::LEFT_CENTER, &text, small, color);
            return;
        };
        let chip_size = vec2(
            self.scene.plan.chip_width(),
            (rect.height() - 8.0).min(20.0),
        );
        let middle = pos2(rest.left() + chip_size.x * 0.5, rect.center().y - 0.5);
        self.chip(
            ui,
            super::grid::centred_rect(middle, chip_size),
            batch,
            Presence::Here,
        );
        let rest = inset(rest, chip_size.x + 6.0, 6.0);
        let (label, stands_out, elapsed) = self.activity(lane, batch);
        let numbers = mono(size::SMALL);
        let taken = text_width(ui, &elapsed, &numbers);
        self.text(
            ui,
            rest,
            Align2::RIGHT_CENTER,
            &elapsed,
            numbers,
            self.palette.text,
        );
        let rest = inset(rest, 0.0, taken + 6.0);
        // The room fits the longest label or no label at all. Labels that appear and disappear would flicker.
        if rest.width() >= 54.0 {
            let color = self.dim_unfocused(self.palette.weak, self.is_selected(batch));
            let color = stands_out.unwrap_or(color);
            self.text(ui, rest, Align2::LEFT_CENTER, label, small, color);
        }
    }

    /// Draws only a chip, or a cross if the worker is gone.
    pub(super) fn bare(&mut self, ui: &Ui, rect: Rect, lane: Lane, batch: Option<&HeldBatch>) {
        let (word, color) = self.idle_label(lane);
        if word != IDLE.say() {
            let font = sans(size::SMALL);
            let room = inset(rect, 4.0, 4.0);
            let align = if batch.is_some() {
                Align2::RIGHT_CENTER
            } else {
                Align2::CENTER_CENTER
            };
            self.text(ui, room, align, "×", font, color);
        }
        if let Some(batch) = batch {
            let width = self.scene.plan.chip_width().min(rect.width() - 2.0);
            let size = vec2(width, rect.height() - 2.0);
            self.chip(
                ui,
                super::grid::centred_rect(rect.center(), size),
                batch,
                Presence::Here,
            );
        }
    }
}
