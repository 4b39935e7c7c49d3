//! Options of the sample order and the batches.

use egui::{self, ComboBox, RichText, TextEdit, Ui};
use loadscope_trace::{Argument, RunOptions};
use loadscope_words::{Text, say, text};

use super::row::{Form, number, row};
use crate::kit::dropdown;
use crate::kit::empty::hint;
use crate::theme::{mono, size, space};

/// Kind of sampler: its prefix or specification, name, effect, and an example of the file or column it needs.
struct Kind {
    prefix: &'static str,
    name: Text,
    effect: Text,
    file: Option<&'static str>,
}

const KINDS: [Kind; 11] = [
    Kind {
        prefix: "",
        name: text!("by shuffle"),
        effect: text!("In order, or reshuffled in every epoch with shuffle=True"),
        file: None,
    },
    Kind {
        prefix: "sequential",
        name: Text::same("Sequential"),
        effect: text!("In dataset order"),
        file: None,
    },
    Kind {
        prefix: "random",
        name: Text::same("Random"),
        effect: text!("Random, num_samples draws per epoch"),
        file: None,
    },
    Kind {
        prefix: "subset",
        name: Text::same("SubsetRandom"),
        effect: text!("Only these indices, in random order"),
        file: Some("indices.txt"),
    },
    Kind {
        prefix: "weighted",
        name: Text::same("WeightedRandom"),
        effect: text!("Random, by these weights, split across ranks"),
        file: Some("weights.txt"),
    },
    Kind {
        prefix: "weighted:balanced",
        name: text!("WeightedRandom, balanced"),
        effect: text!("Random, with all classes equally often"),
        file: None,
    },
    Kind {
        prefix: "distributed",
        name: Text::same("Distributed"),
        effect: text!("Random order, split across ranks"),
        file: None,
    },
    Kind {
        prefix: "equi",
        name: Text::same("DistributedEquiBatch"),
        effect: text!("Batches with equally many samples of each label"),
        file: Some("labels.txt"),
    },
    Kind {
        prefix: "equi:labels",
        name: text!("DistributedEquiBatch, labels"),
        effect: text!("Batches with equally many samples of each class of the dataset"),
        file: None,
    },
    Kind {
        prefix: "group",
        name: Text::same("DistinctGroupBatch"),
        effect: text!("Batches whose samples all differ in one column"),
        file: Some("label"),
    },
    Kind {
        prefix: "bucket:len",
        name: Text::same("LengthBucketBatch"),
        effect: text!("Batches of samples of similar length, in random order"),
        file: None,
    },
];

/// Shows the batch size.
pub(super) fn batch_size(ui: &mut Ui, form: &mut Form<'_>, o: &mut RunOptions) {
    let effect = say!("Samples per batch (default 1). None: no batching.");
    row(ui, form, Argument::BatchSize, effect, |ui, label| {
        let mut none = o.batch_size.is_none();
        let mut size = o.batch_size.unwrap_or(1);
        if !none {
            number(ui, label, &mut size);
        }
        ui.checkbox(&mut none, "None");
        o.batch_size = (!none).then_some(size);
    });
}

/// Shows the sampler and its file or column.
pub(super) fn sampler(ui: &mut Ui, form: &mut Form<'_>, o: &mut RunOptions) {
    let (prefix, path) = match o.sampler.split_once(':') {
        Some((prefix, path)) => (prefix.to_owned(), path.to_owned()),
        None => (o.sampler.clone(), String::new()),
    };
    let is = |text: &str| KINDS.iter().position(|kind| kind.prefix == text);
    let current = is(&o.sampler).or_else(|| is(&prefix));
    let effect = current.map_or(say!("Unknown sampler"), |k| KINDS[k].effect.say());
    row(ui, form, Argument::Sampler, effect, |ui, label| {
        let name = current.map_or("?", |k| KINDS[k].name.say());
        let combo = ComboBox::from_id_salt("sampler")
            .selected_text(name)
            .width(dropdown::width(ui, 140.0))
            .truncate();
        let response = dropdown::show(ui, combo, |ui| {
            for (k, kind) in KINDS.iter().enumerate() {
                if dropdown::entry(ui, current == Some(k), kind.name.say()) {
                    choose(o, kind);
                }
            }
        });
        response.labelled_by(label);
    });
    if let Some(example) = current.and_then(|k| KINDS[k].file) {
        file(ui, o, &prefix, path, example);
    }
}

fn choose(o: &mut RunOptions, kind: &Kind) {
    o.sampler = kind.prefix.to_owned();
    if kind.file.is_some() {
        o.sampler.push(':');
    }
    o.replacement = kind.prefix.starts_with("weighted");
    o.num_samples = None;
    // Splitting needs at least two ranks.
    if kind.prefix == "distributed" {
        o.world_size = o.world_size.max(2);
    }
}

/// Shows the file of indices, weights or labels, or the column of groups.
fn file(ui: &mut Ui, o: &mut RunOptions, prefix: &str, mut path: String, example: &str) {
    let is_column = prefix == "group";
    let name = if is_column {
        say!("column")
    } else {
        say!("file")
    };
    let label = ui.label(RichText::new(name).font(mono(size::BODY)));
    let edit = TextEdit::singleline(&mut path)
        .hint_text(if is_column {
            example.to_owned()
        } else {
            format!("/path/to/{example}")
        })
        .font(mono(size::SMALL));
    ui.add_sized(egui::vec2(ui.available_width(), 24.0), edit)
        .labelled_by(label.id);
    hint(
        ui,
        match prefix {
            "equi" => say!("One line of labels per sample, or JSON: {{\"label\": [indices]}}"),
            "group" => say!("A column of the table, or label for the classes of the dataset"),
            _ => say!("Numbers separated by spaces, commas or newlines, or a JSON list"),
        },
    );
    ui.add_space(space::GAP);
    o.sampler = format!("{prefix}:{path}");
}

/// Shows the number of draws.
pub(super) fn num_samples(ui: &mut Ui, form: &mut Form<'_>, o: &mut RunOptions) {
    let effect = say!("Samples drawn per epoch (default: size of the dataset)");
    row(ui, form, Argument::NumSamples, effect, |ui, label| {
        let mut given = o.num_samples.is_some();
        let mut count = o.num_samples.unwrap_or(100);
        if given {
            number(ui, label, &mut count);
        }
        ui.checkbox(&mut given, say!("given"));
        o.num_samples = given.then_some(count);
    });
}
