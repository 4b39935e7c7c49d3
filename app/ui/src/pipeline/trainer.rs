//! Trainer's stage box: the awaited batch and the share of time spent waiting. Users look here first.

use egui::{Align2, Color32, CornerRadius, Rect, Ui, pos2, vec2};
use loadscope_trace::{Activity, HeldBatch, Lane, Nanos, Shares, Stage, Track};
use loadscope_words::say;

use super::layout::PAD;
use super::pen::{CORNER, Pen, Presence, inset, row, text_width};
use super::previews::{self, squares};
use super::scene::Trainer;
use crate::kit::titles::explain;
use crate::theme::{heading, mono, sans, size};
use loadscope_insight::format;
use loadscope_insight::glossary::Term;
use loadscope_insight::narrate::describe_location;

const BANNER: f32 = 28.0;

/// Maximum number of images shown for a batch.
const MAX_IMAGES: usize = 64;

impl Pen<'_> {
    /// Draws the trainer.
    pub fn trainer(&mut self, ui: &Ui, body: Rect) {
        self.station_background(ui, body, Some(Lane::Trainer));
        self.interact_lane(ui, body, Lane::Trainer);
        match self.scene.trainer {
            Trainer::Idle(why) => {
                let line = inset(row(body, 0.0, BANNER), PAD, PAD);
                self.text(
                    ui,
                    line,
                    Align2::LEFT_CENTER,
                    why,
                    sans(size::BODY),
                    self.palette.weak,
                );
            }
            Trainer::Training(batch) => {
                let color = self.dim_unfocused(self.palette.step, self.is_selected(&batch));
                self.banner(ui, body, say!("Training"), batch.since, color);
                let spoken = say!("The trainer works on {}", batch.id);
                self.set_accessible_text(ui, row(body, 0.0, BANNER), say!("trainer"), &spoken);
                self.subject(ui, body, say!(subject: "on"), &batch, Presence::Here);
                let next = self.next_up();
                self.lines(ui, body, &next, None);
            }
            Trainer::Waiting(since, on) => self.waiting(ui, body, since, on),
        }
        match self.scene.plan.in_order {
            true => self.contents(ui, body),
            false => self.ribbon(ui, body),
        }
        self.waited_share(ui, body);
    }

    /// Draws the images of the batch in training and the last steps, if there is room.
    fn contents(&self, ui: &Ui, body: Rect) {
        const STEPS: f32 = 44.0;
        let is_held = self.scene.batches.iter().any(|b| b.stage == Stage::Held);
        let waits = matches!(self.scene.trainer, Trainer::Waiting(..));
        let above = BANNER + if is_held && waits { 98.0 } else { 74.0 };
        let room = Rect::from_min_max(
            pos2(body.left() + PAD, body.top() + above),
            pos2(body.right() - PAD, body.bottom() - 34.0),
        );
        if room.height() < STEPS {
            return;
        }
        let (pictures, steps) = room.split_top_bottom_at_y(room.bottom() - STEPS);
        self.steps(ui, steps);
        let (Trainer::Training(batch), Some(previews)) = (self.scene.trainer, self.previews) else {
            return;
        };
        let run = self.scene.run;
        let room = pictures.with_max_y(pictures.bottom() - PAD);
        let places = squares(
            room,
            previews::count(run, batch.row).min(MAX_IMAGES),
            (22.0, 64.0),
        );
        for (position, place) in places.into_iter().enumerate() {
            previews
                .borrow_mut()
                .draw(ui, run, (batch.row, position), place);
        }
    }

    /// Draws the order of the yielded batches. Those yielded after a later batch are tinted.
    fn ribbon(&mut self, ui: &Ui, body: Rect) {
        const ROW: f32 = 17.0;
        let room = Rect::from_min_max(
            pos2(body.left() + PAD, body.top() + BANNER + 78.0),
            pos2(body.right() - PAD, body.bottom() - 30.0),
        );
        let wide = self.scene.plan.digits as f32 * 6.7 + 7.0;
        let columns = (room.width() / wide) as usize;
        let rows = (room.height() / ROW) as usize;
        if columns < 3 || rows == 0 {
            return;
        }
        let font = mono(size::SMALL);
        let yielded = self.scene.yielded(columns * rows);
        let title = row(room, -15.0, 14.0);
        let (small, weak) = (sans(size::SMALL), self.palette.weak);
        let name = self.fitting(
            ui,
            &[
                say!("Order of the yielded batches"),
                say!("Yielded order"),
                say!("Yielded"),
            ],
            &small,
            title.width(),
        );
        let taken = self.text(ui, title, Align2::LEFT_CENTER, name, small, weak);
        explain(ui, title.with_max_x(title.left() + taken), Term::InOrder);
        for (k, (idx, is_late)) in yielded.iter().enumerate() {
            let min = room.min + vec2((k % columns) as f32 * wide, (k / columns) as f32 * ROW);
            let place = Rect::from_min_size(min, vec2(wide - 2.0, ROW - 2.0));
            let ink = match is_late {
                true => {
                    let fill = self.dim_unfocused(self.palette.held, false);
                    ui.painter().rect_filled(place, 3.0, fill);
                    self.palette.text_on(fill)
                }
                false => self.palette.text,
            };
            self.text(
                ui,
                place,
                Align2::CENTER_CENTER,
                &idx.to_string(),
                font.clone(),
                ink,
            );
        }
    }

    /// Draws a wait. The wait is the most important information, so it is never dimmed.
    fn waiting(&mut self, ui: &Ui, body: Rect, since: Nanos, on: Option<HeldBatch>) {
        // A short wait is not a problem.
        let color = if self.scene.waits_long() {
            self.palette.stall
        } else {
            self.palette.wait
        };
        self.banner(ui, body, say!("Waiting"), since, color);
        self.outline(ui, body.shrink(2.0), 2.0, color);
        let banner = row(body, 0.0, BANNER);
        match on {
            Some(_) if !self.scene.in_order() => {
                self.set_accessible_text(
                    ui,
                    banner,
                    say!("trainer"),
                    say!("The trainer waits for any batch"),
                );
                let line = inset(row(body, BANNER + 8.0, 22.0), PAD + 2.0, PAD);
                let ink = self.palette.text;
                self.text(
                    ui,
                    line,
                    Align2::LEFT_CENTER,
                    say!("for any batch"),
                    sans(size::BODY),
                    ink,
                );
                let why = [
                    say!("in_order=False: the first to arrive is yielded"),
                    say!("The first to arrive is yielded"),
                    say!("First to arrive"),
                ];
                let font = sans(size::SMALL);
                let room = body.width() - 2.0 * PAD - 2.0;
                let why = self.fitting(ui, &why, &font, room);
                self.lines(ui, body, why, None);
            }
            Some(batch) => {
                let place = describe_location(&batch);
                let spoken = say!("The trainer waits for {} · {place}", batch.id);
                self.set_accessible_text(ui, banner, say!("trainer"), &spoken);
                self.subject(ui, body, say!(subject: "for"), &batch, Presence::Awaited);
                self.lines(ui, body, &place, Some(batch.since));
                self.held_behind(ui, body);
            }
            None => {
                self.set_accessible_text(ui, banner, say!("trainer"), say!("The trainer waits"));
                self.lines(ui, body, say!("Nothing dispatched yet"), None);
            }
        }
    }

    fn next_up(&self) -> String {
        match self.scene.pipeline.awaited() {
            _ if !self.scene.in_order() => say!("Next: the first to arrive").to_owned(),
            Some(next) if next.stage == Stage::Ready => say!("Batch {} is ready", next.id.idx),
            Some(next) if next.stage == Stage::Held => say!("Batch {} has arrived", next.id.idx),
            Some(next) => say!("Next {} · {}", next.id.idx, describe_location(&next)),
            None => say!("No batch in flight").to_owned(),
        }
    }

    fn banner(&self, ui: &Ui, body: Rect, what: &str, since: Nanos, fill: Color32) {
        let top = row(body, 0.0, BANNER);
        let corner = CORNER as u8;
        let corners = CornerRadius {
            nw: corner,
            ne: corner,
            sw: 0,
            se: 0,
        };
        ui.painter().rect_filled(top, corners, fill);
        let ink = self.palette.text_on(fill);
        let elapsed = self.scene.clock(since);
        let numbers = mono(size::BODY);
        let taken = text_width(ui, &elapsed, &numbers);
        let line = inset(top, PAD, PAD);
        self.text(ui, line, Align2::RIGHT_CENTER, &elapsed, numbers, ink);
        let line = inset(line, 0.0, taken + 6.0);
        self.text(
            ui,
            line,
            Align2::LEFT_CENTER,
            what,
            heading(size::BODY),
            ink,
        );
    }

    /// Shows `on batch [12]` or `for batch [12]`.
    fn subject(&mut self, ui: &Ui, body: Rect, word: &str, batch: &HeldBatch, place: Presence) {
        let line = inset(row(body, BANNER + 8.0, 22.0), PAD + 2.0, PAD);
        let word = say!("{word} batch");
        let taken = self.text(
            ui,
            line,
            Align2::LEFT_CENTER,
            &word,
            sans(size::BODY),
            self.palette.text,
        );
        let chip = Rect::from_min_size(
            line.min + vec2((taken + 8.0).round(), 0.0),
            vec2(self.scene.plan.chip_width() + 4.0, 22.0),
        );
        self.chip(ui, chip, batch, place);
    }

    /// Draws a line of text below the subject, with the time since `since`.
    fn lines(&self, ui: &Ui, body: Rect, text: &str, since: Option<Nanos>) {
        let line = inset(row(body, BANNER + 36.0, 16.0), PAD + 2.0, PAD);
        let lasting = since
            .map(|since| self.scene.clock(since))
            .unwrap_or_default();
        let numbers = mono(size::SMALL);
        let taken = text_width(ui, &lasting, &numbers);
        let one_line = text_width(ui, text, &sans(size::SMALL)) + taken + 8.0 <= line.width();
        let weak = self.palette.weak;
        if one_line {
            self.text(ui, line, Align2::RIGHT_CENTER, &lasting, numbers, weak);
        } else if body.height() >= 128.0 {
            let below = line.translate(vec2(0.0, 16.0));
            self.text(ui, below, Align2::LEFT_CENTER, &lasting, numbers, weak);
        }
        self.text(
            ui,
            line,
            Align2::LEFT_CENTER,
            text,
            sans(size::SMALL),
            self.palette.text,
        );
    }

    /// Shows the number of finished batches held after the missing one, which is the cost of keeping the order.
    fn held_behind(&self, ui: &Ui, body: Rect) {
        let held = self
            .scene
            .batches
            .iter()
            .filter(|b| b.stage == Stage::Held)
            .count() as u64;
        if held == 0 || body.height() < 156.0 {
            return;
        }
        let line = inset(row(body, BANNER + 76.0, 16.0), PAD + 2.0, PAD);
        let dot = Rect::from_center_size(pos2(line.left() + 4.0, line.center().y), vec2(8.0, 8.0));
        ui.painter()
            .rect_filled(dot, 2.0, self.dim_unfocused(self.palette.held, false));
        let text = say!(
            "{} held after it",
            format::plural(held, say!(n: "batch"), say!(n: "batches"))
        );
        let line = inset(line, 14.0, 0.0);
        self.text(
            ui,
            line,
            Align2::LEFT_CENTER,
            &text,
            sans(size::SMALL),
            self.palette.text,
        );
    }

    /// Shows the share of time spent waiting so far.
    fn waited_share(&self, ui: &Ui, body: Rect) {
        let track = self.scene.run.track(Track {
            lane: Lane::Trainer,
            row: 0,
        });
        let shares = track.map_or_else(Shares::default, |t| t.until(self.scene.now));
        let waited = shares.time_in(Activity::Waiting).0 as f64;
        // The share refers to all elapsed time, as in the verdict above.
        let epochs = self.scene.run.epochs();
        let start = epochs.first().map_or(Nanos::ZERO, |e| e.start);
        let end = epochs.last().and_then(|e| e.end).unwrap_or(Nanos::MAX);
        let total = (self.scene.now.min(end) - start).0 as f64;
        if total <= 0.0 || body.height() < 110.0 {
            return;
        }
        let line = inset(row(body, body.height() - 26.0, 14.0), PAD + 2.0, PAD + 2.0);
        let share = format::percent(waited / total);
        let (small, weak) = (sans(size::SMALL), self.palette.weak);
        let label = self.fitting(
            ui,
            &[say!("Waited so far"), say!("Waited")],
            &small,
            line.width() - 40.0,
        );
        self.text(ui, line, Align2::LEFT_CENTER, label, small, weak);
        self.text(
            ui,
            line,
            Align2::RIGHT_CENTER,
            &share,
            mono(size::SMALL),
            self.palette.text,
        );
        let bar = inset(row(body, body.height() - 10.0, 3.0), PAD + 2.0, PAD + 2.0);
        self.bar(ui, bar, 1.0, self.dim_unfocused(self.palette.step, false));
        let red = Rect::from_min_size(bar.min, vec2(bar.width() * (waited / total) as f32, 3.0));
        ui.painter()
            .rect_filled(red, 1.0, self.dim_unfocused(self.palette.stall, false));
    }
}
