//! Contents of a batch: its images, and its fields in a tree of containers.

use egui::{CollapsingHeader, RichText, Ui};
use loadscope_trace::{BatchContent, Field, FieldData, Nanos, PathStep, Run, RunInfo, Stage};
use loadscope_words::say;

use super::annotated::{self, AnnotatedCache};
use super::pictures::{Captions, FieldImages, PictureCache};
use super::samples::copy_button;
use super::tree::Node;
use super::waves::WavesCache;
use super::{columns, enlarged, sequences, tensor};
use crate::kit::empty::remark;
use crate::kit::titles::{section, section_with};
use crate::theme::{Palette, mono, size, space};
use loadscope_insight::content::path::Slot;
use loadscope_insight::content::{Views, views};
use loadscope_insight::format;
use loadscope_model::clipboard;
use loadscope_model::command::{Action, Command};
use loadscope_model::effect::Effect;
use loadscope_model::state::State;

/// Maximum number of fields shown. The engine records fewer, but other programs may record more.
const FIELDS: usize = 512;
/// Containers with more leaves are folded at first.
const UNFOLDED: usize = 16;

/// Textures and interpretation of the displayed batch.
#[derive(Debug, Default)]
pub struct ContentCache {
    pictures: PictureCache,
    annotated: AnnotatedCache,
    waves: WavesCache,
    /// Row of the batch, address of its fields, and their interpretation.
    views: Option<((usize, usize), Views)>,
}

impl ContentCache {
    /// Interprets the fields and caches the result.
    fn read(&mut self, at: usize, content: &BatchContent, info: &RunInfo) -> Views {
        let key = (at, content.fields.as_ptr() as usize);
        match &self.views {
            Some((of, views)) if *of == key => views.clone(),
            _ => {
                let views = views(content, info);
                self.views = Some((key, views.clone()));
                views
            }
        }
    }
}

/// Shows the recorded contents of the batch at row `at`.
pub fn show(
    ui: &mut Ui,
    cache: &mut ContentCache,
    state: &State,
    at: usize,
    commands: &mut Vec<Command>,
) {
    let run = &state.session.run;
    let Some(content) = collated_content(run, at, state.now()) else {
        section(ui, say!("Content"));
        remark(ui, missing_reason(run, at, state.now()));
        return;
    };
    let captions = captions(run, at, content);
    let views = cache.read(at, content, &run.info);
    if let Some(pictures) = &views.annotated {
        let shown = annotated::AnnotatedImages {
            at,
            content,
            annotated: pictures,
            captions: &captions,
            annotations: state.prefs.annotations,
            enlarged: state.session.enlarged,
        };
        cache.annotated.show(ui, &shown, commands);
    }
    if let Some(table) = &views.table {
        columns::show(ui, table, &run.indices_inside(at));
    }
    for all in &views.sequences {
        sequences::show(ui, content, all);
    }
    for waves in &views.waveforms {
        cache.waves.show(ui, (at, content), waves, &captions);
    }
    let is_shown = |k: usize| views.annotated.as_ref().is_some_and(|a| a.covers(k));
    pictures(
        ui,
        cache,
        (state, at, content),
        (&captions, &is_shown),
        commands,
    );
    fields(ui, &BatchFields { run, at, content }, commands);
}

/// Shows images of equal size without annotations.
fn pictures(
    ui: &mut Ui,
    cache: &mut ContentCache,
    (state, at, content): (&State, usize, &BatchContent),
    (captions, is_shown): (&Captions, &dyn Fn(usize) -> bool),
    commands: &mut Vec<Command>,
) {
    let all = content.fields.iter().enumerate().take(FIELDS);
    for (k, field) in all.filter(|(k, field)| !field.is_derived() && !is_shown(*k)) {
        let FieldData::Pictures(data) = &field.data else {
            continue;
        };
        section(ui, say!("Images"));
        let shown = FieldImages {
            key: (at, k),
            data,
            captions,
        };
        if let Some((_, which)) = state
            .session
            .enlarged
            .filter(|(f, w)| *f == k && *w < data.count())
        {
            let run = &state.session.run;
            enlarged::show(ui, &mut cache.pictures, run, &shown, field, which, commands);
        }
        cache
            .pictures
            .grid(ui, &shown, state.session.enlarged, commands);
    }
}

/// Shows the fields in the tree of their containers.
fn fields(ui: &mut Ui, batch: &BatchFields<'_>, commands: &mut Vec<Command>) {
    let content = batch.content;
    section_with(ui, say!("Fields"), |ui| {
        copy_button(ui, Action::CopyValues, commands)
    });
    if content.fields.is_empty() {
        remark(ui, say!("The batch is empty"));
    }
    // Derived fields exist only for display and are not fields of the batch.
    let leaves = content.fields.iter().enumerate().take(FIELDS);
    let leaves = leaves.filter(|(_, field)| !field.is_derived());
    let root = Node::of(leaves.map(|(k, field)| (k, field.name.as_str())));
    branches(ui, batch, &root, "", commands);
    let left = content.fields.len().saturating_sub(FIELDS) as u64;
    if left > 0 {
        remark(
            ui,
            &say!(
                "and {}",
                format::plural(left, say!(n: "more field"), say!(n: "more fields"))
            ),
        );
    }
}

struct BatchFields<'a> {
    run: &'a Run,
    at: usize,
    content: &'a BatchContent,
}

/// Shows the children of a container. Each has its own id, because a broken recording may repeat a name.
fn branches(
    ui: &mut Ui,
    batch: &BatchFields<'_>,
    node: &Node,
    above: &str,
    commands: &mut Vec<Command>,
) {
    for (k, child) in node.children.iter().enumerate() {
        ui.push_id(k, |ui| branch(ui, batch, child, above, commands));
    }
}

/// Shows a container or a leaf. Both can be folded.
fn branch(
    ui: &mut Ui,
    batch: &BatchFields<'_>,
    node: &Node,
    above: &str,
    commands: &mut Vec<Command>,
) {
    let palette = Palette::of(ui.ctx());
    let path = format!("{above}{}", node.label);
    let field = node
        .field
        .and_then(|k| Some((k, batch.content.fields.get(k)?)));
    let title = match (&field, node.label.as_str()) {
        (Some(_), "") => say!("The batch").to_owned(),
        (Some(_), label) => label.to_owned(),
        (None, label) => {
            let leaves = node.leaves() as u64;
            say!(
                "{label}  {} of {}",
                node.kind(),
                format::plural(leaves, say!(n: "leaf"), say!(n: "leaves"))
            )
        }
    };
    let text = RichText::new(title)
        .font(mono(size::BODY))
        .color(palette.strong);
    ui.spacing_mut().indent = 4.0 * space::GAP;
    // The fold state belongs to the path, not to the batch, so that it persists from batch to batch.
    CollapsingHeader::new(text)
        .id_salt(("field", &path))
        .default_open(node.leaves() <= UNFOLDED)
        .show(ui, |ui| match field {
            Some((k, field)) => leaf(ui, batch, k, field, commands),
            None => branches(ui, batch, node, &path, commands),
        });
}

fn leaf(
    ui: &mut Ui,
    batch: &BatchFields<'_>,
    k: usize,
    field: &Field,
    commands: &mut Vec<Command>,
) {
    let is_pinned = batch.run.is_pinned(batch.at, field);
    tensor::show(ui, field, is_pinned);
    if matches!(field.data, FieldData::Numbers(_) | FieldData::Text(_)) {
        let text = RichText::new(say!("Copy these values")).size(size::SMALL);
        let tip = say!("Copies the values tab-separated, one row per sample");
        if ui.link(text).on_hover_text(tip).clicked() {
            let text = clipboard::field_values(batch.run, batch.at, k);
            commands.extend(text.map(|text| Command::Perform(Effect::Copy(text))));
        }
    }
    ui.add_space(space::GAP);
}

/// Returns the contents of a batch if it was collated by `now`.
pub(super) fn collated_content(run: &Run, at: usize, now: Nanos) -> Option<&BatchContent> {
    run.content(at).filter(|_| is_collated(run, at, now))
}

fn is_collated(run: &Run, at: usize, now: Nanos) -> bool {
    let path = run.path(at);
    let is_later = |step: &PathStep| step.stage > Stage::Collating && step.start <= now;
    path.iter().any(is_later)
}

fn missing_reason(run: &Run, at: usize, now: Nanos) -> &'static str {
    match run.batches().get(at) {
        _ if !is_collated(run, at, now) => {
            say!("The contents are available once the batch is collated")
        }
        Some(b) if b.has_error => say!("No contents, because the batch failed"),
        _ => say!("The contents of this batch were not recorded"),
    }
}

/// Usual names of a column with the class.
const LABELS: [&str; 8] = [
    "label", "labels", "target", "targets", "class", "classes", "category", "y",
];

/// Names of integer columns that are not labels.
const OTHERS: [&str; 9] = [
    "rate",
    "sample_rate",
    "sampling_rate",
    "id",
    "index",
    "idx",
    "image_id",
    "key",
    "row",
];

/// Returns the captions of the images: the class name or label, and the index.
fn captions(run: &Run, at: usize, content: &BatchContent) -> Captions {
    // A label field has one number per sample, and belongs to the batch instead of one sample.
    let is_label = |f: &Field| {
        let slot = Slot::of(&f.name);
        f.shape.len() == 1 && f.dtype.contains("int") && slot.sample.is_none() && !slot.is(&OTHERS)
    };
    let numbers = |is_meant: &dyn Fn(&Field) -> bool| {
        content.fields.iter().find_map(|f| match &f.data {
            FieldData::Numbers(values) if is_label(f) && is_meant(f) => Some(values),
            _ => None,
        })
    };
    let labels = numbers(&|f| Slot::of(&f.name).is(&LABELS)).or_else(|| numbers(&|_| true));
    let name = |label: f64| {
        let known = (label >= 0.0)
            .then(|| run.info.classes.get(label as usize))
            .flatten();
        known.cloned().unwrap_or_else(|| label.to_string())
    };
    Captions {
        names: labels
            .map(|l| l.iter().map(|v| name(*v)).collect())
            .unwrap_or_default(),
        indices: run.indices_inside(at),
    }
}
