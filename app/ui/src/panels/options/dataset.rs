//! Dataset options.

use egui::{self, Align, ComboBox, Layout, RichText, TextEdit, Ui};
use loadscope_plan::dataset::{DataSpec, DatasetForm, Dialog};
use loadscope_trace::{Argument, RunOptions};
use loadscope_words::{Text, say, text};

use super::costs;
use super::row::{Form, mark_row, number, row};
use crate::kit::dropdown;
use crate::kit::empty::hint;
use crate::theme::{mono, size, space};
use loadscope_model::command::{Action, Command};
use loadscope_model::effect::Effect;

/// Kinds before and after the data formats.
const BEFORE: [DatasetForm; 2] = [
    DatasetForm {
        name: text!("Digits"),
        first: "digits",
        label: Text::same(""),
        example: "",
        hint: Text::same(""),
        dialog: None,
    },
    DatasetForm {
        name: text!("Image folder"),
        first: "folder:",
        label: text!("folder"),
        example: "/path/to/pictures",
        hint: text!(
            "Like torchvision's ImageFolder: one subfolder per class. A flat folder works, too."
        ),
        dialog: Some(Dialog::Folder),
    },
];
const AFTER: [DatasetForm; 3] = [
    DatasetForm {
        name: text!("Token file"),
        first: "tokens:",
        label: text!("file"),
        example: "/path/to/tokens.bin,block=1024",
        hint: text!(
            "16-bit integers. A sample is a window of `block` of them. Keys: block, stride, dtype."
        ),
        dialog: Some(Dialog::File),
    },
    DatasetForm {
        name: text!("Synthetic"),
        first: "synthetic:len=24,cost_ms=50,slow=4:1000",
        label: text!("costs"),
        example: "len=24,cost_ms=50,slow=4:1000",
        hint: text!(
            "Keys: len, cost_ms, slow=index:ms, every=n:ms, jitter, tail=share:times, fail, panic, cpu, seed, shape"
        ),
        dialog: None,
    },
    DatasetForm {
        name: text!("Synthetic iterable"),
        first: "stream:len=24,cost_ms=50,shard=true",
        label: text!("costs"),
        example: "len=24,cost_ms=50,shard=true",
        hint: text!(
            "An IterableDataset. shard=false: each worker yields all samples. shards=3/8/5: samples per worker. Other keys as in Synthetic."
        ),
        dialog: None,
    },
];

/// Returns the kinds of datasets in the order of the list.
fn kinds() -> impl Iterator<Item = DatasetForm> {
    let formats = DataSpec::FORMATS.iter().map(|format| format.form);
    BEFORE.into_iter().chain(formats).chain(AFTER)
}

/// Shows the kind of dataset and its details.
pub(super) fn dataset(
    ui: &mut Ui,
    form: &mut Form<'_>,
    options: &mut RunOptions,
    commands: &mut Vec<Command>,
) {
    let word = options.dataset.split(':').next();
    let current = kinds().find(|kind| Some(kind.word()) == word);
    row(
        ui,
        form,
        Argument::Dataset,
        say!("Source of the samples"),
        |ui, label| {
            let name = current.map_or("?", |kind| kind.name.say());
            let combo = ComboBox::from_id_salt("dataset")
                .selected_text(name)
                .height(f32::INFINITY)
                .width(dropdown::width(ui, 170.0))
                .truncate();
            let response = dropdown::show(ui, combo, |ui| {
                for kind in kinds() {
                    let is_current = current.is_some_and(|current| current.word() == kind.word());
                    if dropdown::entry(ui, is_current, kind.name.say()) && !is_current {
                        *options = example(kind.first, options);
                    }
                }
            });
            response.labelled_by(label);
        },
    );
    if let Some(kind) = current {
        details(ui, form, &kind, options, commands);
    }
}

/// Shows the text after the colon.
fn details(
    ui: &mut Ui,
    form: &mut Form<'_>,
    kind: &DatasetForm,
    options: &mut RunOptions,
    commands: &mut Vec<Command>,
) {
    let is_made_up = matches!(kind.word(), "synthetic" | "stream");
    if is_made_up && costs::of_dataset(ui, options) {
        return;
    }
    let Some((prefix, rest)) = options.dataset.split_once(':') else {
        return;
    };
    let (prefix, mut rest) = (prefix.to_owned(), rest.to_owned());
    let mut label = None;
    ui.horizontal(|ui| {
        label = Some(
            ui.label(RichText::new(kind.label.say()).font(mono(size::BODY)))
                .id,
        );
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let Some(dialog) = kind.dialog else {
                return;
            };
            if ui.button(say!("Choose…")).clicked() {
                commands.push(match kind.word() {
                    "folder" => Action::ChooseFolder.into(),
                    word => Command::Perform(Effect::AskData {
                        word,
                        is_folder: dialog == Dialog::Folder,
                    }),
                });
            }
        });
    });
    let edit = TextEdit::singleline(&mut rest)
        .hint_text(kind.example)
        .font(mono(size::SMALL));
    let edit = ui.add_sized(egui::vec2(ui.available_width(), 24.0), edit);
    if let Some(label) = label {
        edit.labelled_by(label);
    }
    hint(ui, kind.hint.say());
    options.dataset = format!("{prefix}:{rest}");
    if Argument::ImageSize.has_row(options) {
        ui.add_space(space::GAP);
        row(
            ui,
            form,
            Argument::ImageSize,
            say!(
                "Resizes images to a square of this many pixels. Annotated images also need size=square."
            ),
            |ui, label| {
                number(ui, label, &mut options.image_size);
            },
        );
    }
}

/// Shows added costs and faults. Synthetic datasets have their own.
pub(super) fn faults(ui: &mut Ui, form: &mut Form<'_>, o: &mut RunOptions) {
    if !Argument::ExtraCost.has_row(o) {
        return;
    }
    ui.add_space(space::GAP);
    let top = ui.cursor().min;
    ui.horizontal(|ui| {
        form.name(ui, Argument::ExtraCost);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            form.reset(ui, Argument::ExtraCost);
        });
    });
    form.problem(ui, Argument::ExtraCost);
    costs::extra(ui, o);
    mark_row(ui, Argument::ExtraCost, top);
}

/// Returns initial options for a kind of dataset. The demo's costs are removed, and synthetic datasets use batches of one, where a slow
/// sample is most visible.
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
