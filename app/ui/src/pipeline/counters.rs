//! PyTorch's counters, under PyTorch's names.

use egui::{Align2, Button, Rect, RichText, Ui, pos2, vec2};
use loadscope_insight::glossary::Term;
use loadscope_insight::variables::entry;
use loadscope_lessons::Pane;
use loadscope_words::{Text, text};

use super::pen::{Pen, inset, text_width};
use crate::kit::action::push_on_click;
use crate::kit::titles::explain;
use crate::theme::{mono, sans, size};
use loadscope_model::command::Action;

/// Space between two counters, points.
const APART: f32 = 20.0;
/// Space between a name and its value, points.
const NEAR: f32 = 7.0;
/// Names that are not PyTorch's.
const PREFETCH_WINDOW: Text = text!("prefetch window");
const EPOCH: Text = text!("epoch");

impl Pen<'_> {
    /// Shows as many counters as fit. `task_info` gets the remaining space.
    pub fn counters(&mut self, ui: &mut Ui, rect: Rect) {
        let rect = self.toggle(ui, rect);
        // The counters may be the answer to a lesson's question.
        if self.state.learn.covers(Pane::Variables) {
            return;
        }
        let m = &self.scene.pipeline;
        let plan = &self.scene.plan;
        let digits = plan.digits;
        let in_window = m.task_info().count();
        let window_digits = plan.window.max(1).ilog10() as usize + 1;
        let several = self.scene.run.epochs().len() > 1 || self.scene.run.info.options.epochs > 1;
        let epoch = (
            EPOCH.say(),
            m.epoch.map_or("—".to_owned(), |e| e.to_string()),
        );
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
            all.push((PREFETCH_WINDOW.say(), used));
        }
        if plan.workers == 0 {
            // `_SingleProcessDataLoaderIter` has only this counter.
            all = vec![("num_yielded", format!("{:>digits$}", m.rcvd_idx))];
        }
        if several {
            all.push(epoch);
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

    /// Shows the button of the variables table at the right end. Returns the remaining space.
    fn toggle(&mut self, ui: &mut Ui, rect: Rect) -> Rect {
        const BUTTON: f32 = 72.0;
        if rect.width() < BUTTON + 200.0 || self.scene.plan.workers == 0 {
            return rect;
        }
        let (rest, place) = rect.split_left_right_at_x(rect.right() - BUTTON);
        let info = Action::ToggleVariables.info();
        let text = RichText::new(info.name).font(sans(size::SMALL));
        let button = Button::new(text).selected(self.state.prefs.variables_open);
        push_on_click(
            ui.put(place, button),
            Action::ToggleVariables,
            &mut self.commands,
        );
        inset(rest, 0.0, 8.0)
    }

    /// Shows one counter at the left end of `rest`. Returns the remaining space.
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
        let term = match Term::of_counter(name) {
            None if name == PREFETCH_WINDOW.say() => Some(Term::PrefetchWindow),
            None if name == EPOCH.say() => Some(Term::Epoch),
            term => term,
        };
        if let Some(term) = term {
            explain(ui, rest.with_max_x(cell.right()), term);
        }
        inset(rest, wide + NEAR + value_wide + APART, 0.0)
    }

    /// Formats `task_info` as Python prints it, with as many entries as fit into `room` characters. Returns `None` if not even one fits.
    fn task_info(&self, room: usize) -> Option<String> {
        let mut text = String::from("{");
        for (k, task) in self.scene.pipeline.task_info().enumerate() {
            let entry = format!("{}: {}", task.idx, entry(&task));
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
}
