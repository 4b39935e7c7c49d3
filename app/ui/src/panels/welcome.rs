//! Start page: the main actions and the recent files.

use std::path::Path;

use egui::{self, Align, Layout, RichText, Role, Sense, Ui, WidgetInfo, vec2};

use loadscope_trace::{Level, bytes, percent, plural};
use loadscope_words::say;

use crate::kit::empty::{empty_line, remark};
use crate::kit::strip;
use crate::kit::titles::title;
use crate::theme::{Palette, heading, mono, sans, size, space};
use loadscope_insight::format::ago;
use loadscope_model::command::{Action, Command};
use loadscope_model::effect::Effect;
use loadscope_model::state::{Source, State};
use loadscope_model::thumbnail::Thumbnail;
use loadscope_model::update::WATCH;

/// Maximum number of recent files listed.
const RECENT: usize = 8;

/// Size of the thumbnail of a recording, points.
const THUMBNAIL: egui::Vec2 = vec2(96.0, 14.0);

/// Width of the column in the middle, points.
const WIDTH: f32 = 560.0;

/// Shows the start page.
pub fn show(ui: &mut Ui, state: &State) -> Vec<Command> {
    let mut commands = Vec::new();
    let rows = state.prefs.recent.len().min(RECENT) + state.place.unsaved_runs.len();
    let height = 476.0 + 28.0 * rows as f32;
    // A long list of runs may not fit, so the page scrolls.
    let above = ((ui.available_height() - height) / 2.5).max(space::GROUP);
    let all = egui::ScrollArea::vertical().auto_shrink([false, false]);
    all.show(ui, |ui| column(ui, state, above, &mut commands));
    commands
}

fn column(ui: &mut Ui, state: &State, above: f32, commands: &mut Vec<Command>) {
    let palette = Palette::of(ui);
    ui.vertical_centered(|ui| {
        ui.add_space(above);
        ui.set_max_width(WIDTH.min(ui.available_width() - 2.0 * space::MARGIN));
        ui.with_layout(Layout::top_down(Align::Min), |ui| {
            ui.label(
                RichText::new("Loadscope")
                    .font(heading(size::TITLE))
                    .color(palette.strong),
            );
            ui.label(
                RichText::new(say!("Find out why training waits for data")).color(palette.weak),
            );
            ui.add_space(space::GROUP);
            if let Source::Loading { path, share } = &state.session.source {
                loading(ui, path, *share, commands);
                return;
            }
            if state.session.source == Source::Simulating {
                ui.label(say!("Simulating the run"));
                let cancel = ui
                    .button(say!("Cancel"))
                    .on_hover_text(say!("Cancels, back to the start page"));
                commands.extend(cancel.clicked().then_some(Action::Close.into()));
                return;
            }
            unsaved_runs(ui, state, commands);
            choices(ui, state, commands);
            recent(ui, state, commands);
        });
    });
}

fn choices(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    let mut choice = |ui: &mut Ui, action: Action, text: &str| {
        let info = action.info();
        let keys = info.keys(ui.ctx());
        if card(ui, info.name, text, &keys) {
            commands.push(action.into());
        }
        ui.add_space(space::GAP * 2.0);
    };
    choice(
        ui,
        Action::RunDemo,
        say!("Watch 4 workers load 1,797 handwritten digits"),
    );
    choice(
        ui,
        Action::Learn,
        say!("14 five-minute lessons, in English or 中文"),
    );
    // A web page cannot access folders or programs.
    if state.place.in_page {
        choice(
            ui,
            Action::Open,
            say!("A recording (.jsonl, .jsonl.zst). You can also drop it here."),
        );
        return;
    }
    choice(
        ui,
        Action::ChooseFolder,
        say!("Your own JPEG and PNG images, one subfolder per class"),
    );
    choice(
        ui,
        Action::Open,
        say!(
            "A recording (.jsonl, .jsonl.zst) or torch.profiler trace. You can also drop it here."
        ),
    );
    choice(
        ui,
        Action::WatchProgram,
        &say!("Your own script, unchanged: {WATCH}"),
    );
}

/// Shows a large button with a title, a line of text and its key.
fn card(ui: &mut Ui, title: &str, text: &str, key: &str) -> bool {
    let palette = Palette::of(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), 60.0), Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, title));
    let visuals = ui.style().interact(&response);
    let active = response.hovered() || response.has_focus();
    let stroke = egui::Stroke::new(1.0, if active { palette.weak } else { palette.line });
    let fill = if active {
        visuals.bg_fill
    } else {
        palette.canvas
    };
    ui.painter()
        .rect(rect, 4.0, fill, stroke, egui::StrokeKind::Inside);
    let left = rect.left() + space::GROUP;
    let painter = ui.painter();
    let at = egui::pos2(left, rect.top() + 20.0);
    painter.text(
        at,
        egui::Align2::LEFT_CENTER,
        title,
        heading(size::BODY),
        palette.strong,
    );
    let at = egui::pos2(left, rect.top() + 41.0);
    let room = rect.width() - 2.0 * space::GROUP;
    let format = egui::TextFormat::simple(sans(size::BODY), palette.weak);
    let mut line = egui::text::LayoutJob::single_section(text.to_owned(), format);
    line.wrap = egui::text::TextWrapping::truncate_at_width(room);
    let line = painter.layout_job(line);
    let at = at - vec2(0.0, line.size().y / 2.0);
    painter.galley(at, line, palette.weak);
    let at = egui::pos2(rect.right() - space::GROUP, rect.top() + 20.0);
    painter.text(
        at,
        egui::Align2::RIGHT_CENTER,
        key,
        mono(size::SMALL),
        palette.weak,
    );
    response.clicked()
}

/// Lists runs that were not saved before their window closed.
fn unsaved_runs(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    if state.place.unsaved_runs.is_empty() {
        return;
    }
    title(ui, say!("Unsaved runs of earlier sessions"));
    for left in &state.place.unsaved_runs {
        ui.horizontal(|ui| {
            let mut name = shortened(&left.dataset);
            if left.workers > 0 {
                name += ", ";
                name += &plural(left.workers as u64, say!(n: "worker"), say!(n: "workers"));
            }
            let link = ui.link(name);
            if link
                .on_hover_text(say!("Opens the run, so you can inspect and save it"))
                .clicked()
            {
                commands.push(Command::Perform(Effect::Open(left.path.clone())));
            }
            let now = state.place.platform.clock.since_1970();
            let age = now.saturating_sub(left.until);
            let what = format!("{}, {}", ago(age), bytes(left.bytes as f64));
            ui.label(RichText::new(what).font(sans(size::SMALL)).weak());
            let discard = ui.small_button(say!("Discard"));
            if discard
                .on_hover_text(say!("Deletes the run permanently"))
                .clicked()
            {
                commands.push(Command::Perform(Effect::RemoveUnsavedRun(
                    left.path.clone(),
                )));
            }
        });
    }
    ui.add_space(space::GAP * 2.0);
}

/// Truncates a name, so that its line has room for the rest.
fn shortened(name: &str) -> String {
    match name.char_indices().nth(36) {
        Some((at, _)) => format!("{}…", &name[..at]),
        None => name.to_owned(),
    }
}

fn recent(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    if state.prefs.recent.is_empty() {
        return;
    }
    ui.add_space(space::GAP * 2.0);
    title(ui, say!("Recent"));
    let shown = state.prefs.recent.iter().take(RECENT);
    // The names stay aligned even if only some files have thumbnails.
    let has_thumbnails = shown
        .clone()
        .any(|path| state.prefs.sketches.get(path).is_some());
    for path in shown {
        let name = path
            .file_name()
            .unwrap_or(path.as_os_str())
            .to_string_lossy();
        ui.horizontal(|ui| {
            if has_thumbnails {
                paint_thumbnail(ui, state.prefs.sketches.get(path));
            }
            if ui.link(name).clicked() {
                commands.push(Command::Perform(Effect::Open(path.clone())));
            }
            if let Some(thumbnail) = state.prefs.sketches.get(path) {
                let (length, share) = (thumbnail.length, percent(thumbnail.share));
                let about = say!("{length} · waits {share}");
                ui.label(RichText::new(about).font(sans(size::SMALL)));
            }
            let folder = path.parent().unwrap_or(Path::new("")).display().to_string();
            let folder = RichText::new(folder).font(sans(size::SMALL)).weak();
            ui.add(egui::Label::new(folder).truncate());
        });
    }
}

/// Paints a thumbnail of the trainer's activity in a recording, if known.
fn paint_thumbnail(ui: &mut Ui, thumbnail: Option<&Thumbnail>) {
    let (rect, response) = ui.allocate_exact_size(THUMBNAIL, Sense::hover());
    let Some(thumbnail) = thumbnail else {
        return;
    };
    strip::paint(ui, rect, &thumbnail.parts());
    let workers = plural(
        thumbnail.workers as u64,
        say!(n: "worker"),
        say!(n: "workers"),
    );
    let tip = say!("{workers}. Trainer from start to end: training in green, waiting in red.");
    response.on_hover_text(tip);
}

fn loading(ui: &mut Ui, path: &Path, share: f32, commands: &mut Vec<Command>) {
    let name = path
        .file_name()
        .unwrap_or(path.as_os_str())
        .to_string_lossy();
    let palette = Palette::of(ui);
    ui.horizontal(|ui| {
        ui.label(say!("Opening {name}"));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let so_far = percent(f64::from(share));
            ui.label(
                RichText::new(so_far)
                    .font(mono(size::BODY))
                    .color(palette.weak),
            );
        });
    });
    progress(ui, share);
    ui.add_space(space::GAP);
    let cancel = ui
        .button(say!("Cancel"))
        .on_hover_text(say!("Stops reading the file"));
    commands.extend(cancel.clicked().then_some(Action::Close.into()));
}

/// Shows the reading progress above the part of a large recording that is already read.
pub fn reading(ui: &mut Ui, state: &State) -> Vec<Command> {
    let mut commands = Vec::new();
    let Source::Loading { path, share } = &state.session.source else {
        return commands;
    };
    let name = path.file_name().unwrap_or(path.as_os_str());
    let name = name.to_string_lossy();
    let palette = Palette::of(ui);
    let so_far = percent(f64::from(*share));
    ui.horizontal(|ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let cancel = ui
                .button(say!("Cancel"))
                .on_hover_text(say!("Stops reading the file"));
            commands.extend(cancel.clicked().then_some(Action::Close.into()));
            ui.label(
                RichText::new(so_far)
                    .font(mono(size::BODY))
                    .color(palette.weak),
            );
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                let text = RichText::new(say!("Still reading {name}")).color(palette.strong);
                ui.add(egui::Label::new(text).truncate())
                    .on_hover_text(say!("Shows the part read so far"));
            });
        });
    });
    progress(ui, *share);
    commands
}

/// Shows a thin progress bar over the available width.
fn progress(ui: &mut Ui, share: f32) {
    let fill = Palette::of(ui).text;
    ui.scope(|ui| {
        // The remaining part must be visible, too.
        ui.visuals_mut().extreme_bg_color = Palette::of(ui).line;
        ui.add(
            egui::ProgressBar::new(share)
                .desired_width(ui.available_width())
                .desired_height(6.0)
                .fill(fill),
        );
    });
}

/// Replaces the pipeline while a run has no batches.
pub fn nothing_yet(ui: &mut Ui, state: &State) {
    let text = match &state.session.source {
        Source::Recording { .. } => say!("This recording contains no batches"),
        Source::Live { paused: true } => {
            say!("Paused before the first step: → steps, Space continues")
        }
        Source::Live { paused: false } => say!("The loader is starting"),
        _ => say!("No batches loaded"),
    };
    let room = ui.available_rect_before_wrap();
    empty_line(ui, room, text);
}

/// Shows the notes of a run without batches above its timeline.
pub fn only_gauges(ui: &mut Ui, state: &State) {
    ui.add_space(space::GAP / 2.0);
    // Notes about the whole run are at its end. Earlier messages are events logged by SPDL.
    let run = &state.session.run;
    let notes = run.messages().iter().filter(|(at, _)| *at >= run.end());
    let mut notes = notes.map(|(_, m)| m).filter(|m| m.level == Level::Info);
    let (first, rest) = (notes.next(), notes);
    if let Some(first) = first {
        title(ui, &first.text);
    }
    for note in rest.take(4) {
        remark(ui, &note.text);
    }
    ui.add_space(space::GAP / 2.0);
}
