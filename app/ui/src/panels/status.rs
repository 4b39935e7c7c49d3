//! Status line: the source of the events, the clock, the last action, dropped events and the frame time.

use egui::{Align, Button, Color32, Label, Layout, RichText, Role, Ui, WidgetInfo};
use loadscope_trace::Level;
use loadscope_words::say;

use crate::kit::action::push_on_click;
use crate::theme::{Palette, mono, sans, size};
use loadscope_insight::landmarks::Goal;
use loadscope_insight::{dataset, format, past_sums};
use loadscope_model::command::{Action, Command};
use loadscope_model::state::{Source, State};
use loadscope_model::view::Cursor;
use loadscope_model::watching::TuneRuns;

/// Maximum width of a dataset name, points.
const DATASET: f32 = 200.0;

/// Maximum width of the line about a measurement, points.
const TRYING: f32 = 320.0;

/// Shows the status line.
pub fn show(ui: &mut Ui, state: &State) -> Vec<Command> {
    let mut commands = Vec::new();
    ui.horizontal_centered(|ui| {
        left(ui, state);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            right(ui, state, &mut commands);
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| middle(ui, state));
        });
    });
    commands
}

fn small(text: impl Into<String>, color: Color32) -> RichText {
    RichText::new(text).font(sans(size::SMALL)).color(color)
}

fn left(ui: &mut Ui, state: &State) {
    let weak = Palette::of(ui).weak;
    ui.label(small(origin(state), weak));
    if let Some(path) = &state.overlay.checking_file {
        ui.separator();
        ui.label(small(say!("Reading {}…", path.display()), weak));
    }
    if let Some(saving) = &state.session.saving {
        ui.separator();
        ui.label(small(say!("Saving to {}…", saving.path.display()), weak));
    }
    if let Some(line) = state.look.trying.as_ref().and_then(TuneRuns::under_way) {
        ui.separator();
        let text = say!("Measuring: {line}");
        ui.scope(|ui| {
            ui.set_max_width(TRYING);
            ui.add(Label::new(small(&text, weak)).truncate());
        });
    }
    if let Some((path, share)) = &state.session.exporting {
        ui.separator();
        let share = format::percent(f64::from(*share));
        let text = say!("Exporting to {}, {share}", path.display());
        ui.label(small(text, weak));
    }
    if !state.has_run() {
        return;
    }
    let info = &state.session.run.info;
    if !info.dataset.is_empty() {
        ui.separator();
        ui.scope(|ui| {
            ui.set_max_width(DATASET);
            let text = say!("Dataset: {}", dataset(info));
            ui.add(Label::new(small(text, weak)).truncate());
        });
    }
    ui.separator();
    // From one hour on, the format is that of the ruler.
    let now = match state.now() {
        now if now.as_secs_f64() >= 3_600.0 => format::clock(now, 6),
        now => say!("{:.3} ms", now.as_millis_f64()),
    };
    let now = RichText::new(say!("t = {now:>12}")).font(mono(size::SMALL));
    ui.label(now.color(weak));
    if let Some(pinning) = &info.pinning {
        ui.separator();
        ui.label(small(say!("pinned: {pinning}"), weak));
    }
}

fn right(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    if !state.has_run() {
        return;
    }
    let palette = Palette::of(ui);
    let run = &state.session.run;
    let digits = |text: String| {
        RichText::new(text)
            .font(mono(size::SMALL))
            .color(palette.weak)
    };
    if state.prefs.numbers {
        ui.label(digits(say!("frame {:4.1} ms", state.look.frame_ms)))
            .on_hover_text(say!("CPU time per frame"));
        ui.separator();
        // With a hidden future, the total number of events would reveal it, and the number so far is unknown.
        if !state.hides_future() {
            ui.label(digits(say!("{} events", format::count(run.events()))));
        }
    }
    if let Some((short, text)) = past_sums::describe_memory(run).filter(|_| is_live(state)) {
        ui.separator();
        ui.label(small(short, palette.weak)).on_hover_text(text);
    }
    if run.dropped() > 0 {
        ui.separator();
        let text = say!("{} events dropped", format::count(run.dropped()));
        ui.label(small(text, palette.stall).strong())
            .on_hover_text(say!(
                "Events were dropped because the loader was faster than the window. To keep them all, record to a file without the window."
            ));
    }
    let (late, odd) = run.anomalies();
    let (errors, warnings) = state.session.landmarks.counts();
    for (count, one, many, color) in [
        (
            late + odd,
            say!("out-of-order event"),
            say!("out-of-order events"),
            palette.stall,
        ),
        (errors as u64, say!("error"), say!("errors"), palette.stall),
        (
            warnings as u64,
            say!("warning"),
            say!("warnings"),
            palette.weak,
        ),
    ] {
        if count == 0 {
            continue;
        }
        ui.separator();
        let text = format::plural(count, one, many);
        let button = Button::new(small(&text, color)).frame(false).small();
        let response = ui.add(button.selected(state.overlay.messages_open));
        response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &text));
        push_on_click(response, Action::ShowMessages, commands);
    }
}

/// Returns true if the run is in memory. For a recording, the report describes what it keeps.
fn is_live(state: &State) -> bool {
    matches!(state.session.source, Source::Live { .. } | Source::Finished)
}

/// Shows the last action or the reason for its failure, or else the last warning in a weak color.
fn middle(ui: &mut Ui, state: &State) {
    let palette = Palette::of(ui);
    let (text, color) = if let Some(hint) = &state.overlay.hint {
        (hint.as_str(), palette.strong)
    } else if let Some(last) = last_warning(state) {
        (last, palette.weak)
    } else {
        return;
    };
    ui.separator();
    let line = text.lines().next().unwrap_or_default();
    let label = ui.add(Label::new(small(line, color)).truncate());
    if line != text {
        label.on_hover_text(text);
    }
}

fn last_warning(state: &State) -> Option<&str> {
    if !state.has_run() {
        return None;
    }
    // Errors are shown elsewhere. After 100 other messages, a warning may not appear here. The warning is still counted and listed.
    let last = state
        .session
        .landmarks
        .problem_messages()
        .iter()
        .rev()
        .take(100);
    let messages = last.filter_map(|k| state.session.run.messages().get(*k as usize));
    let mut warnings = messages.filter(|(_, m)| m.level == Level::Warning);
    warnings.next().map(|(_, m)| m.text.as_str())
}

/// Returns the source of the run and its progress.
fn origin(state: &State) -> String {
    match &state.session.source {
        Source::None => say!("No run").to_owned(),
        Source::Loading { share, .. } => say!("Opening, {}", format::percent(f64::from(*share))),
        Source::Simulating => say!("Simulating").to_owned(),
        Source::Live { .. } if state.session.seeking.is_some() => {
            let what = match state.session.seeking.map(|s| s.goal) {
                Some(Goal::Stall) => say!("wait"),
                Some(Goal::OutOfOrder) => say!("arrival out of order"),
                Some(Goal::Trouble) => say!("error"),
                _ => say!("batch"),
            };
            say!("Live, running to the next {what} (Esc stops)")
        }
        Source::Live { paused } => {
            let paused = if *paused { say!(", paused") } else { "" };
            let past = match state.session.cursor {
                Cursor::Live => "",
                _ => say!(", viewing the past"),
            };
            say!("Live{paused}{past}")
        }
        Source::Finished => {
            let (marks, run) = (&state.session.landmarks, &state.session.run);
            let how = match (run.failure().is_some(), marks.stopped_early()) {
                (true, _) => say!("Ended with an error"),
                (false, true) => say!("Stopped"),
                (false, false) => say!("Finished"),
            };
            say!("{how}, {}", state.session.run.info.origin.label())
        }
        Source::Recording { path, cut } => {
            let name = path
                .file_name()
                .unwrap_or(path.as_os_str())
                .to_string_lossy();
            let cut = if *cut { say!(", truncated") } else { "" };
            say!("{name}, {}{cut}", state.session.run.info.origin.label())
        }
    }
}
