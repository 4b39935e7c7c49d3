//! The variables of PyTorch's iterator beside the machine, under PyTorch's names. What the last transition changed is marked.

use eframe::egui::{
    Align2, Button, Id, Rect, RichText, Role, ScrollArea, Sense, Ui, UiBuilder, WidgetInfo, pos2,
    vec2,
};
use loadscope_trace::{Lane, Machine, Run, TaskInfo, WorkerId};

use super::pen::{inset, row};
use super::scene::plan;
use crate::command::{Action, Command};
use crate::state::State;
use crate::theme::{Palette, heading, mono, size, words};
use crate::view::Item;

/// How wide the table is.
pub const WIDTH: f32 = 216.0;
const ROW: f32 = 18.0;
const HEAD: f32 = 24.0;
const PAD: f32 = 12.0;
const BUTTON: f32 = 48.0;

/// A row of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// PyTorch's name, or the key in a dictionary or list.
    pub name: String,
    /// As Python prints it; nothing for the name of a dictionary or a list.
    pub value: String,
    /// True if it is an entry of the dictionary or list above.
    pub is_entry: bool,
    /// True if the last transition changed it.
    pub has_changed: bool,
    /// What it is about.
    pub item: Option<Item>,
}

/// All variables at the instant that is looked at.
pub fn variables(state: &State) -> Vec<Variable> {
    let machine = state.machine();
    let before = machine.step.checked_sub(1);
    let before = before.map(|step| state.run.machine_after(step));
    let mut all = listed(&state.run, &machine);
    let Some(before) = before else {
        return all;
    };
    let before = listed(&state.run, &before);
    let mut group = String::new();
    let mut known = std::collections::HashMap::new();
    for v in &before {
        if !v.is_entry {
            group.clone_from(&v.name);
        }
        known.insert((group.clone(), v.name.clone()), &v.value);
    }
    for v in &mut all {
        if !v.is_entry {
            group.clone_from(&v.name);
        }
        v.has_changed = known.get(&(group.clone(), v.name.clone())) != Some(&&v.value);
    }
    all
}

fn listed(run: &Run, machine: &Machine<'_>) -> Vec<Variable> {
    let workers = plan(run).workers;
    let row = |name: &str, value: String| Variable {
        name: name.to_owned(),
        value,
        is_entry: false,
        has_changed: false,
        item: None,
    };
    if workers == 0 {
        // `_SingleProcessDataLoaderIter` has no more than this.
        return vec![row("num_yielded", machine.rcvd_idx.to_string())];
    }
    let mut all = vec![row("send_idx", machine.send_idx.to_string())];
    all.push(row("rcvd_idx", machine.rcvd_idx.to_string()));
    all.push(row(
        "tasks_outstanding",
        machine.tasks_outstanding.to_string(),
    ));
    let tasks: Vec<Variable> = machine
        .task_info()
        .map(|t| Variable {
            is_entry: true,
            item: Some(Item::Batch(t.row)),
            ..row(&t.idx.to_string(), entry(&t))
        })
        .collect();
    all.push(row(
        "task_info",
        if tasks.is_empty() { "{}" } else { "" }.to_owned(),
    ));
    all.extend(tasks);
    all.push(row("workers_status", String::new()));
    all.extend((0..workers).map(|w| {
        let worker = w as WorkerId;
        Variable {
            is_entry: true,
            item: Some(Item::Lane(Lane::Worker(worker))),
            ..row(
                &w.to_string(),
                python_bool(machine.takes_tasks(worker)).to_owned(),
            )
        }
    }));
    all
}

/// `(1,)` while worker 1 has the task, `(1, data)` once the batch has arrived.
pub fn entry(task: &TaskInfo) -> String {
    let worker = task.worker.map_or("—".to_owned(), |w| w.to_string());
    match task.has_data {
        true => format!("({worker}, data)"),
        false => format!("({worker},)"),
    }
}

fn python_bool(value: bool) -> &'static str {
    if value { "True" } else { "False" }
}

/// All variables as Python would print the attributes of the iterator.
pub fn python(state: &State) -> String {
    let machine = state.machine();
    let workers = plan(&state.run).workers;
    if workers == 0 {
        return format!("_num_yielded = {}\n", machine.rcvd_idx);
    }
    let tasks: Vec<String> = machine
        .task_info()
        .map(|t| format!("{}: {}", t.idx, entry(&t)))
        .collect();
    let status: Vec<&str> = (0..workers)
        .map(|w| python_bool(machine.takes_tasks(w as WorkerId)))
        .collect();
    format!(
        "_send_idx = {}\n_rcvd_idx = {}\n_tasks_outstanding = {}\n_task_info = {{{}}}\n_workers_status = [{}]\n",
        machine.send_idx,
        machine.rcvd_idx,
        machine.tasks_outstanding,
        tasks.join(", "),
        status.join(", ")
    )
}

/// Draws the table in `area`.
pub fn show(ui: &mut Ui, state: &State, area: Rect) -> Vec<Command> {
    let mut commands = Vec::new();
    let palette = Palette::of(ui.ctx());
    ui.painter().rect_filled(area, 0.0, palette.panel);
    ui.painter().vline(
        area.left(),
        area.y_range(),
        eframe::egui::Stroke::new(1.0, palette.line),
    );
    let inner = area.shrink2(vec2(PAD, 8.0));
    head(ui, row(inner, 0.0, HEAD), &mut commands);
    let body = Rect::from_min_max(pos2(area.left() + 1.0, inner.top() + HEAD + 4.0), area.max);
    let all = variables(state);
    ui.scope_builder(UiBuilder::new().max_rect(body), |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        ScrollArea::vertical()
            .id_salt("variables")
            .auto_shrink(false)
            .show_rows(ui, ROW, all.len(), |ui, range| {
                for variable in &all[range] {
                    line(ui, state, variable, palette, &mut commands);
                }
            });
    });
    commands
}

fn head(ui: &mut Ui, rect: Rect, commands: &mut Vec<Command>) {
    let palette = Palette::of(ui.ctx());
    ui.painter().text(
        rect.left_center(),
        Align2::LEFT_CENTER,
        "Variables",
        heading(size::BODY),
        palette.strong,
    );
    let mut right = rect.right();
    for (text, action) in [
        ("Hide", Action::ToggleVariables),
        ("Copy", Action::CopyVariables),
    ] {
        let left = right - BUTTON;
        let (top, bottom) = (rect.top() + 2.0, rect.bottom() - 2.0);
        let place = Rect::from_min_max(pos2(left, top), pos2(right, bottom));
        right = left - 4.0;
        let info = action.info();
        let name = format!("{text}: {}", info.name);
        let text = RichText::new(text).font(words(size::SMALL));
        let response = ui.put(place, Button::new(text).small());
        response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &name));
        if response.on_hover_text(info.tooltip).clicked() {
            commands.push(action.into());
        }
    }
}

fn line(ui: &mut Ui, state: &State, v: &Variable, palette: &Palette, commands: &mut Vec<Command>) {
    let size_of_line = vec2(ui.available_width(), ROW);
    let (rect, _) = ui.allocate_exact_size(size_of_line, Sense::hover());
    let response = v.item.map(|item| {
        let id = Id::unique(("variable", v.name.as_str(), matches!(item, Item::Lane(_))));
        (item, ui.interact(rect, id, Sense::click()))
    });
    let is_selected = v.item.is_some() && state.selection == v.item;
    let has_focus = response.as_ref().is_some_and(|(_, r)| r.has_focus());
    let is_hovered = has_focus || (v.item.is_some() && state.hovered == v.item);
    if v.has_changed {
        ui.painter().rect_filled(rect, 0.0, palette.selected());
        let dot = pos2(rect.left() + PAD * 0.5, rect.center().y);
        ui.painter().circle_filled(dot, 3.0, palette.strong);
    } else if is_hovered {
        ui.painter().rect_filled(rect, 0.0, palette.hovered());
    }
    let indent = if v.is_entry { PAD } else { 0.0 };
    let room = inset(rect, PAD + indent, PAD);
    let (ink, faint) = match (v.has_changed || is_selected, v.is_entry) {
        (true, _) => (palette.strong, palette.strong),
        (false, true) => (palette.text, palette.weak),
        (false, false) => (palette.text, palette.text),
    };
    let font = mono(size::SMALL);
    let painter = ui.painter_at(rect);
    painter.text(
        room.left_center(),
        Align2::LEFT_CENTER,
        &v.name,
        font.clone(),
        faint,
    );
    painter.text(
        room.right_center(),
        Align2::RIGHT_CENTER,
        &v.value,
        font,
        ink,
    );
    if is_selected {
        let outline = eframe::egui::Stroke::new(2.0, palette.strong);
        painter.rect_stroke(
            rect.shrink2(vec2(4.0, 0.0)),
            2.0,
            outline,
            eframe::egui::StrokeKind::Inside,
        );
    }
    let spoken = format!("{} {}", v.name, v.value);
    match response {
        None => {
            let id = Id::unique(("variable", v.name.as_str()));
            let response = ui.interact(rect, id, Sense::hover());
            response.widget_info(|| WidgetInfo::labeled(Role::Label, true, spoken.trim()));
        }
        Some((item, response)) => {
            let name = match item {
                Item::Lane(_) => format!("workers_status {spoken}"),
                _ => format!("task_info {spoken}"),
            };
            response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_selected, &name));
            if response.hovered() {
                commands.push(Command::Hover(Some(item)));
            }
            if response.clicked() {
                commands.push(Command::Select((!is_selected).then_some(item)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use loadscope_trace::{BatchId, Event, EventKind, Nanos, RunId, RunInfo, RunOptions, Stage};

    use super::*;
    use crate::view::Cursor;

    fn state() -> State {
        let info = RunInfo {
            options: RunOptions {
                num_workers: 2,
                ..RunOptions::default()
            },
            ..RunInfo::default()
        };
        let id = |idx| BatchId { epoch: 0, idx };
        let entered = |idx, stage| EventKind::Entered {
            batch: id(idx),
            stage,
        };
        let mut state = State {
            run: Run::new(info).into(),
            ..State::default()
        };
        let kinds = [
            EventKind::EpochStarted { epoch: 0 },
            EventKind::dispatched(id(0), Some(0), []),
            EventKind::dispatched(id(1), Some(1), []),
            EventKind::Consumer { waiting: true },
            entered(1, Stage::Fetching),
            entered(1, Stage::Held),
            entered(0, Stage::Ready),
            entered(0, Stage::Training),
        ];
        for (at, kind) in kinds.into_iter().enumerate() {
            let (at, run) = (Nanos(at as i64), RunId(0));
            state.run.apply(&Event { at, run, kind });
        }
        state
    }

    /// What is marked as changed by transition `step`.
    fn changed(state: &mut State, step: usize) -> Vec<String> {
        state.cursor = Cursor::Step(step);
        let all = variables(state).into_iter().filter(|v| v.has_changed);
        all.map(|v| format!("{} {}", v.name, v.value)).collect()
    }

    #[test]
    fn what_a_transition_changes_is_marked() {
        let mut state = state();
        let dispatched = ["send_idx 2", "tasks_outstanding 2", "1 (1,)"];
        assert_eq!(changed(&mut state, 2), dispatched);
        assert!(
            changed(&mut state, 3).is_empty(),
            "a worker takes a task by itself"
        );
        assert_eq!(
            changed(&mut state, 4),
            ["tasks_outstanding 1", "1 (1, data)"]
        );
        assert_eq!(
            changed(&mut state, 5),
            ["rcvd_idx 1", "tasks_outstanding 0"]
        );
        assert!(changed(&mut state, 6).is_empty());
    }

    #[test]
    fn python_prints_them_like_this() {
        let mut state = state();
        state.cursor = Cursor::Step(4);
        let expected = "_send_idx = 2\n_rcvd_idx = 0\n_tasks_outstanding = 1\n_task_info = {0: (0,), 1: (1, data)}\n\
                        _workers_status = [True, True]\n";
        assert_eq!(python(&state), expected);
    }
}
