//! Inspector: details of the selection.

use egui::{ScrollArea, Ui};

mod annotated;
mod batch;
mod batch_history;
mod columns;
mod content;
mod enlarged;
mod heatmap;
mod lane;
mod lane_batches;
mod pictures;
mod range;
mod sampler;
mod samples;
mod sequences;
mod tensor;
mod tree;
mod waves;

use crate::kit::titles::title;
use crate::theme::space;
use loadscope_model::command::Command;
use loadscope_model::state::State;
use loadscope_model::view::Item;
use loadscope_words::say;

use crate::kit::empty::remark;
use content::ContentCache;

/// Details of the selected batch, lane, range or sampler.
#[derive(Debug, Default)]
pub struct Inspector {
    content: ContentCache,
    range: range::RangePage,
    /// Selection in the last frame. Another selection starts at the top.
    shown: Option<Item>,
}

impl Inspector {
    /// Shows the details of the selection. The panel around it has the margins.
    pub fn show(&mut self, ui: &mut Ui, state: &State) -> Vec<Command> {
        let mut commands = Vec::new();
        let mut area = ScrollArea::vertical()
            .id_salt("inspector")
            .auto_shrink(false);
        if self.shown != state.session.selection {
            self.shown = state.session.selection;
            area = area.vertical_scroll_offset(0.0);
        }
        area.show(ui, |ui| {
            ui.set_width(ui.available_width());
            self.selected(ui, state, &mut commands);
        });
        commands
    }

    fn selected(&mut self, ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
        match state.session.selection {
            Some(Item::Batch(row)) if row < state.session.run.batches().len() => {
                batch::show(ui, &mut self.content, state, row, commands);
            }
            Some(Item::Lane(which)) => lane::show(ui, state, which, commands),
            Some(Item::Sampler) => sampler::show(ui, state, commands),
            Some(Item::Range(start, end)) => {
                self.range.show(ui, state, start, end, commands);
            }
            Some(Item::Activity(activity)) => lane::activity(ui, state, activity),
            Some(Item::Batch(_)) | None => nothing(ui, state),
        }
    }
}

fn nothing(ui: &mut Ui, state: &State) {
    title(ui, say!("Nothing selected"));
    if state.session.run.batches().is_empty() {
        remark(
            ui,
            match state.has_only_gauges() {
                true => {
                    say!("This recording contains no batches. Point at a chart to read its values.")
                }
                false if !state.session.run.whole().transitions().is_empty() => {
                    say!("No events so far. Later events are hidden.")
                }
                false => say!("Run a loader or open a recording"),
            },
        );
        return;
    }
    remark(ui, say!("Click a batch to see its contents"));
    ui.add_space(space::GAP);
    remark(
        ui,
        say!("Click a worker, a queue or the trainer to see how it spent its time"),
    );
    ui.add_space(space::GAP);
    remark(ui, say!("Drag on the ruler to summarize a time range"));
}
