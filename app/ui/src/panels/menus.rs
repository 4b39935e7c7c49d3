//! Menus. A test checks that every action is in exactly one menu.

use egui::{Button, RichText, Role, ScrollArea, Ui, WidgetInfo};

use crate::theme::Palette;
use loadscope_model::command::{Action, Command};
use loadscope_model::state::State;
use loadscope_model::update::obstacle;
use loadscope_words::{Text, say, text};

/// Title of a menu and its entries. `None` is a separator.
type Menu = (Text, &'static [Option<Action>]);

/// Minimum width of a window with all menu titles, points.
const SIDE_BY_SIDE: f32 = 860.0;

/// All menus, from left to right.
#[rustfmt::skip]
const MENUS: &[Menu] = {
    use Action as A;
    const fn s(action: Action) -> Option<Action> { Some(action) }
    &[
        (text!("File"), &[
            s(A::RunDemo), s(A::Open), s(A::OpenFolder), s(A::ChooseFolder), s(A::WatchProgram), None,
            s(A::Save), s(A::Export), s(A::CancelExport), s(A::SavePicture), s(A::Compare), s(A::Close), None,
            s(A::ToggleAsking), None,
            s(A::Quit),
        ]),
        (text!("Edit"), &[
            s(A::Undo), s(A::Redo), s(A::TakeOptions), None,
            s(A::CopyValues), s(A::CopyContent), s(A::CopyIndices), s(A::CopyVariables), None,
            s(A::CopyPlace), s(A::OpenEditor), None,
            s(A::Search), s(A::NextMatch), s(A::PreviousMatch), None,
            s(A::Escape),
        ]),
        (text!("Run"), &[
            s(A::Run), s(A::RunPaused), s(A::RunSlowly), s(A::Simulate), s(A::Stop), None,
            s(A::PauseResume), s(A::StepForward), s(A::StepBack), None,
            s(A::Slower), s(A::Faster), s(A::Replay), None,
            s(A::TryProgram), s(A::EndTries),
        ]),
        (text!("Navigate"), &[
            s(A::GoToStart), s(A::FollowLive), None,
            s(A::NextBatch), s(A::PreviousBatch),
            s(A::NextStall), s(A::PreviousStall), s(A::LongestWait),
            s(A::NextOutOfOrder), s(A::PreviousOutOfOrder),
            s(A::NextTrouble), s(A::PreviousTrouble), None,
            s(A::NextStage), s(A::PreviousStage),
            s(A::NextSpan), s(A::PreviousSpan),
            s(A::LaneUp), s(A::LaneDown), None,
            s(A::ToggleMarker), s(A::NextMarker), s(A::PreviousMarker), s(A::ClearMarkers),
        ]),
        (text!("View"), &[
            s(A::ShowDebug), s(A::ShowSampling), s(A::ShowDiagnose), None,
            s(A::ShowTimeline), s(A::ShowBatches), s(A::ShowPlots), s(A::ShowCode), s(A::ShowLoaders),
            s(A::NextLoader), s(A::PreviousLoader), None,
            s(A::ZoomIn), s(A::ZoomOut), s(A::PanLeft), s(A::PanRight),
            s(A::ShowAll), s(A::FitSelection), s(A::ZoomToRange),
            s(A::ViewBack), s(A::ViewForward), None,
            s(A::ToggleOptions), s(A::ToggleInspector), s(A::ToggleVariables), s(A::ShowMessages), None,
            s(A::Present), s(A::Larger), s(A::Smaller), s(A::ActualSize), None,
            s(A::HideFuture), s(A::ChangeLanguage), s(A::ToggleTheme), s(A::ToggleMotion), s(A::ToggleNumbers),
        ]),
        (text!("Help"), &[
            s(A::Learn), s(A::GoOn), s(A::PreviousPage), s(A::SkipStep), s(A::ReturnToStep),
            s(A::ToggleLecture), s(A::LeaveLesson), None,
            s(A::Palette), s(A::Help), s(A::Glossary),
        ]),
    ]
};

/// Height of the window that a menu leaves free for the menu bar and its own margins, points.
const ROOM: f32 = 56.0;
/// Minimum height of a menu, which is two entries, points.
const LEAST: f32 = 48.0;

/// Shows the menus.
pub fn show(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    // In a narrow window, the menus are entries of a single menu.
    if ui.content_rect().width() < SIDE_BY_SIDE {
        ui.menu_button(say!("Menu"), |ui| all(ui, state, commands));
    } else {
        all(ui, state, commands);
    }
}

fn all(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    for (title, actions) in MENUS {
        ui.menu_button(title.say(), |ui| {
            ui.set_min_width(260.0);
            // A menu that is higher than the window scrolls, but keeps a minimum height.
            let most = (ui.content_rect().height() - ROOM).max(LEAST);
            let all = ScrollArea::vertical().max_height(most);
            all.min_scrolled_height(most).show(ui, |ui| {
                for action in *actions {
                    match action {
                        Some(action) => entry(ui, state, *action, commands),
                        None => _ = ui.separator(),
                    }
                }
            });
        });
    }
}

/// Shows an entry of a menu.
pub(super) fn entry(ui: &mut Ui, state: &State, action: Action, commands: &mut Vec<Command>) {
    let info = action.info();
    let on = is_on(state, action);
    let mut button = match on {
        // An active entry also has the text "on", because a background alone is easy to miss.
        true => Button::new((
            info.name,
            RichText::new(say!("on")).color(Palette::of(ui).weak),
        )),
        false => Button::new(info.name),
    };
    if info.shortcut.is_some() {
        button = button.shortcut_text(info.keys(ui.ctx()));
    }
    let why_not = obstacle(state, action);
    let response = ui.add_enabled(why_not.is_none(), button.selected(on));
    // The accessible name omits the key, which is shown separately.
    response.widget_info(|| WidgetInfo::selected(Role::Button, why_not.is_none(), on, info.name));
    if response.gained_focus() {
        response.scroll_to_me(None);
    }
    let response = response.on_hover_text(info.tooltip);
    if let Some(why) = why_not {
        response.on_disabled_hover_text(why);
    } else if response.clicked() {
        commands.push(action.into());
        ui.close();
    }
}

/// Returns true if a toggle is on. The match lists every action, so that a new toggle is not forgotten.
#[allow(clippy::too_many_lines, reason = "a line for each action")]
fn is_on(state: &State, action: Action) -> bool {
    use Action as A;
    match action {
        A::ToggleAsking => state.prefs.asks,
        A::ToggleMotion => state.look.still,
        A::HideFuture => state.prefs.hides_future,
        A::ToggleOptions => state.prefs.options_open,
        A::ToggleInspector => state.prefs.inspector_open,
        A::ToggleVariables => state.prefs.variables_open,
        A::ShowMessages => state.overlay.messages_open,
        A::Glossary => state.overlay.glossary.is_some(),
        A::Present => state.presents(),
        A::ToggleNumbers => state.prefs.numbers,
        A::ToggleLecture => state.prefs.learned.lecture,
        A::RunDemo
        | A::Run
        | A::RunPaused
        | A::RunSlowly
        | A::LongestWait
        | A::Replay
        | A::Simulate
        | A::Stop
        | A::PauseResume
        | A::StepForward
        | A::StepBack
        | A::NextBatch
        | A::PreviousBatch
        | A::NextStall
        | A::PreviousStall
        | A::NextOutOfOrder
        | A::PreviousOutOfOrder
        | A::NextTrouble
        | A::PreviousTrouble
        | A::NextStage
        | A::PreviousStage
        | A::Slower
        | A::Faster
        | A::GoToStart
        | A::FollowLive
        | A::ZoomIn
        | A::ZoomOut
        | A::PanLeft
        | A::PanRight
        | A::ShowAll
        | A::FitSelection
        | A::ZoomToRange
        | A::ViewBack
        | A::ViewForward
        | A::NextSpan
        | A::PreviousSpan
        | A::LaneUp
        | A::LaneDown
        | A::Search
        | A::NextMatch
        | A::PreviousMatch
        | A::ToggleMarker
        | A::NextMarker
        | A::PreviousMarker
        | A::ClearMarkers
        | A::Open
        | A::OpenFolder
        | A::Save
        | A::Compare
        | A::TryProgram
        | A::EndTries
        | A::Export
        | A::CancelExport
        | A::ChooseFolder
        | A::WatchProgram
        | A::SavePicture
        | A::CopyValues
        | A::CopyContent
        | A::CopyIndices
        | A::CopyVariables
        | A::CopyPlace
        | A::OpenEditor
        | A::Close
        | A::Undo
        | A::Redo
        | A::TakeOptions
        | A::Escape
        | A::ShowDebug
        | A::ShowSampling
        | A::ShowDiagnose
        | A::ShowTimeline
        | A::ShowBatches
        | A::ShowPlots
        | A::ShowLoaders
        | A::ShowCode
        | A::NextLoader
        | A::PreviousLoader
        | A::ToggleTheme
        | A::Larger
        | A::Smaller
        | A::ActualSize
        | A::Palette
        | A::Help
        | A::Learn
        | A::GoOn
        | A::SkipStep
        | A::PreviousPage
        | A::ReturnToStep
        | A::ChangeLanguage
        | A::LeaveLesson
        | A::Quit => false,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_action_is_in_one_menu() {
        let mut seen = BTreeSet::new();
        for action in MENUS.iter().flat_map(|(_, actions)| *actions).flatten() {
            assert!(seen.insert(*action), "{action:?} twice");
        }
        let missing: Vec<Action> = Action::all().filter(|a| !seen.contains(a)).collect();
        assert!(missing.is_empty(), "in no menu: {missing:?}");
    }

    #[test]
    fn menu_separators_are_only_between_entries() {
        for (title, actions) in MENUS {
            assert!(actions.first().is_some_and(Option::is_some), "{title}");
            assert!(actions.last().is_some_and(Option::is_some), "{title}");
            assert!(!actions.windows(2).any(|w| w[0].is_none() && w[1].is_none()));
        }
    }
}
