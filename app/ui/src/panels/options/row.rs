//! Row of one option: name, control, effect, problem, and a mark if it differs from the shown run.

use std::collections::HashSet;

use egui::emath::Numeric;
use egui::text::{LayoutJob, TextFormat};
use egui::{
    self, Align, DragValue, Id, Label, Layout, Pos2, Rect, Response, RichText, Role, ScrollArea,
    Sense, TextWrapMode, Ui, Vec2, WidgetInfo, pos2, vec2,
};

use crate::kit::empty::{height_of_hint, hint};
use crate::kit::icons::{Icon, draw};
use crate::kit::parts::mark;
use crate::theme::{Palette, mono, sans, size, space};
use loadscope_insight::options::Problem;
use loadscope_lessons::Part;
use loadscope_trace::{Argument, RunOptions};
use loadscope_words::say;

/// Data of all rows in one frame.
pub(super) struct Form<'a> {
    /// Problems of the options.
    problems: &'a [Problem],
    /// Options of the shown run, if they can be run again.
    pub shown: Option<&'a RunOptions>,
    /// Options that differ from the shown run.
    pub changed: Vec<Argument>,
    /// Options at PyTorch's default, or at Loadscope's if PyTorch has none.
    usual: HashSet<&'static str>,
    /// Options to reset to the shown run.
    pub resets: Vec<Argument>,
}

impl<'a> Form<'a> {
    /// Creates the rows for the options of the next run.
    pub fn new(
        options: &RunOptions,
        shown: Option<&'a RunOptions>,
        problems: &'a [Problem],
    ) -> Self {
        let usual = RunOptions {
            batch_size: Some(1),
            ..RunOptions::default()
        };
        let usual = Argument::ALL.iter().filter(|f| f.is_same(options, &usual));
        Self {
            problems,
            changed: shown.map_or_else(Vec::new, |shown| Argument::changed(shown, options)),
            shown,
            usual: usual.map(|field| field.name()).collect(),
            resets: Vec::new(),
        }
    }

    /// Shows the name of an option. It is weak at the default, and has a dot if it differs from the shown run.
    pub fn name(&self, ui: &mut Ui, field: Argument) -> Response {
        let palette = Palette::of(ui);
        let is_changed = self.changed.contains(&field);
        let color = match self.usual.contains(field.name()) && !is_changed {
            true => palette.weak,
            false => palette.strong,
        };
        let name = RichText::new(field.name()).font(mono(size::BODY));
        let label = ui.label(name.color(color));
        if is_changed {
            let (rect, _) = ui.allocate_exact_size(vec2(6.0, 6.0), Sense::hover());
            ui.painter()
                .circle_filled(rect.center(), 3.0, palette.strong);
        }
        label
    }

    /// Shows the button that resets an option to the shown run.
    pub fn reset(&mut self, ui: &mut Ui, field: Argument) {
        if !self.changed.contains(&field) {
            return;
        }
        let (rect, response) = ui.allocate_exact_size(Vec2::splat(RESET), Sense::click());
        let name = say!("Reset {}", field.name());
        response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &name));
        let palette = Palette::of(ui);
        let color = match response.hovered() || response.has_focus() {
            true => palette.strong,
            false => palette.weak,
        };
        draw(ui.painter(), rect.center(), Icon::Reset, color);
        if response
            .on_hover_text(say!("Resets this option to the shown run"))
            .clicked()
        {
            self.resets.push(field);
        }
    }

    /// Shows the problem of an option, or else its effect. Both have the same height, so that the rows below do not move during typing.
    pub fn effect(&self, ui: &mut Ui, field: Argument, effect: &str) {
        if !self.problems.iter().any(|p| p.field == Some(field)) {
            hint(ui, effect);
            return;
        }
        let end = ui.cursor().top() + height_of_hint(ui, effect);
        self.problem(ui, field);
        ui.add_space((end - ui.cursor().top()).max(0.0));
    }

    /// Shows the problem of an option in one line.
    pub fn problem(&self, ui: &mut Ui, field: Argument) {
        for problem in self.problems.iter().filter(|p| p.field == Some(field)) {
            let text = RichText::new(&problem.text).font(sans(size::SMALL));
            let text = text.color(Palette::of(ui).stall);
            let label = ui.add(Label::new(text).truncate());
            if problem.sentence != problem.text {
                label.on_hover_text(&problem.sentence);
            }
        }
    }
}

/// Shows one option: name, control and effect.
pub(super) fn row(
    ui: &mut Ui,
    form: &mut Form<'_>,
    field: Argument,
    effect: &str,
    control: impl FnOnce(&mut Ui, Id),
) {
    let top = ui.cursor().min;
    ui.horizontal(|ui| {
        let label = form.name(ui, field);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            beside_reset(ui, |ui| control(ui, label.id));
            form.reset(ui, field);
        });
    });
    form.effect(ui, field, effect);
    mark_row(ui, field, top);
    ui.add_space(space::GAP);
}

/// Width of the reset button, points.
const RESET: f32 = 20.0;

/// Leaves room for the reset button to the left of a control. Long words in the control are truncated.
fn beside_reset(ui: &mut Ui, control: impl FnOnce(&mut Ui)) {
    let room = ui.available_size() - vec2(RESET + ui.spacing().item_spacing.x, 0.0);
    let layout = Layout::right_to_left(Align::Center);
    ui.allocate_ui_with_layout(room.max(Vec2::ZERO), layout, |ui| {
        ui.style_mut().wrap_mode = Some(TextWrapMode::Truncate);
        control(ui);
    });
}

/// Marks everything drawn since `top` as the row of an option.
pub(super) fn mark_row(ui: &Ui, field: Argument, top: Pos2) {
    let bottom = pos2(ui.max_rect().right(), ui.min_rect().bottom());
    mark(ui, Part::Option(field), Rect::from_min_max(top, bottom));
}

/// Shows a part of an option, or a row without dot and problem.
pub(super) fn part(ui: &mut Ui, name: &str, effect: &str, control: impl FnOnce(&mut Ui, Id)) {
    ui.horizontal(|ui| {
        let label = ui.label(RichText::new(name).font(mono(size::BODY)));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            control(ui, label.id);
        });
    });
    if !effect.is_empty() {
        hint(ui, effect);
    }
    ui.add_space(space::GAP);
}

/// Shows a field for an integer. Values that are too large are reported by the validation instead of clamped.
pub(super) fn number<N: Numeric>(ui: &mut Ui, label: Id, value: &mut N) {
    let most = N::from_f64(f64::from(u32::MAX));
    let drag = DragValue::new(value).range(N::from_f64(0.0)..=most);
    // Displaying a recorded value must not change it.
    ui.add(drag.speed(0.1).clamp_existing_to_range(false))
        .labelled_by(label);
}

/// Shows an option that is an integer.
pub(super) fn number_row<N: Numeric>(
    ui: &mut Ui,
    form: &mut Form<'_>,
    argument: Argument,
    effect: &str,
    value: &mut N,
) {
    row(ui, form, argument, effect, |ui, label| {
        number(ui, label, value);
    });
}

/// Shows an option that is a time.
pub(super) fn time_row(
    ui: &mut Ui,
    form: &mut Form<'_>,
    argument: Argument,
    effect: &str,
    value: &mut f64,
    unit: &str,
) {
    row(ui, form, argument, effect, |ui, label| {
        let drag = DragValue::new(value).range(0.0..=f64::MAX);
        let drag = drag.speed(0.1).max_decimals(2).suffix(unit);
        ui.add(drag.clamp_existing_to_range(false))
            .labelled_by(label);
    });
}

/// Shows an option that is `True` or `False`.
pub(super) fn flag_row(
    ui: &mut Ui,
    form: &mut Form<'_>,
    argument: Argument,
    effect: &str,
    value: &mut bool,
) {
    row(ui, form, argument, effect, |ui, label| {
        ui.checkbox(value, "").labelled_by(label);
    });
}

/// Maximum height of the Python code, points.
const PYTHON: f32 = 132.0;

/// Shows the equivalent Python code. Lines that are not in `before` are marked.
pub(super) fn python(ui: &mut Ui, program: &str, before: Option<&str>) {
    ui.horizontal(|ui| {
        ui.label(
            RichText::new(say!("Equivalent PyTorch code"))
                .font(sans(size::SMALL))
                .color(Palette::of(ui).weak),
        );
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let copy = ui
                .small_button(say!("Copy"))
                .on_hover_text(say!("Copies the complete program, ready to run"));
            if copy.clicked() {
                ui.copy_text(program.to_owned());
            }
        });
    });
    // Only the part that creates the loader is shown. The Copy button copies the whole program.
    let call = program.find("loader = ");
    let comments = |at: usize| {
        let lines = program[..at].trim_end_matches('\n').rsplit('\n');
        let above = lines.take_while(|line| line.starts_with('#'));
        above.map(|line| line.len() + 1).sum::<usize>()
    };
    let start = call.map_or(0, |at| at - comments(at));
    let shown = program.get(start..).unwrap_or(program);
    let known: Option<HashSet<&str>> = before.map(|before| before.lines().collect());
    let palette = Palette::of(ui);
    let mut job = LayoutJob::default();
    for (k, line) in shown.lines().enumerate() {
        let is_new = known.as_ref().is_some_and(|known| !known.contains(line));
        let color = match (is_new, line.trim_start().starts_with('#')) {
            (true, _) => palette.strong,
            (false, true) => palette.weak,
            (false, false) => palette.text,
        };
        let mut format = TextFormat::simple(mono(size::SMALL), color);
        if k > 0 {
            job.append("\n", 0.0, format.clone());
        }
        if is_new {
            format.background = palette.hovered();
        }
        job.append(line, 0.0, format);
    }
    let height = PYTHON.min(ui.content_rect().height() * 0.2);
    ScrollArea::vertical()
        .id_salt("python")
        .auto_shrink([false, true])
        .max_height(height)
        .min_scrolled_height(height)
        .show(ui, |ui| {
            ui.add(Label::new(job).wrap().selectable(true));
        });
}
