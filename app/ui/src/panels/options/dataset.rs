//! Dataset options.

use egui::{self, Align, ComboBox, Layout, RichText, TextEdit, Ui};
use loadscope_trace::{Argument, RunOptions};
use loadscope_words::{Text, say, text};

use super::costs;
use super::row::{Form, mark_row, number, row};
use crate::kit::dropdown;
use crate::kit::empty::hint;
use crate::theme::{mono, size, space};
use loadscope_model::command::{Action, Command};
use loadscope_model::effect::Effect;

/// Kind of dataset.
struct Kind {
    /// Prefix of the specification.
    prefix: &'static str,
    name: Text,
    /// Initial specification.
    first: &'static str,
    /// Label of the text after the colon.
    label: Text,
    /// Example of that text.
    example: &'static str,
    /// Description with the available keys.
    hint: Text,
    /// Dialog that chooses the path, if any.
    dialog: Option<Dialog>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Dialog {
    Folder,
    File,
}

const KINDS: [Kind; 20] = [
    Kind {
        prefix: "digits",
        name: text!("Digits"),
        first: "digits",
        label: Text::same(""),
        example: "",
        hint: Text::same(""),
        dialog: None,
    },
    Kind {
        prefix: "folder:",
        name: text!("Image folder"),
        first: "folder:",
        label: text!("folder"),
        example: "/path/to/pictures",
        hint: text!(
            "Like torchvision's ImageFolder: one subfolder per class. A flat folder works, too."
        ),
        dialog: Some(Dialog::Folder),
    },
    Kind {
        prefix: "voc:",
        name: Text::same("PASCAL VOC"),
        first: "voc:",
        label: text!("folder"),
        example: "/data/VOCdevkit,year=2012,set=train",
        hint: text!(
            "Like torchvision's VOCDetection: images and XML. Keys: set, year, task=segmentation, classes=a;b, size=square."
        ),
        dialog: Some(Dialog::Folder),
    },
    Kind {
        prefix: "coco:",
        name: Text::same("COCO"),
        first: "coco:",
        label: text!("images, annotations"),
        example: "/data/train2017,/data/instances.json",
        hint: text!(
            "Like torchvision's CocoDetection: a folder and a JSON file. Keys: task=captions, masks=false, size=square."
        ),
        dialog: None,
    },
    Kind {
        prefix: "sql:",
        name: text!("SQL database"),
        first: "sql:sqlite:",
        label: text!("database, query"),
        example: "sqlite:/data/a.db,query=\"SELECT a, b FROM t\",index=id",
        hint: text!(
            "sqlite:FILE or postgresql://user@host/database (password in PGPASSWORD). Keys: query, index, image, text, label.",
        ),
        dialog: None,
    },
    Kind {
        prefix: "csv:",
        name: text!("CSV table"),
        first: "csv:",
        label: text!("file"),
        example: "/data/table.csv,columns=a;b",
        hint: text!("Like pandas.read_csv. Keys: sep=tab, columns=a;b, image=COLUMN."),
        dialog: Some(Dialog::File),
    },
    Kind {
        prefix: "parquet:",
        name: text!("Parquet table"),
        first: "parquet:",
        label: text!("files"),
        example: "/data/train-*.parquet,columns=a;b",
        hint: text!(
            "Like pyarrow.parquet: a file, folder or pattern. Keys: columns=a;b, image=COLUMN."
        ),
        dialog: Some(Dialog::File),
    },
    Kind {
        prefix: "arrow:",
        name: text!("Hugging Face dataset"),
        first: "arrow:",
        label: text!("folder"),
        example: "/data/saved,split=train",
        hint: text!("Like datasets.load_from_disk. Keys: split, columns=a;b, image=COLUMN."),
        dialog: Some(Dialog::Folder),
    },
    Kind {
        prefix: "jsonl:",
        name: text!("JSON lines"),
        first: "jsonl:",
        label: text!("file"),
        example: "/data/train.jsonl",
        hint: text!("One JSON value per line. Keys: columns=a;b, image=COLUMN."),
        dialog: Some(Dialog::File),
    },
    Kind {
        prefix: "npy:",
        name: text!("NumPy array"),
        first: "npy:",
        label: text!("file"),
        example: "/data/x.npy,window=128",
        hint: text!("Entries or windows of the first axis, memory-mapped. Keys: window, stride."),
        dialog: Some(Dialog::File),
    },
    Kind {
        prefix: "npz:",
        name: text!("NumPy archive"),
        first: "npz:",
        label: text!("file"),
        example: "/data/train.npz,keys=x;y",
        hint: text!("Entries of the first axis of each array. Keys: keys=x;y."),
        dialog: Some(Dialog::File),
    },
    Kind {
        prefix: "safetensors:",
        name: Text::same("Safetensors"),
        first: "safetensors:",
        label: text!("file"),
        example: "/data/train.safetensors,keys=x;y",
        hint: text!("Entries of the first axis of each tensor, memory-mapped. Keys: keys=x;y."),
        dialog: Some(Dialog::File),
    },
    Kind {
        prefix: "webdataset:",
        name: Text::same("WebDataset"),
        first: "webdataset:",
        label: text!("shards"),
        example: "/data/train-{000..127}.tar,shuffle=1000",
        hint: text!(
            "Iterable-style: each worker reads its own shards. Keys: fields=jpg;cls, shuffle, shuffle_shards=true."
        ),
        dialog: Some(Dialog::File),
    },
    Kind {
        prefix: "tar:",
        name: text!("tar archive"),
        first: "tar:",
        label: text!("file"),
        example: "/data/train.tar,fields=jpg;cls",
        hint: text!(
            "Iterable-style: files with the same key form a sample. Keys: fields=jpg;cls, shuffle."
        ),
        dialog: Some(Dialog::File),
    },
    Kind {
        prefix: "lmdb:",
        name: Text::same("LMDB"),
        first: "lmdb:",
        label: text!("folder"),
        example: "/data/train.lmdb,decode=auto",
        hint: text!("Bytes by key. Option: decode=picture, npy, text or bytes."),
        dialog: Some(Dialog::Folder),
    },
    Kind {
        prefix: "audio:",
        name: text!("Audio folder"),
        first: "audio:",
        label: text!("folder"),
        example: "/data/sounds",
        hint: text!(
            "Like soundfile.read: WAV, FLAC and OGG, padded to the longest. Subfolders are classes."
        ),
        dialog: Some(Dialog::Folder),
    },
    Kind {
        prefix: "text:",
        name: text!("Lines of text"),
        first: "text:",
        label: text!("file"),
        example: "/data/train.txt,vocab=/data/vocab.txt",
        hint: text!("Word ids of unequal length, or plain lines without vocab. Keys: vocab."),
        dialog: Some(Dialog::File),
    },
    Kind {
        prefix: "tokens:",
        name: text!("Token file"),
        first: "tokens:",
        label: text!("file"),
        example: "/path/to/tokens.bin,block=1024",
        hint: text!(
            "16-bit integers. A sample is a window of `block` of them. Keys: block, stride, dtype."
        ),
        dialog: Some(Dialog::File),
    },
    Kind {
        prefix: "synthetic",
        name: text!("Synthetic"),
        first: "synthetic:len=24,cost_ms=50,slow=4:1000",
        label: text!("costs"),
        example: "len=24,cost_ms=50,slow=4:1000",
        hint: text!(
            "Keys: len, cost_ms, slow=index:ms, every=n:ms, jitter, tail=share:times, fail, panic, cpu, seed, shape"
        ),
        dialog: None,
    },
    Kind {
        prefix: "stream",
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

/// Shows the kind of dataset and its details.
pub(super) fn dataset(
    ui: &mut Ui,
    form: &mut Form<'_>,
    options: &mut RunOptions,
    commands: &mut Vec<Command>,
) {
    let current = KINDS
        .iter()
        .position(|kind| options.dataset.starts_with(kind.prefix));
    row(
        ui,
        form,
        Argument::Dataset,
        say!("Source of the samples"),
        |ui, label| {
            let name = current
                .and_then(|at| KINDS.get(at))
                .map_or("?", |kind| kind.name.say());
            let combo = ComboBox::from_id_salt("dataset")
                .selected_text(name)
                .height(f32::INFINITY)
                .width(dropdown::width(ui, 170.0))
                .truncate();
            let response = dropdown::show(ui, combo, |ui| {
                for (at, kind) in KINDS.iter().enumerate() {
                    let is_current = current == Some(at);
                    if dropdown::entry(ui, is_current, kind.name.say()) && !is_current {
                        *options = example(kind.first, options);
                    }
                }
            });
            response.labelled_by(label);
        },
    );
    if let Some(kind) = current.and_then(|at| KINDS.get(at)) {
        details(ui, form, kind, options, commands);
    }
}

/// Shows the text after the colon.
fn details(
    ui: &mut Ui,
    form: &mut Form<'_>,
    kind: &Kind,
    options: &mut RunOptions,
    commands: &mut Vec<Command>,
) {
    let is_made_up = matches!(kind.prefix, "synthetic" | "stream");
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
                commands.push(match kind.prefix {
                    "folder:" => Action::ChooseFolder.into(),
                    prefix => Command::Perform(Effect::AskData {
                        word: prefix.trim_end_matches(':'),
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
