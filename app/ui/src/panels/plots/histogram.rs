//! Histograms of durations and of the arrival order, over the range of time in the timeline.

use std::ops::Range;

use egui::{Color32, Stroke, Ui};
use egui_plot::{AxisHints, Bar, BarChart, GridMark, HoverPosition};
use loadscope_trace::Nanos;
use loadscope_words::say;

use super::history::History;
use super::series::{BINS, Counts, NO_DISTANCE, PER_DECADE, Series, quantile, start_of};
use super::static_plot::{AXIS, axis_hints, axis_marks, set_accessible_name, static_plot};
use crate::theme::Palette;
use loadscope_insight::format::{count, plural};
use loadscope_insight::waits::LONG;
use loadscope_model::command::Command;
use loadscope_model::state::State;
use loadscope_model::view::{Item, TimeView};

/// Maximum number of bars.
const BARS: usize = 44;
/// Height of the axis labels below, points.
pub const TICKS: f32 = 20.0;

/// Quantity of a histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Fetch time of a batch.
    Fetch,
    /// Time the trainer waited for a batch.
    Wait,
    /// Time a batch was held.
    Held,
    /// Number of places by which a batch arrived too late. Negative if it was too early.
    Distance,
}

impl Kind {
    /// All kinds, in display order.
    pub const ALL: [Self; 4] = [Self::Fetch, Self::Wait, Self::Held, Self::Distance];

    /// Returns the title.
    pub fn title(self) -> &'static str {
        match self {
            Self::Fetch => say!("Fetch time"),
            Self::Wait => say!("Wait time"),
            Self::Held => say!("Held time"),
            Self::Distance => say!("Out of order"),
        }
    }

    fn series(self, history: &History) -> &Series {
        match self {
            Self::Fetch => &history.fetch,
            Self::Wait => &history.wait,
            Self::Held => &history.held,
            Self::Distance => &history.distance,
        }
    }

    fn color(self, palette: &Palette) -> Color32 {
        match self {
            Self::Fetch => palette.fetch,
            Self::Wait => palette.stall,
            Self::Held => palette.held,
            Self::Distance => palette.wait,
        }
    }
}

/// Histogram, ready to be drawn.
pub struct Histogram {
    kind: Kind,
    all: Counts,
    /// Counts within the selected range.
    selected: Option<Counts>,
    /// Bins of each bar.
    bars: Vec<Range<usize>>,
}

impl Histogram {
    /// Computes the histogram for `view`.
    pub fn of(
        kind: Kind,
        history: &History,
        view: TimeView,
        selected: Option<(Nanos, Nanos)>,
    ) -> Self {
        let series = kind.series(history);
        let all = series.counts(view.start, view.end);
        let selected = selected.map(|(start, end)| {
            let (start, end) = (start.max(view.start), end.min(view.end));
            series.counts(start, end + Nanos(1))
        });
        Self {
            bars: bars(&all, kind),
            kind,
            all,
            selected,
        }
    }

    /// Describes the number of batches, the median and the 99th percentile.
    pub fn summary(&self) -> String {
        let n: u64 = self.all.iter().map(|n| u64::from(*n)).sum();
        let batches = plural(n, say!(n: "batch"), say!(n: "batches"));
        let (Some(middle), Some(high)) = (quantile(&self.all, 0.5), quantile(&self.all, 0.99))
        else {
            return match self.kind {
                Kind::Held => say!("no batch was held in this range").to_owned(),
                Kind::Wait => say!("the trainer did not wait in this range").to_owned(),
                _ => say!("no batch in this range").to_owned(),
            };
        };
        if self.kind == Kind::Distance {
            let in_order = u64::from(self.all[NO_DISTANCE]);
            return match n - in_order {
                0 => say!("all {batches} arrived in order"),
                off => say!(
                    "{} of {batches} arrived too early (−) or too late (+), places",
                    count(off)
                ),
            };
        }
        let about = |bin: usize| start_of(bin as f64 + 0.5);
        say!(
            "median {}, 99\u{2009}% below {}, {batches}",
            about(middle),
            about(high)
        )
    }

    /// Returns true if there is nothing to draw.
    pub fn is_empty(&self) -> bool {
        self.bars.is_empty()
    }
}

/// Returns the bars, which contain several bins if there are many.
fn bars(counts: &Counts, kind: Kind) -> Vec<Range<usize>> {
    let Some(first) = counts.iter().position(|n| *n > 0) else {
        return Vec::new();
    };
    let last = counts.iter().rposition(|n| *n > 0).unwrap_or(first);
    let (first, last) = match kind {
        Kind::Distance => {
            // The range is symmetric, and wide enough that a single bar does not fill it.
            let far = NO_DISTANCE
                .abs_diff(first)
                .max(NO_DISTANCE.abs_diff(last))
                .max(4)
                + 1;
            (
                NO_DISTANCE.saturating_sub(far),
                (NO_DISTANCE + far).min(BINS - 1),
            )
        }
        // The range covers at least half a decade.
        _ => {
            let room = (PER_DECADE / 2).saturating_sub(last - first) / 2 + 1;
            (first.saturating_sub(room), (last + room).min(BINS - 1))
        }
    };
    let each = match kind {
        Kind::Distance => 1,
        _ => (last + 1 - first).div_ceil(BARS),
    };
    (first..=last)
        .step_by(each)
        .map(|start| start..(start + each).min(BINS))
        .collect()
}

fn sum(counts: &Counts, bins: &Range<usize>) -> f64 {
    counts[bins.clone()].iter().map(|n| f64::from(*n)).sum()
}

/// Draws a histogram. Clicks on a bar select its batches one by one.
pub fn show(
    ui: &mut Ui,
    state: &State,
    history: &History,
    histogram: &Histogram,
    height: f32,
    commands: &mut Vec<Command>,
) {
    let palette = Palette::of(ui);
    let kind = histogram.kind;
    let bars = &histogram.bars;
    let (Some(first), Some(last)) = (bars.first(), bars.last()) else {
        return;
    };
    let (first, last) = (first.start as f64, last.end as f64);
    let top = bars
        .iter()
        .map(|b| sum(&histogram.all, b))
        .fold(1.0, f64::max)
        * 1.1;
    let color = kind.color(palette);
    let chart = |name: &str, counts: &Counts, fill: Color32, short: Color32| {
        let bars = bars.iter().map(|b| {
            let middle = (b.start + b.end) as f64 / 2.0;
            let is_short = kind == Kind::Wait && start_of(b.end as f64) <= LONG;
            Bar::new(middle, sum(counts, b))
                .width(b.len() as f64 * 0.9)
                .fill(if is_short { short } else { fill })
                .stroke(Stroke::NONE)
        });
        BarChart::new(name, bars.collect())
            .color(fill)
            .allow_hover(true)
    };
    let y_axis = axis_hints(AxisHints::new_y(), palette)
        .formatter(|mark: GridMark, _: &_| count(mark.value as u64))
        .min_thickness(AXIS);
    let x_axis = axis_hints(AxisHints::new_x(), palette).formatter(move |mark: GridMark, _: &_| {
        // In the corner, the label would overlap the zero of the other axis.
        let is_in_corner = mark.value - first < 0.05 * (last - first);
        match is_in_corner {
            true => String::new(),
            false => tick(kind, mark.value),
        }
    });
    let marks = marks(kind, first, last);
    let response = static_plot(("histogram", kind.title()), height + TICKS, palette)
        .custom_y_axes(vec![y_axis])
        .custom_x_axes(vec![x_axis])
        .x_grid_spacer(move |_| marks.clone())
        .y_grid_spacer(move |_| axis_marks(top))
        .label_formatter(|_: &HoverPosition<'_>| None)
        .show(ui, |plot| {
            plot.set_plot_bounds_x(first..=last);
            plot.set_plot_bounds_y(0.0..=top);
            let is_behind = histogram.selected.is_some();
            let [fill, short] = [color, palette.wait].map(|color| match is_behind {
                true => palette.dimmed(color),
                false => color,
            });
            plot.bar_chart(chart("", &histogram.all, fill, short).allow_hover(false));
            if let Some(selected) = &histogram.selected {
                let chart = chart(" ", selected, color, palette.wait);
                plot.bar_chart(chart.allow_hover(false));
            }
            plot.pointer_coordinate()
        });
    set_accessible_name(&response.response, kind.title(), &histogram.summary());
    let at = response.inner.filter(|_| response.response.hovered());
    let is_there =
        |b: &&Range<usize>| at.is_some_and(|p| (b.start as f64..b.end as f64).contains(&p.x));
    let Some(bar) = bars.iter().find(is_there) else {
        return;
    };
    let what = text_of(histogram, bar);
    let clicked = response.response.clicked();
    response.response.on_hover_text_at_pointer(what);
    if clicked {
        let view = state.shown();
        let now = state.session.selection.and_then(Item::batch);
        let series = kind.series(history);
        let next = series.next_in(bar.clone(), view.start, view.end, now);
        commands.extend(next.map(|row| Command::Select(Some(Item::Batch(row)))));
    }
}

fn place_text(bin: usize) -> String {
    match bin as i64 - NO_DISTANCE as i64 {
        0 => say!("In order").to_owned(),
        d if d > 0 => say!(
            "{} too late",
            plural(d as u64, say!(n: "place"), say!(n: "places"))
        ),
        d => say!(
            "{} too early",
            plural(d.unsigned_abs(), say!(n: "place"), say!(n: "places"))
        ),
    }
}

/// Returns the tooltip of a bar.
fn text_of(histogram: &Histogram, bar: &Range<usize>) -> String {
    let batches = plural(
        sum(&histogram.all, bar) as u64,
        say!(n: "batch"),
        say!(n: "batches"),
    );
    let what = match histogram.kind {
        Kind::Distance => place_text(bar.start),
        _ => say!(
            "{} to {}",
            start_of(bar.start as f64),
            start_of(bar.end as f64)
        ),
    };
    say!("{what}\n{batches}. Click to select them one by one.")
}

fn tick(kind: Kind, bin: f64) -> String {
    match kind {
        // A bar extends from its bin to the next.
        Kind::Distance => match (bin - 0.5).round() as i64 - NO_DISTANCE as i64 {
            0 => "0".to_owned(),
            d if d > 0 => format!("+{d}"),
            d => format!("−{}", d.unsigned_abs()),
        },
        _ => {
            let text = start_of(bin).to_string();
            // The zeros of `1.00 ms` are removed.
            let (value, unit) = text.split_once('\u{2009}').unwrap_or((&text, ""));
            let value = match value.contains('.') {
                true => value.trim_end_matches('0').trim_end_matches('.'),
                false => value,
            };
            format!("{value}\u{2009}{unit}")
        }
    }
}

/// Returns marks at powers of ten, with 2 and 5 times them if they are few. Distances have round numbers.
fn marks(kind: Kind, first: f64, last: f64) -> Vec<GridMark> {
    let mark = |value| GridMark {
        value,
        step_size: last - first,
    };
    if kind == Kind::Distance {
        let far = (last - first) / 2.0;
        let step = [1i64, 2, 5, 10, 20, 50]
            .into_iter()
            .find(|s| far / *s as f64 <= 4.0)
            .unwrap_or(50);
        let most = (far as i64) / step;
        let marks = (-most..=most).map(|k| NO_DISTANCE as f64 + 0.5 + (k * step) as f64);
        return marks.map(mark).collect();
    }
    let decades = (last - first) / PER_DECADE as f64;
    let parts: &[f64] = if decades <= 1.3 {
        &[1.0, 2.0, 5.0]
    } else {
        &[1.0]
    };
    let each = (decades / 6.0).ceil().max(1.0) as usize;
    (0..=BINS / PER_DECADE)
        .step_by(each)
        .flat_map(|decade| {
            parts
                .iter()
                .map(move |p| (decade as f64 + p.log10()) * PER_DECADE as f64)
        })
        .filter(|at| (first..=last).contains(at))
        .map(mark)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histogram_ticks_have_fitting_units() {
        let text = |bin: f64| tick(Kind::Fetch, bin).replace('\u{2009}', " ");
        assert_eq!(text(80.0), "1 ms");
        assert_eq!(text(140.0), "1 s");
        assert_eq!(text(0.0), "100 ns");
        assert_eq!(text((4.0 + 5f64.log10()) * 20.0), "5 ms");
        assert_eq!(tick(Kind::Distance, NO_DISTANCE as f64 + 0.5), "0");
        assert_eq!(tick(Kind::Distance, NO_DISTANCE as f64 - 1.5), "−2");
    }

    #[test]
    fn histogram_bars_include_every_count() {
        for (first, last) in [(0, 0), (3, 219), (100, 104), (219, 219), (110, 110)] {
            let mut counts = [0; BINS];
            counts[first] += 1;
            counts[last] += 1;
            for kind in Kind::ALL {
                let bars = bars(&counts, kind);
                let all: f64 = bars.iter().map(|b| sum(&counts, b)).sum();
                assert_eq!(all, 2.0, "{kind:?} {first} {last}");
                assert!(kind == Kind::Distance || bars.len() <= BARS);
            }
        }
    }
}
