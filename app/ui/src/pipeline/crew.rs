//! Index queues and workers: what each holds, how far it has come, how long it has taken.

use egui::{Align2, Color32, FontId, Rect, ScrollArea, Ui, UiBuilder, Vec2, pos2, vec2};
use loadscope_insight::idle::reason;
use loadscope_lessons::Part;
use loadscope_trace::{HeldBatch, Lane, Stage, WorkerId};
use loadscope_words::{Text, say, text};

use super::grid::{Cell, Crew, Detail};
use super::layout::{PAD, Placed};
use super::pen::{Pen, Place, inset, row, text_width};
use crate::kit::parts::mark;
use crate::theme::{mono, size, words};

/// Nothing is done in a lane that could do something.
const IDLE: Text = text!("idle");

impl Pen<'_> {
    /// All index queues and workers; they scroll if there is no other way.
    pub fn crew(&mut self, ui: &mut Ui, placed: &Placed, crew: &Crew) {
        let body = placed.body;
        if crew.size.y <= body.height() + 1.0 {
            let lift = vec2(0.0, ((body.height() - crew.size.y) * 0.5).floor().max(0.0));
            self.captions(ui, placed, crew);
            self.cells(ui, crew, body.min.to_vec2() + lift);
            return;
        }
        self.captions(ui, placed, crew);
        ui.scope_builder(UiBuilder::new().max_rect(body), |ui| {
            let area = ScrollArea::vertical()
                .id_salt("pipeline workers")
                .auto_shrink(false);
            area.show(ui, |ui| {
                let origin = ui.cursor().min.to_vec2();
                ui.allocate_space(vec2(crew.size.x - 12.0, crew.size.y));
                self.cells(ui, crew, origin);
            });
        });
    }

    fn captions(&self, ui: &Ui, placed: &Placed, crew: &Crew) {
        let title = placed.title;
        if self.scene.plan.workers == 0 {
            let names = [
                say!("Main process: loads, then trains"),
                say!("Main process"),
            ];
            self.caption(ui, title, &names);
            return;
        }
        let lead = crew.cells.first().map_or(0.0, |c| c.worker.left());
        if crew.columns > 1 || lead < 40.0 {
            self.caption(
                ui,
                title,
                &[
                    say!("Index queues → workers"),
                    say!("Queues → workers"),
                    say!("Workers"),
                ],
            );
            return;
        }
        let queues = Rect::from_min_size(title.min, vec2(lead - 4.0, title.height()));
        self.caption(ui, queues, &[say!("Index queues"), say!("Queues")]);
        self.caption(ui, inset(title, lead, 0.0), &[say!("Workers")]);
    }

    fn cells(&mut self, ui: &Ui, crew: &Crew, by: Vec2) {
        for (k, cell) in crew.cells.iter().enumerate() {
            let all = cell.queue_area.union(cell.worker).translate(by);
            if !ui.is_rect_visible(all) {
                continue;
            }
            if self.scene.plan.workers == 0 {
                self.worker(ui, cell.worker.translate(by), Lane::Main, crew.detail);
                continue;
            }
            let worker = k as WorkerId;
            self.index_queue(ui, cell, by, worker, crew.detail);
            self.worker(
                ui,
                cell.worker.translate(by),
                Lane::Worker(worker),
                crew.detail,
            );
        }
    }

    fn index_queue(&mut self, ui: &Ui, cell: &Cell, by: Vec2, worker: WorkerId, detail: Detail) {
        let lane = Lane::IndexQueue(worker);
        let area = cell.queue_area.translate(by);
        mark(ui, Part::of_lane(lane), area);
        self.touch_lane(ui, area, lane);
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
                    self.place(ui, *rect);
                    self.more(ui, *rect, hidden + 1);
                }
                Some(batch) => self.chip(ui, *rect, batch, Place::Here),
                None => self.place(ui, *rect),
            }
        }
        if detail <= Detail::Line {
            let (from, to) = (area.right() + 1.0, cell.worker.left() + by.x - 3.0);
            self.arrow(ui, from, to, area.center().y);
        }
    }

    fn worker(&mut self, ui: &Ui, rect: Rect, lane: Lane, detail: Detail) {
        mark(ui, Part::of_lane(lane), rect);
        self.ground(ui, rect, Some(lane));
        self.touch_lane(ui, rect, lane);
        let batch = self.scene.in_lane(lane).next().copied();
        match detail {
            Detail::Full => self.full(ui, rect, lane, batch.as_ref()),
            Detail::Line => self.line(ui, rect, lane, batch.as_ref()),
            Detail::Dense => {
                let (id, rest) = rect.split_left_right_at_x(rect.left() + 22.0);
                self.worker_number(ui, id, lane);
                self.bare(ui, rest, lane, batch.as_ref());
            }
            Detail::Mini => self.bare(ui, rect, lane, batch.as_ref()),
        }
        if self.is_gone(lane) {
            return;
        }
        if let Some((done, of)) = batch.and_then(|b| self.scene.progress(&b)) {
            let inset_by = if detail == Detail::Full { PAD } else { 3.0 };
            let lift = if detail == Detail::Full { 7.0 } else { 3.0 };
            let thick = if detail == Detail::Full { 3.0 } else { 2.0 };
            if detail <= Detail::Line {
                let line = inset(row(rect, rect.height() - lift, thick), inset_by, inset_by);
                let focus = batch.is_some_and(|b| self.is_selected(&b));
                let colour = self.ink(self.palette.fetch, focus);
                self.bar(ui, line, done as f32 / of as f32, colour);
            }
        }
    }

    fn worker_number(&self, ui: &Ui, rect: Rect, lane: Lane) {
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

    /// Why it has nothing to do, in as many words as fit; or that it is gone.
    fn rest(&self, ui: &Ui, lane: Lane, font: &FontId, width: f32) -> (String, Color32) {
        let (word, colour) = self.absence(lane);
        let why = reason(
            self.scene.run,
            &self.scene.pipeline,
            lane,
            self.scene.paused,
        );
        let Some(why) = why.filter(|_| word == IDLE.say()) else {
            return (word.to_owned(), colour);
        };
        let brief = why.brief();
        let whole = say!("idle: {}", brief[0]);
        let [long, short, least] = brief.each_ref().map(String::as_str);
        let text = self.fitting(ui, &[&whole, long, short, least], font, width);
        (text.to_owned(), colour)
    }

    /// Idle, or gone.
    fn absence(&self, lane: Lane) -> (&'static str, Color32) {
        let weak = self.palette.weak;
        let Lane::Worker(worker) = lane else {
            return (IDLE.say(), weak);
        };
        match self.scene.has_died(worker) {
            Some(true) => (say!("died"), self.palette.stall),
            Some(false) => (say!("ended"), weak),
            // It has said that its stream is at its end.
            None if self.scene.pipeline.is_exhausted(worker) => (say!("exhausted"), weak),
            None => (IDLE.say(), weak),
        }
    }

    /// True for a worker that has died or ended.
    fn is_gone(&self, lane: Lane) -> bool {
        matches!(lane, Lane::Worker(w) if self.scene.has_died(w).is_some())
    }

    /// What a worker does with its batch and for how long; one that is gone does nothing with a batch that never left it.
    fn doing(&self, lane: Lane, batch: &HeldBatch) -> (&'static str, Option<Color32>, String) {
        if self.is_gone(lane) {
            let (word, colour) = self.absence(lane);
            return (word, Some(colour), String::new());
        }
        let elapsed = self.scene.clock(batch.since);
        // A trace of another tool may tell only when a batch was asked for.
        if batch.stage == Stage::Queued && !self.scene.run.measures(Stage::Queued) {
            return (say!("Asked for"), None, elapsed);
        }
        (batch.stage.label(), None, elapsed)
    }

    /// Two lines: who and how long; what.
    fn full(&mut self, ui: &Ui, rect: Rect, lane: Lane, batch: Option<&HeldBatch>) {
        let small = words(size::SMALL);
        let weak = self.palette.weak;
        let top = ((rect.height() - 50.0) * 0.5).max(2.0).floor();
        let head = inset(row(rect, top, 16.0), PAD, PAD);
        // The caption says already that it is the main thread.
        let (name, font) = match lane {
            Lane::Main if !self.scene.run.measures(Stage::Fetching) => {
                (say!("Who fetches was not measured").to_owned(), small)
            }
            Lane::Main => ("num_workers=0".to_owned(), mono(size::SMALL)),
            _ => (lane.to_string(), small),
        };
        self.text(ui, head, Align2::LEFT_CENTER, &name, font, weak);
        let main = inset(row(rect, top + 19.0, 20.0), PAD, PAD);
        let Some(batch) = batch else {
            let font = words(size::BODY);
            let (text, colour) = self.rest(ui, lane, &font, main.width());
            self.text(ui, main, Align2::LEFT_CENTER, &text, font, colour);
            return;
        };
        let (what, stands_out, elapsed) = self.doing(lane, batch);
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
        self.chip(ui, chip, batch, Place::Here);
        let rest = inset(main, chip_size.x + 8.0, 0.0);
        let colour = self.ink(self.palette.text, self.is_selected(batch));
        let colour = stands_out.unwrap_or(colour);
        let taken = self.text(
            ui,
            rest,
            Align2::LEFT_CENTER,
            what,
            words(size::BODY),
            colour,
        );
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
    }

    /// `sample 3 of 32 · index 1204`, `sample 3 of 32`, `3/32` and nothing; or how many samples there are.
    fn samples(&self, batch: &HeldBatch) -> [String; 4] {
        let nothing = String::new;
        match self.scene.progress(batch) {
            Some((done, of)) => {
                let width = of.ilog10() as usize + 1;
                let at = (done + 1).min(of);
                let middle = say!("sample {at:>width$} of {of}");
                let long = match self.scene.current_index(batch) {
                    Some(index) => say!("{middle} · index {index}"),
                    None => middle.clone(),
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

    /// One line: who, what, how long.
    fn line(&mut self, ui: &Ui, rect: Rect, lane: Lane, batch: Option<&HeldBatch>) {
        let (id, rest) = rect.split_left_right_at_x(rect.left() + 24.0);
        self.worker_number(ui, id, lane);
        let small = words(size::SMALL);
        let Some(batch) = batch else {
            let room = inset(rest, 4.0, 4.0);
            let (text, colour) = self.rest(ui, lane, &small, room.width());
            self.text(ui, room, Align2::LEFT_CENTER, &text, small, colour);
            return;
        };
        let chip_size = vec2(
            self.scene.plan.chip_width(),
            (rect.height() - 8.0).min(20.0),
        );
        let middle = pos2(rest.left() + chip_size.x * 0.5, rect.center().y - 0.5);
        self.chip(
            ui,
            super::plan::around(middle, chip_size),
            batch,
            Place::Here,
        );
        let rest = inset(rest, chip_size.x + 6.0, 6.0);
        let (label, stands_out, elapsed) = self.doing(lane, batch);
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
        // Wide enough for the longest word, or for none: words that come and go would jitter.
        if rest.width() >= 54.0 {
            let colour = self.ink(self.palette.weak, self.is_selected(batch));
            let colour = stands_out.unwrap_or(colour);
            self.text(ui, rest, Align2::LEFT_CENTER, label, small, colour);
        }
    }

    /// A chip and nothing else; a cross where no worker is left to take one.
    fn bare(&mut self, ui: &Ui, rect: Rect, lane: Lane, batch: Option<&HeldBatch>) {
        let (word, colour) = self.absence(lane);
        if word != IDLE.say() {
            let font = words(size::SMALL);
            let room = inset(rect, 4.0, 4.0);
            let align = if batch.is_some() {
                Align2::RIGHT_CENTER
            } else {
                Align2::CENTER_CENTER
            };
            self.text(ui, room, align, "×", font, colour);
        }
        if let Some(batch) = batch {
            let width = self.scene.plan.chip_width().min(rect.width() - 2.0);
            let size = vec2(width, rect.height() - 2.0);
            self.chip(
                ui,
                super::plan::around(rect.center(), size),
                batch,
                Place::Here,
            );
        }
    }
}
