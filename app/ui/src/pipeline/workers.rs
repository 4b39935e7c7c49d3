//! Index queues and workers: contents, progress and elapsed time.

use egui::{Align2, Color32, FontId, Rect, ScrollArea, Ui, UiBuilder, Vec2, vec2};
use loadscope_insight::glossary::Term;
use loadscope_insight::idle::reason;
use loadscope_lessons::Part;
use loadscope_trace::{HeldBatch, Lane, Stage, WorkerId};
use loadscope_words::{Text, say, text};

use super::grid::{Cell, Detail, WorkerGrid};
use super::layout::{PAD, Placed};
use super::pen::{Pen, Presence, inset, row};
use crate::kit::parts::mark;
use crate::theme::{mono, size};

/// Minimum height of a worker's box for a thick progress strip, points.
pub(super) const ROOMY: f32 = 66.0;

/// Label of a lane without work.
pub(super) const IDLE: Text = text!("idle");

impl Pen<'_> {
    /// Draws all index queues and workers. They scroll if they do not fit.
    pub fn worker_grid(&mut self, ui: &mut Ui, placed: &Placed, grid: &WorkerGrid) {
        let body = placed.body;
        if grid.size.y <= body.height() + 1.0 {
            let lift = vec2(0.0, ((body.height() - grid.size.y) * 0.5).floor().max(0.0));
            self.captions(ui, placed, grid);
            self.cells(ui, grid, body.min.to_vec2() + lift);
            return;
        }
        self.captions(ui, placed, grid);
        ui.scope_builder(UiBuilder::new().max_rect(body), |ui| {
            let area = ScrollArea::vertical()
                .id_salt("pipeline workers")
                .auto_shrink(false);
            area.show(ui, |ui| {
                let origin = ui.cursor().min.to_vec2();
                ui.allocate_space(vec2(grid.size.x - 12.0, grid.size.y));
                self.cells(ui, grid, origin);
            });
        });
    }

    fn captions(&self, ui: &Ui, placed: &Placed, grid: &WorkerGrid) {
        let title = placed.title;
        if self.scene.plan.workers == 0 {
            let names = [
                say!("Main process: loads, then trains"),
                say!("Main process"),
            ];
            self.caption(ui, title, &names, Term::MainProcess);
            return;
        }
        let lead = grid.cells.first().map_or(0.0, |c| c.worker.left());
        if grid.columns > 1 || lead < 40.0 {
            self.caption(
                ui,
                title,
                &[
                    say!("Index queues → workers"),
                    say!("Queues → workers"),
                    say!("Workers"),
                ],
                Term::Worker,
            );
            return;
        }
        let queues = Rect::from_min_size(title.min, vec2(lead - 4.0, title.height()));
        let names = [say!("Index queues"), say!("Queues")];
        self.caption(ui, queues, &names, Term::IndexQueue);
        self.caption(
            ui,
            inset(title, lead, 0.0),
            &[say!("Workers")],
            Term::Worker,
        );
    }

    fn cells(&mut self, ui: &Ui, grid: &WorkerGrid, by: Vec2) {
        for (k, cell) in grid.cells.iter().enumerate() {
            let all = cell.queue_area.union(cell.worker).translate(by);
            if !ui.is_rect_visible(all) {
                continue;
            }
            if self.scene.plan.workers == 0 {
                self.worker(ui, cell.worker.translate(by), Lane::Main, grid.detail);
                continue;
            }
            let worker = k as WorkerId;
            self.index_queue(ui, cell, by, worker, grid.detail);
            self.worker(
                ui,
                cell.worker.translate(by),
                Lane::Worker(worker),
                grid.detail,
            );
        }
    }

    fn index_queue(&mut self, ui: &Ui, cell: &Cell, by: Vec2, worker: WorkerId, detail: Detail) {
        let lane = Lane::IndexQueue(worker);
        let area = cell.queue_area.translate(by);
        mark(ui, Part::of_lane(lane), area);
        self.interact_lane(ui, area, lane);
        if self.state.session.selection == Some(loadscope_model::view::Item::Lane(lane)) {
            self.outline(ui, area.expand2(vec2(1.0, -1.0)), 2.0, self.palette.strong);
        }
        let batches: Vec<HeldBatch> = self.scene.in_lane(lane).copied().collect();
        // The head of the queue is next to the worker.
        let places: Vec<Rect> = cell.queue.iter().rev().map(|r| r.translate(by)).collect();
        let hidden = batches.len().saturating_sub(places.len());
        for (k, rect) in places.iter().enumerate() {
            let is_last = k + 1 == places.len();
            match batches.get(k) {
                Some(_) if is_last && hidden > 0 && detail <= Detail::Line => {
                    self.slot_outline(ui, *rect);
                    self.more(ui, *rect, hidden + 1);
                }
                Some(batch) => self.chip(ui, *rect, batch, Presence::Here),
                None => self.slot_outline(ui, *rect),
            }
        }
        if detail <= Detail::Line {
            let (from, to) = (area.right() + 1.0, cell.worker.left() + by.x - 3.0);
            self.arrow(ui, from, to, area.center().y);
        }
    }

    fn worker(&mut self, ui: &Ui, rect: Rect, lane: Lane, detail: Detail) {
        mark(ui, Part::of_lane(lane), rect);
        self.station_background(ui, rect, Some(lane));
        self.interact_lane(ui, rect, lane);
        let batch = self.scene.in_lane(lane).next().copied();
        let mut inner = rect;
        match detail {
            Detail::Full => inner = self.full(ui, rect, lane, batch.as_ref()),
            Detail::Line => self.line(ui, rect, lane, batch.as_ref()),
            Detail::Dense => {
                let (id, rest) = rect.split_left_right_at_x(rect.left() + 22.0);
                self.worker_number(ui, id, lane);
                self.bare(ui, rest, lane, batch.as_ref());
            }
            Detail::Mini => self.bare(ui, rect, lane, batch.as_ref()),
        }
        let Some(batch) = batch.filter(|_| !self.is_gone(lane) && detail <= Detail::Line) else {
            return;
        };
        let (pad, lift, thick) = match detail {
            Detail::Full if rect.height() >= ROOMY => (PAD, 14.0, 8.0),
            Detail::Full => (PAD, 7.0, 3.0),
            Detail::Line | Detail::Dense | Detail::Mini => (3.0, 4.0, 3.0),
        };
        if self.scene.progress(&batch).is_some() {
            let line = row(inner, inner.height() - lift, thick);
            self.strip(ui, inset(line, pad, pad), &batch);
        }
    }

    pub(super) fn worker_number(&self, ui: &Ui, rect: Rect, lane: Lane) {
        let text = match lane {
            Lane::Worker(w) => w.to_string(),
            _ => "–".to_owned(),
        };
        let weak = self.palette.weak;
        let room = inset(rect, 0.0, 6.0);
        self.text(
            ui,
            room,
            Align2::RIGHT_CENTER,
            &text,
            mono(size::SMALL),
            weak,
        );
    }

    /// Returns the reason why a lane is idle, in as many words as fit, or that its worker is gone.
    pub(super) fn idle_reason(
        &self,
        ui: &Ui,
        lane: Lane,
        font: &FontId,
        width: f32,
    ) -> (String, Color32) {
        let (word, color) = self.idle_label(lane);
        let why = reason(
            self.scene.run,
            &self.scene.pipeline,
            lane,
            self.scene.paused,
        );
        let Some(why) = why.filter(|_| word == IDLE.say()) else {
            return (word.to_owned(), color);
        };
        let brief = why.brief();
        let whole = say!("idle: {}", brief[0]);
        let [long, short, least] = brief.each_ref().map(String::as_str);
        let text = self.fitting(ui, &[&whole, long, short, least], font, width);
        (text.to_owned(), color)
    }

    /// Returns the label of an idle or ended lane.
    pub(super) fn idle_label(&self, lane: Lane) -> (&'static str, Color32) {
        let weak = self.palette.weak;
        let Lane::Worker(worker) = lane else {
            return (IDLE.say(), weak);
        };
        match self.scene.has_died(worker) {
            Some(true) => (say!("died"), self.palette.stall),
            Some(false) => (say!("ended"), weak),
            // The worker has reported that its stream is exhausted.
            None if self.scene.pipeline.is_exhausted(worker) => (say!("exhausted"), weak),
            None => (IDLE.say(), weak),
        }
    }

    /// Returns true for a worker that has died or ended.
    pub(super) fn is_gone(&self, lane: Lane) -> bool {
        matches!(lane, Lane::Worker(w) if self.scene.has_died(w).is_some())
    }

    /// Returns the worker's activity, its color and its elapsed time. A dead worker does nothing with the batch that it still holds.
    pub(super) fn activity(
        &self,
        lane: Lane,
        batch: &HeldBatch,
    ) -> (&'static str, Option<Color32>, String) {
        if self.is_gone(lane) {
            let (word, color) = self.idle_label(lane);
            return (word, Some(color), String::new());
        }
        let elapsed = self.scene.clock(batch.since);
        // A trace of another tool may contain only the request time of a batch.
        if batch.stage == Stage::Queued && !self.scene.run.measures(Stage::Queued) {
            return (say!("Requested"), None, elapsed);
        }
        (batch.stage.label(), None, elapsed)
    }
}
