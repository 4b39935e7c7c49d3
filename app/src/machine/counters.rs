//! PyTorch's counters, under PyTorch's names.

use eframe::egui::{Align2, Rect, Ui, pos2, vec2};
use loadscope_trace::HeldBatch;

use super::pen::{Pen, inset, text_width};
use super::scene::Slot;
use crate::theme::{mono, size};

/// Between one counter and the next.
const APART: f32 = 20.0;
/// Between a name and its value.
const NEAR: f32 = 7.0;

impl Pen<'_> {
    /// All counters, as many as fit; `task_info` takes what is left.
    pub fn counters(&self, ui: &Ui, rect: Rect) {
        let m = &self.scene.machine;
        let plan = &self.scene.plan;
        let digits = plan.digits;
        let in_window = self
            .scene
            .slots
            .iter()
            .filter(|s| s.batch.is_some())
            .count();
        let window_digits = plan.window.max(1).ilog10() as usize + 1;
        let mut all = vec![
            ("send_idx", format!("{:>digits$}", m.send_idx)),
            ("rcvd_idx", format!("{:>digits$}", m.rcvd_idx)),
            (
                "tasks_outstanding",
                format!("{:>window_digits$}", m.tasks_outstanding),
            ),
        ];
        if plan.window > 0 {
            let used = format!("{in_window:>window_digits$}/{}", plan.window);
            all.push(("prefetch window", used));
        }
        let several = self.scene.run.epochs().len() > 1 || self.scene.run.info.options.epochs > 1;
        if several {
            let epoch = m.epoch.map_or("—".to_owned(), |e| e.to_string());
            all.push(("epoch", epoch));
        }
        let mut rest = rect;
        for (name, value) in &all {
            rest = self.counter(ui, rest, name, value);
        }
        if plan.window > 0 && rest.width() > 120.0 {
            let used = text_width(ui, "task_info", &mono(size::SMALL)) + NEAR;
            let left = rest.width() - used;
            if let Some(text) = self.task_info((left / (size::SMALL * 0.6)) as usize) {
                self.counter(ui, rest, "task_info", &text);
            }
        }
    }

    /// One counter at the left end of `rest`; what is left of it then.
    fn counter(&self, ui: &Ui, rest: Rect, name: &str, value: &str) -> Rect {
        let font = mono(size::SMALL);
        let wide = text_width(ui, name, &font);
        let value_wide = text_width(ui, value, &font);
        if wide + NEAR + value_wide > rest.width() + 1.0 {
            return Rect::from_min_max(pos2(rest.right(), rest.top()), rest.max);
        }
        let weak = self.palette.weak;
        self.text(ui, rest, Align2::LEFT_CENTER, name, font.clone(), weak);
        let at = inset(rest, wide + NEAR, 0.0);
        let cell = Rect::from_min_size(at.min, vec2(value_wide + 2.0, at.height()));
        self.text(
            ui,
            cell,
            Align2::LEFT_CENTER,
            value,
            font,
            self.palette.text,
        );
        inset(rest, wide + NEAR + value_wide + APART, 0.0)
    }

    /// `task_info` as Python would print it, as many entries as fit into `room` characters;
    /// nothing if not even one does.
    fn task_info(&self, room: usize) -> Option<String> {
        let entries = self.scene.slots.iter().filter_map(|s| self.entry(s));
        let mut text = String::from("{");
        for (k, entry) in entries.enumerate() {
            let comma = if k > 0 { ", " } else { "" };
            if text.len() + comma.len() + entry.len() + 4 > room {
                if k == 0 {
                    return None;
                }
                text.push_str(comma);
                text.push('…');
                break;
            }
            text.push_str(comma);
            text.push_str(&entry);
        }
        text.push('}');
        Some(text)
    }

    /// `4: (1,)` while worker 1 has it, `4: (1, data)` once it has arrived.
    fn entry(&self, slot: &Slot) -> Option<String> {
        let batch: HeldBatch = slot.batch?;
        let worker = self.scene.run.batches().get(batch.row)?.worker?;
        Some(if batch.stage.has_arrived() {
            format!("{}: ({worker}, data)", slot.idx)
        } else {
            format!("{}: ({worker},)", slot.idx)
        })
    }
}
