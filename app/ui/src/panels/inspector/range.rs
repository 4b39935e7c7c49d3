//! Summary of a time range: throughput, time per activity and the slowest batch and sample.

use egui::{Align, Layout, Link, RichText, Ui};
use loadscope_trace::{Activity, Nanos, RangeSummary, Shares};
use loadscope_words::say;

use super::lane::table;
use crate::kit::empty::remark;
use crate::kit::rows::{Marks, ROW, fact, share};
use crate::kit::table::{Column, Table};
use crate::kit::titles::{section, title};
use crate::theme::{Palette, mono, size};
use loadscope_insight::format;
use loadscope_model::command::Command;
use loadscope_model::state::State;
use loadscope_model::view::Item;

/// Summary page. It caches the sums, because a long range takes longer than a frame.
#[derive(Debug, Default)]
pub struct RangePage {
    cache_key: Option<([u64; 2], Nanos, Nanos)>,
    summary: RangeSummary,
}

impl RangePage {
    /// Shows the summary from `start` to `end`.
    pub fn show(
        &mut self,
        ui: &mut Ui,
        state: &State,
        start: Nanos,
        end: Nanos,
        commands: &mut Vec<Command>,
    ) {
        let events = [state.session.run_number, state.session.run.version()];
        let key = Some((events, start, end));
        if self.cache_key != key {
            self.cache_key = key;
            self.summary = state.session.run.range(start, end);
        }
        let range = &self.summary;
        let length = range.len();
        title(ui, say!("Selected {length}"));
        let (from, to) = (range.start.as_secs_f64(), range.end.as_secs_f64());
        remark(ui, &say!("From {from:.4} s to {to:.4} s"));
        if range.is_empty() {
            remark(ui, say!("Nothing recorded in this range"));
            return;
        }
        throughput(ui, range);
        slowest(ui, state, range, commands);
        table(ui, say!("Trainer"), range.trainer, Some(length));
        let whole = Nanos(length.0.saturating_mul(range.crew_size as i64));
        let name = match range.crew_size {
            0 => say!("Workers").to_owned(),
            1 => say!("Fetching process").to_owned(),
            n => say!("{} workers in total", format::count(n as u64)),
        };
        table(ui, &name, range.crew, Some(whole));
        elsewhere(ui, range.elsewhere, length);
    }
}

fn throughput(ui: &mut Ui, range: &RangeSummary) {
    ui.add_space(4.0);
    let rate = |count: u64| match range.per_second(count) {
        Some(rate) if rate >= 99.95 => format::count(rate.round() as u64),
        Some(rate) => format!("{rate:.1}"),
        None => "—".to_owned(),
    };
    fact(ui, say!("Batches yielded"), format::count(range.batches));
    fact(ui, say!("Samples yielded"), format::count(range.samples));
    fact(ui, say!("Batches per second"), rate(range.batches));
    fact(ui, say!("Samples per second"), rate(range.samples));
    let waited = range.trainer.time_in(Activity::Waiting);
    let part = waited.0 as f64 / range.len().0 as f64;
    let text = format!("{waited} · {}", format::percent(part));
    fact(ui, say!("Trainer waited"), text);
}

/// Shows the slowest batch and sample. A click selects the batch.
fn slowest(ui: &mut Ui, state: &State, range: &RangeSummary, commands: &mut Vec<Command>) {
    section(ui, say!("Slowest"));
    ui.scope(|ui| {
        ui.spacing_mut().interact_size.y = ROW;
        ui.spacing_mut().item_spacing.y = 0.0;
        slowest_entries(ui, state, range, commands);
    });
}

fn slowest_entries(ui: &mut Ui, state: &State, range: &RangeSummary, commands: &mut Vec<Command>) {
    let mut entry = |ui: &mut Ui, text: String, took: Nanos, row: usize| {
        let palette = Palette::of(ui.ctx());
        ui.horizontal(|ui| {
            let link = ui
                .add(Link::new(text))
                .on_hover_text(say!("Selects this batch"));
            let took = RichText::new(took.to_string()).font(mono(size::SMALL));
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                ui.label(took.color(palette.text));
            });
            if link.clicked() {
                commands.push(Command::Select(Some(Item::Batch(row))));
            }
        });
    };
    let name = |row: usize| {
        let batch = state.session.run.batches().get(row);
        batch.map_or(say!("batch —").to_owned(), |b| b.id.to_string())
    };
    match range.slowest_batch {
        Some((row, took)) => {
            let name = name(row);
            let name = name.replacen('b', "B", 1);
            entry(ui, name, took, row);
        }
        None => remark(ui, say!("No batch fetched in this range")),
    }
    if let Some((row, sample)) = range.slowest_sample {
        let which = match sample.index {
            Some(index) => say!("Sample {index}"),
            None => say!("Sample {}", sample.position + 1),
        };
        entry(ui, say!("{which} of {}", name(row)), sample.wall, row);
    }
}

/// Shows the time of batches outside workers and trainer, and their mean number.
fn elsewhere(ui: &mut Ui, shares: Shares, length: Nanos) {
    let palette = Palette::of(ui.ctx());
    section(ui, say!("Batches in flight"));
    let Some(most) = shares.iter().map(|(_, time)| time).max() else {
        remark(ui, say!("None"));
        return;
    };
    let (word, time, mean) = (92.0, 66.0, 52.0);
    let columns = [
        Column::words(say!("Activity"), word),
        Column::numbers(say!("Time, s"), time),
        Column::numbers(say!("In flight"), mean),
    ];
    let table = Table::new(ui, columns);
    for (activity, spent) in shares.iter() {
        let cells = [
            activity.label().into(),
            format!("{:.3}", spent.as_secs_f64()).into(),
            format!("{:.2}", spent.0 as f64 / length.0.max(1) as f64).into(),
        ];
        let color = palette.activity(activity);
        let marks = Marks {
            dot: Some(color),
            bar: Some((0.0, share(spent, most), color)),
        };
        table.row(ui, cells, marks);
    }
}
