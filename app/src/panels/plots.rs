//! Counters over time, for the range of time that the timeline shows.

use eframe::egui::{Color32, FontId, Id, Label, RichText, ScrollArea, Ui, Vec2b, vec2};
use egui_plot::{AxisHints, GridMark, Line, Plot, PlotPoints, VLine};
use loadscope_trace::{Counter, Lane, Nanos};

use crate::command::Command;
use crate::format;
use crate::state::State;
use crate::theme::{Palette, heading, mono, size, space, words};
use crate::view::{Cursor, TimeView};

/// So many points a curve: about one every two or three pixels.
const POINTS: usize = 400;
/// Events a second need wider buckets to be a curve and not a row of needles.
const RATE_POINTS: usize = 48;
/// Height of a plot.
const HEIGHT: f32 = 92.0;

/// The plots, and the curves of the last frame.
#[derive(Default)]
pub struct Plots {
    curves: Vec<Curve>,
    made_for: Option<(u64, TimeView)>,
}

struct Curve {
    title: &'static str,
    about: &'static str,
    unit: Unit,
    lines: Vec<(&'static str, Counter, Vec<f64>)>,
}

#[derive(Clone, Copy, PartialEq)]
enum Unit {
    Share,
    Batches,
    PerSecond,
}

impl Plots {
    /// Shows the plots; a click sets the time cursor.
    pub fn show(&mut self, ui: &mut Ui, state: &State) -> Vec<Command> {
        let view = state.shown();
        let key = (state.run.events(), view);
        if self.made_for != Some(key) {
            self.made_for = Some(key);
            self.curves = curves(state, view);
        }
        let mut commands = Vec::new();
        ScrollArea::vertical()
            .auto_shrink([false, false])
            .show(ui, |ui| {
                for curve in &self.curves {
                    ui.add_space(space::GAP);
                    title(ui, curve);
                    commands.extend(plot(ui, state, curve, view));
                }
            });
        commands
    }
}

fn curves(state: &State, view: TimeView) -> Vec<Curve> {
    let run = &state.run;
    let line = |name, counter| {
        let points = match counter {
            Counter::BatchesPerSecond => RATE_POINTS,
            _ => POINTS,
        };
        let values = run.counter(counter, view.start, view.end, points);
        (name, counter, values)
    };
    vec![
        Curve {
            title: "Trainer waits",
            about: "Share of the time in which the trainer had no batch",
            unit: Unit::Share,
            lines: vec![line("waiting", Counter::Waiting)],
        },
        Curve {
            title: "Batches per second",
            about: "Handed to the trainer",
            unit: Unit::PerSecond,
            lines: vec![line("batches", Counter::BatchesPerSecond)],
        },
        Curve {
            title: "Held",
            about: "Finished batches behind a missing one",
            unit: Unit::Batches,
            lines: vec![line("held", Counter::Held)],
        },
        Curve {
            title: "tasks_outstanding",
            about: "Batches dispatched and not yet received; of these, in the result queue",
            unit: Unit::Batches,
            lines: vec![
                line("outstanding", Counter::TasksOutstanding),
                line("result queue", Counter::In(Lane::ResultQueue)),
            ],
        },
    ]
}

fn title(ui: &mut Ui, curve: &Curve) {
    ui.horizontal(|ui| {
        ui.add_space(space::MARGIN);
        ui.label(RichText::new(curve.title).font(heading(size::BODY)));
        let weak = Palette::of(ui).weak;
        let about = RichText::new(curve.about)
            .font(words(size::SMALL))
            .color(weak);
        ui.add(Label::new(about).truncate());
    });
}

fn colour(palette: &Palette, counter: Counter) -> Color32 {
    match counter {
        Counter::Waiting => palette.stall,
        Counter::Held => palette.held,
        Counter::BatchesPerSecond => palette.step,
        Counter::TasksOutstanding => palette.fetch,
        Counter::In(_) => palette.wait,
    }
}

fn plot(ui: &mut Ui, state: &State, curve: &Curve, view: TimeView) -> Option<Command> {
    let palette = Palette::of(ui);
    let start = view.start.as_secs_f64();
    let length = view.len().as_secs_f64();
    let unit = curve.unit;
    let small: FontId = mono(size::SMALL);
    let y_axis = AxisHints::new_y()
        .formatter(move |mark: GridMark, _: &_| unit.text(mark.value))
        .min_thickness(60.0);
    let x_axis = AxisHints::new_x().formatter(|mark: GridMark, _: &_| seconds(mark));
    let top = match unit {
        Unit::Share => 1.0,
        _ => {
            curve
                .lines
                .iter()
                .flat_map(|(_, _, v)| v)
                .fold(1.0, |a: f64, b| a.max(*b))
                * 1.1
        }
    };
    ui.style_mut().override_font_id = Some(small);
    let response = Plot::new(("plot", curve.title))
        .height(HEIGHT)
        .min_size(vec2(100.0, HEIGHT))
        .custom_y_axes(vec![y_axis])
        .custom_x_axes(vec![x_axis])
        .default_y_bounds(0.0, top)
        .allow_zoom(Vec2b::FALSE)
        .allow_drag(Vec2b::FALSE)
        .allow_scroll(Vec2b::FALSE)
        .allow_boxed_zoom(false)
        .allow_double_click_reset(false)
        .set_margin_fraction(vec2(0.0, 0.0))
        .show_background(false)
        .grid_color(palette.line)
        .y_grid_spacer(move |_| few_marks(top))
        .link_cursor(Id::unique("plots"), Vec2b::new(true, false))
        .show(ui, |plot| {
            // The timeline owns the range of time; the plots follow it.
            plot.set_plot_bounds_x(start..=view.end.as_secs_f64());
            plot.set_plot_bounds_y(0.0..=top);
            for (name, counter, values) in &curve.lines {
                let step = length / values.len() as f64;
                let points = values.iter().enumerate();
                let points: PlotPoints<'_> = points
                    .map(|(k, v)| [start + (k as f64 + 0.5) * step, *v])
                    .collect();
                let line = Line::new(*name, points)
                    .color(colour(palette, *counter))
                    .width(1.5);
                plot.line(if counter == &Counter::TasksOutstanding {
                    line
                } else {
                    line.fill(0.0)
                });
            }
            if state.cursor != Cursor::Live {
                let now = state.now().as_secs_f64();
                plot.vline(
                    VLine::new("time cursor", now)
                        .color(palette.strong)
                        .width(1.0),
                );
            }
            plot.pointer_coordinate()
        });
    ui.style_mut().override_font_id = None;
    let at = response.inner.filter(|_| response.response.clicked())?;
    Some(Command::Cursor(Cursor::At(Nanos::from_secs_f64(at.x))))
}

/// Two or three round values from 0 to `top`; a small plot has no room for more.
fn few_marks(top: f64) -> Vec<GridMark> {
    let power = 10f64.powf((top / 2.0).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|m| m * power);
    let step = steps.into_iter().find(|s| top / s < 3.0).unwrap_or(top);
    let values = (0..=(top / step) as usize).map(|k| k as f64 * step);
    let mark = |value| GridMark {
        value,
        // As if these were the coarsest marks there are: all of them get a label.
        step_size: top,
    };
    values.map(mark).collect()
}

fn seconds(mark: GridMark) -> String {
    let decimals = (-mark.step_size.log10().floor()).clamp(0.0, 9.0) as usize;
    format!("{:.decimals$}\u{2009}s", mark.value)
}

impl Unit {
    fn text(self, value: f64) -> String {
        match self {
            Self::Share => format::percent(value),
            Self::Batches | Self::PerSecond if value.fract() == 0.0 => format::count(value as u64),
            Self::Batches | Self::PerSecond => format!("{value:.1}"),
        }
    }
}
