//! Stage boxes between the sampler and the trainer.

use egui::{Align2, Id, Rect, Role, Sense, Stroke, StrokeKind, Ui, WidgetInfo, pos2, vec2};
use loadscope_trace::{HeldBatch, Lane};
use loadscope_words::say;

use super::grid::centred_rect;
use super::grid::{Stack, queue_places};
use super::layout::{PAD, Placed, Station};
use super::pen::{CORNER, Pen, Presence, row};
use super::scene::Slot;
use super::tooltip;
use crate::kit::titles::explain;
use crate::theme::{mono, sans, size};
use loadscope_insight::glossary::Term;
use loadscope_model::view::Item;

impl Pen<'_> {
    /// Draws the name above a stage box.
    pub fn title(&self, ui: &Ui, placed: &Placed) {
        let (term, names): (Term, &[&str]) = match placed.station {
            Station::Sampler => (Term::Sampler, &[say!("Sampler")]),
            Station::Workers => return,
            Station::Results => (Term::ResultQueue, &[say!("Result queue"), say!("Results")]),
            Station::Pin => (Term::PinThread, &[say!("Pin thread"), say!("Pin")]),
            Station::Pinned => (
                Term::DataQueue,
                &[
                    say!("Data queue (pinned)"),
                    say!("Data queue"),
                    say!("Pinned"),
                ],
            ),
            Station::Reorder => (
                Term::ReorderBuffer,
                &[say!("Reorder buffer"), say!("Reorder")],
            ),
            Station::Trainer => (Term::Trainer, &[say!("Trainer")]),
        };
        self.caption(ui, placed.title, names, term);
    }

    /// Draws the first of `names` that fits, with the tooltip of `term`.
    pub fn caption(&self, ui: &Ui, rect: Rect, names: &[&str], term: Term) {
        let font = sans(size::SMALL);
        let name = self.fitting(ui, names, &font, rect.width());
        let line = rect.translate(vec2(0.0, -2.0));
        let taken = self.text(ui, line, Align2::LEFT_CENTER, name, font, self.palette.weak);
        explain(
            ui,
            row(line, 0.0, line.height()).with_max_x(line.left() + taken),
            term,
        );
    }

    /// Draws the sampler: the next batch and its sample indices.
    pub fn sampler(&mut self, ui: &Ui, body: Rect) {
        self.station_background(ui, body, None);
        let scene = self.scene;
        let response = ui.interact(body, Id::unique("pipeline sampler"), Sense::click());
        let is_selected = self.state.session.selection == Some(Item::Sampler);
        let name = tooltip::next_batch(scene);
        response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_selected, &name));
        self.handle_response(&response, Item::Sampler);
        if is_selected {
            self.outline(ui, body, 2.0, self.palette.strong);
        } else if response.has_focus() || self.state.session.hovered == Some(Item::Sampler) {
            self.outline(ui, body, 1.0, self.palette.weak);
        }
        response.on_hover_ui(|ui| tooltip::sampler(ui, scene));
        let inner = body.shrink(PAD);
        let weak = self.palette.weak;
        let small = sans(size::SMALL);
        if self.scene.is_exhausted() {
            let line = centred_rect(body.center(), vec2(inner.width(), 16.0));
            let word = self.fitting(
                ui,
                &[say!("Exhausted"), say!("Done")],
                &small,
                inner.width(),
            );
            self.text(ui, line, Align2::CENTER_CENTER, word, small, weak);
            return;
        }
        let line = row(inner, 0.0, 14.0);
        let names = [say!("Next batch"), say!("Batch")];
        let name = self.fitting(ui, &names, &small, line.width());
        self.text(ui, line, Align2::CENTER_CENTER, name, small, weak);
        let size_of_chip = vec2(self.scene.plan.chip_width() + 4.0, 22.0);
        let chip = centred_rect(pos2(body.center().x, inner.top() + 31.0), size_of_chip);
        let stroke = Stroke::new(1.0, weak);
        ui.painter()
            .rect_stroke(chip, CORNER, stroke, StrokeKind::Inside);
        self.number(ui, chip, self.scene.pipeline.send_idx, self.palette.text);
        self.entrance = Some(chip);
        let Some(indices) = self.scene.upcoming() else {
            return;
        };
        let list = Rect::from_min_max(pos2(inner.left(), chip.bottom() + 8.0), inner.max);
        let lines = (list.height() / 14.0) as usize;
        let numbers = mono(size::SMALL);
        for (k, index) in indices.iter().take(lines).enumerate() {
            let line = row(list, k as f32 * 14.0, 14.0);
            let is_cut = k + 1 == lines && indices.len() > lines;
            let text = if is_cut {
                "…".to_owned()
            } else {
                index.to_string()
            };
            self.text(
                ui,
                line,
                Align2::CENTER_CENTER,
                &text,
                numbers.clone(),
                weak,
            );
        }
    }

    /// Draws the batches of a queue or the pin thread, the head first.
    pub fn queue(&mut self, ui: &Ui, body: Rect, lane: Lane) {
        self.station_background(ui, body, Some(lane));
        self.interact_lane(ui, body, lane);
        let mut batches: Vec<HeldBatch> = self.scene.in_lane(lane).copied().collect();
        batches.sort_by_key(|b| b.since);
        let inner = body.shrink(PAD);
        if batches.is_empty() {
            let line = centred_rect(body.center(), vec2(inner.width(), 16.0));
            let word = if lane.is_queue() {
                say!("empty")
            } else {
                say!("idle")
            };
            self.text(
                ui,
                line,
                Align2::CENTER_CENTER,
                word,
                sans(size::SMALL),
                self.palette.weak,
            );
            return;
        }
        let (places, hidden) = queue_places(inner, batches.len(), self.scene.plan.chip_width());
        for (rect, batch) in places.iter().zip(&batches) {
            if hidden > 0 && Some(rect) == places.last() {
                break;
            }
            self.chip(ui, *rect, batch, Presence::Here);
        }
        if let (Some(rect), true) = (places.last(), hidden > 0) {
            self.more(ui, *rect, hidden);
            // The awaited batch is always visible.
            let missing = self.scene.missing();
            let left = &batches[batches.len() - hidden..];
            if let Some(batch) = left
                .iter()
                .find(|b| missing.is_some_and(|m| m.row == b.row))
            {
                self.outline(ui, *rect, 2.0, self.palette.stall);
                self.interact_batch(ui, *rect, batch, Presence::Here);
            }
        }
        if lane == Lane::Pin {
            let elapsed = self.scene.clock(batches[0].since);
            let line = row(inner, 28.0, 14.0);
            self.text(
                ui,
                line,
                Align2::CENTER_CENTER,
                &elapsed,
                mono(size::SMALL),
                self.palette.weak,
            );
        }
    }

    /// Shows the number of batches that do not fit: `+12`.
    pub fn more(&self, ui: &Ui, rect: Rect, hidden: usize) {
        let text = format!("+{hidden}");
        self.text(
            ui,
            rect,
            Align2::CENTER_CENTER,
            &text,
            mono(size::SMALL),
            self.palette.weak,
        );
    }

    /// Draws the reorder buffer: the awaited place next to the trainer, the others after it.
    pub fn reorder(&mut self, ui: &Ui, body: Rect, stack: &Stack) {
        self.station_background(ui, body, Some(Lane::Reorder));
        self.interact_lane(ui, body, Lane::Reorder);
        let slots = self.scene.slots.clone();
        let (Some(wanted), Some(first)) = (stack.wanted, slots.first()) else {
            return;
        };
        self.wanted(ui, wanted, first, body);
        for (rect, slot) in stack.behind.iter().zip(&slots[1..]) {
            self.slot(ui, *rect, slot, stack.numbers);
        }
        let held = slots[1..].iter().skip(stack.behind.len());
        let held = held.filter(|s| s.arrived().is_some()).count();
        if held > 0 {
            self.more(ui, row(body, body.height() - 18.0, 16.0), held);
        }
    }

    fn wanted(&mut self, ui: &Ui, rect: Rect, slot: &Slot, body: Rect) {
        let font = mono(size::SMALL);
        let wide = Rect::from_center_size(rect.center(), vec2(60.0, rect.height()));
        let above = wide.translate(vec2(0.0, -rect.height() * 0.5 - 11.0));
        let waiting = self.scene.waits_long() && self.scene.in_order();
        if above.top() > body.top() {
            // PyTorch increments `rcvd_idx` before it yields the batch.
            let is_counted = slot.idx == self.scene.pipeline.rcvd_idx;
            self.text(
                ui,
                above,
                Align2::CENTER_CENTER,
                if is_counted {
                    "rcvd_idx"
                } else {
                    say!("yielded")
                },
                font,
                self.palette.weak,
            );
        }
        if let Some(batch) = slot.arrived() {
            self.chip(ui, rect, &batch, Presence::Here);
            return;
        }
        if !self.scene.exists(slot.idx) {
            self.slot_outline(ui, rect);
            return;
        }
        let color = if waiting {
            self.palette.stall
        } else {
            self.palette.weak
        };
        let width = if waiting { 2.0 } else { 1.0 };
        let stroke = Stroke::new(width, color);
        ui.painter()
            .rect_stroke(rect, CORNER, stroke, StrokeKind::Inside);
        let text = slot.idx.to_string();
        let ink = if waiting {
            self.palette.stall
        } else {
            self.palette.text
        };
        self.text(
            ui,
            rect,
            Align2::CENTER_CENTER,
            &text,
            mono(size::BODY),
            ink,
        );
        let below = wide.translate(vec2(0.0, rect.height() * 0.5 + 11.0));
        if waiting {
            let word = sans(size::SMALL);
            self.text(
                ui,
                below,
                Align2::CENTER_CENTER,
                say!("missing"),
                word,
                self.palette.stall,
            );
        }
        if let Some(batch) = slot.batch {
            let response = self.interact_batch(ui, rect, &batch, Presence::Missing);
            self.echo(ui, rect, &batch, response.hovered());
        }
    }

    /// Draws a place after the awaited one: a held batch, or the index of one that has not arrived.
    fn slot(&mut self, ui: &Ui, rect: Rect, slot: &Slot, numbers: bool) {
        if let Some(batch) = slot.arrived() {
            self.chip(ui, rect, &batch, Presence::Here);
            return;
        }
        self.slot_outline(ui, rect);
        let Some(batch) = slot.batch else {
            return;
        };
        let focus = self.is_selected(&batch);
        let color = self.dim_unfocused(self.palette.weak, focus);
        if numbers {
            self.number(ui, rect, slot.idx, color);
        } else {
            ui.painter().circle_filled(rect.center(), 1.0, color);
        }
        let response = self.interact_batch(ui, rect, &batch, Presence::Missing);
        self.echo(ui, rect, &batch, response.hovered());
    }

    /// Marks the place of a batch that is selected or hovered elsewhere.
    fn echo(&self, ui: &Ui, rect: Rect, batch: &HeldBatch, hovered: bool) {
        let item = Some(Item::Batch(batch.row));
        if self.state.session.selection == item {
            self.outline(ui, rect, 2.0, self.palette.strong);
        } else if hovered || self.state.session.hovered == item {
            self.outline(ui, rect, 1.0, self.palette.text);
        }
    }
}
