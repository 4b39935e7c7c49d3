//! Headline: the last event, and the legend of colors.

use egui::{Align2, Rect, Stroke, StrokeKind, Ui, pos2, vec2};
use loadscope_trace::Stage;
use loadscope_words::say;

use super::grid::centred_rect;
use super::pen::{Pen, inset, text_width};
use crate::kit::titles::explain;
use crate::theme::{Palette, heading, sans, size};
use loadscope_insight::glossary::Term;
use loadscope_insight::narrate::{consequence, narrate};
use loadscope_model::state::Source;

/// Draws a square in the color of a stage. It is hollow for batches that are finished or not dispatched yet.
pub fn stage_dot(ui: &Ui, rect: Rect, stage: Option<Stage>) {
    let palette = Palette::of(ui.ctx());
    match stage {
        Some(stage) if !matches!(stage, Stage::Done | Stage::Discarded) => {
            ui.painter().rect_filled(rect, 2.0, palette.stage(stage));
        }
        _ => {
            let stroke = Stroke::new(1.0, palette.weak);
            ui.painter()
                .rect_stroke(rect, 2.0, stroke, StrokeKind::Inside);
        }
    }
}

impl Pen<'_> {
    /// Shows the last event at the top.
    pub fn headline(&self, ui: &Ui, rect: Rect) {
        let Some(last) = self.scene.last else {
            let text = say!("Nothing dispatched yet");
            self.text(
                ui,
                rect,
                Align2::LEFT_CENTER,
                text,
                sans(size::BODY),
                self.palette.weak,
            );
            return;
        };
        let dot =
            Rect::from_center_size(pos2(rect.left() + 5.0, rect.center().y), vec2(10.0, 10.0));
        stage_dot(ui, dot, Some(last.stage));
        let sentence = narrate(self.scene.run, &last);
        self.set_accessible_text(ui, rect, "headline", &sentence);
        let ink = self.palette.strong;
        let line = inset(rect, 18.0, 0.0);
        let taken = self.text(
            ui,
            line,
            Align2::LEFT_CENTER,
            &sentence,
            heading(size::BODY),
            ink,
        );
        // The last event has priority. The legend appears only if the longest description leaves enough space.
        let with_legend = rect.width() - taken.max(760.0) >= 520.0;
        let mut room = inset(line, taken + 12.0, if with_legend { 520.0 } else { 0.0 });
        if with_legend {
            self.legend(ui, rect);
        }
        if let Some(cut) = self.cut_off() {
            let font = sans(size::BODY);
            let taken = self.text(ui, room, Align2::LEFT_CENTER, cut, font, self.palette.stall);
            self.set_accessible_text(ui, rect, "cut", cut);
            room = inset(room, taken + 12.0, 0.0);
        }
        // A truncated reason is useless.
        let font = sans(size::BODY);
        let why = consequence(self.scene.run, &last);
        if let Some(why) = why.filter(|why| text_width(ui, why, &font) <= room.width()) {
            self.set_accessible_text(ui, room, "why", &why);
            self.text(ui, room, Align2::LEFT_CENTER, &why, font, self.palette.weak);
        }
    }

    /// Returns a warning at the end of a truncated recording, because later events are lost.
    fn cut_off(&self) -> Option<&'static str> {
        let is_cut = matches!(
            self.state.session.source,
            Source::Recording { cut: true, .. }
        );
        let at_end = self.scene.pipeline.step == self.scene.run.transitions().len();
        (is_cut && at_end).then_some(say!("The recording is truncated here"))
    }

    fn legend(&self, ui: &Ui, rect: Rect) {
        let p = self.palette;
        let pin = (say!("Pinning"), p.pin, Term::Pinning);
        let pin = self.scene.plan.pin.then_some(pin);
        let mut right = rect.right();
        let all = [
            (say!("Training"), p.step, Term::Training),
            (say!("Held"), p.held, Term::Held),
        ];
        let rest = [
            (say!("Collating"), p.collate, Term::Collating),
            (say!("Fetching"), p.fetch, Term::Fetching),
            (say!("In a queue"), p.wait, Term::Queued),
        ];
        for (name, color, term) in all.into_iter().chain(pin).chain(rest) {
            let font = sans(size::SMALL);
            let room =
                Rect::from_min_max(pos2(rect.left(), rect.top()), pos2(right, rect.bottom()));
            let taken = self.text(ui, room, Align2::RIGHT_CENTER, name, font, p.weak);
            let dot = pos2(right - taken - 9.0, rect.center().y);
            ui.painter()
                .rect_filled(centred_rect(dot, vec2(8.0, 8.0)), 2.0, color);
            explain(ui, room.with_min_x(dot.x - 4.0), term);
            right = dot.x - 16.0;
        }
    }
}
