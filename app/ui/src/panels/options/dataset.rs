//! The options of the dataset.

use egui::{self, Align, ComboBox, Layout, RichText, TextEdit, Ui};
use loadscope_trace::RunOptions;

use super::row::{number, row};
use crate::kit::empty::hint;
use crate::theme::{mono, size, space};
use loadscope_model::command::{Action, Command};

/// How the text of a dataset begins, its name, and what is run first with it.
const KINDS: [(&str, &str, &str); 5] = [
    ("digits", "Handwritten digits", "digits"),
    ("folder:", "Folder of pictures", "folder:"),
    (
        "synthetic",
        "Synthetic",
        "synthetic:len=24,cost_ms=50,slow=4:1000",
    ),
    (
        "stream",
        "Synthetic iterable",
        "stream:len=24,cost_ms=50,shard=true",
    ),
    ("tokens:", "File of tokens", "tokens:"),
];

/// Which dataset, and what it needs.
pub(super) fn dataset(ui: &mut Ui, options: &mut RunOptions, commands: &mut Vec<Command>) {
    let current = KINDS
        .iter()
        .position(|(prefix, ..)| options.dataset.starts_with(prefix));
    row(ui, "dataset", "Where the samples come from", |ui, label| {
        let name = current.map_or("?", |k| KINDS[k].1);
        let combo = ComboBox::from_id_salt("dataset")
            .selected_text(name)
            .width(140.0);
        let response = combo.show_ui(ui, |ui| {
            for (k, (_, name, spec)) in KINDS.iter().enumerate() {
                if ui.selectable_label(current == Some(k), *name).clicked() && current != Some(k) {
                    *options = example(spec, options);
                }
            }
        });
        response.response.labelled_by(label);
    });
    details(ui, options, commands);
}

/// What follows the colon.
fn details(ui: &mut Ui, options: &mut RunOptions, commands: &mut Vec<Command>) {
    if matches!(options.dataset.as_str(), "synthetic" | "stream") {
        options.dataset.push(':');
    }
    let Some((prefix, rest)) = options.dataset.split_once(':') else {
        return;
    };
    let (prefix, mut rest) = (prefix.to_owned(), rest.to_owned());
    let (name, example) = match prefix.as_str() {
        "folder" => ("folder", "/path/to/pictures"),
        "tokens" => ("file", "/path/to/tokens.bin,block=1024"),
        "stream" => ("costs", "len=24,cost_ms=50,shard=true"),
        _ => ("costs", "len=24,cost_ms=50,slow=4:1000"),
    };
    let mut label = None;
    ui.horizontal(|ui| {
        label = Some(ui.label(RichText::new(name).font(mono(size::BODY))).id);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if prefix == "folder" && ui.button("Choose…").clicked() {
                commands.push(Action::ChooseFolder.into());
            }
        });
    });
    let edit = TextEdit::singleline(&mut rest)
        .hint_text(example)
        .font(mono(size::SMALL));
    let edit = ui.add_sized(egui::vec2(ui.available_width(), 24.0), edit);
    if let Some(label) = label {
        edit.labelled_by(label);
    }
    let effect = match prefix.as_str() {
        "folder" => "One subfolder a class, as torchvision's ImageFolder; a flat folder works, too",
        "tokens" => {
            "16-bit numbers; a sample is a window of block of them. Keys: block, stride, dtype"
        }
        "stream" => {
            "An IterableDataset. shard=false: every worker yields everything; shards=3/8/5: so many each; and the keys of synthetic"
        }
        _ => {
            "Keys: len, cost_ms, slow=index:ms, every=n:ms, jitter, tail=share:times, fail, panic, cpu, seed, shape"
        }
    };
    hint(ui, effect);
    options.dataset = format!("{prefix}:{rest}");
    if prefix == "folder" {
        ui.add_space(space::GAP);
        row(
            ui,
            "image_size",
            "Pictures are resized to this many pixels square",
            |ui, label| {
                number(ui, label, &mut options.image_size);
            },
        );
    }
}

/// Time and faults on purpose. The synthetic datasets have their own.
pub(super) fn faults(ui: &mut Ui, o: &mut RunOptions) {
    if o.dataset.starts_with("synthetic") || o.is_stream() {
        o.extra_cost.clear();
        return;
    }
    ui.add_space(space::GAP);
    let label = ui.label(RichText::new("extra_cost").font(mono(size::BODY)));
    let edit = TextEdit::singleline(&mut o.extra_cost)
        .hint_text("none")
        .font(mono(size::SMALL));
    ui.add_sized(egui::vec2(ui.available_width(), 24.0), edit)
        .labelled_by(label.id);
    hint(
        ui,
        "Slows samples down on purpose: cost_ms, slow=index:ms, every=n:ms, jitter, tail=share:times, fail, panic, cpu",
    );
}

/// What one would run first with a kind of dataset: the demo's slowness is not the user's, and one slow sample is seen best
/// in batches of one.
fn example(spec: &str, old: &RunOptions) -> RunOptions {
    let mut new = RunOptions {
        dataset: spec.to_owned(),
        extra_cost: String::new(),
        ..old.clone()
    };
    if spec.starts_with("digits") {
        new = loadscope_model::prefs::demo();
    } else if spec.starts_with("synthetic") || spec.starts_with("stream") {
        new.sampler.clear();
        new.batch_size = Some(1);
        new.shuffle = false;
        new.num_workers = 2;
        new.prefetch_factor = None;
        new.step_ms = 20.0;
    }
    new
}
