//! Detective cases: a run with hidden causes, the selected causes and remedies, and their result.

use std::sync::Arc;

use loadscope_insight::diagnose::{ComparedRun, Role};
use loadscope_insight::landmarks::{Landmarks, Place};
use loadscope_lessons::cases::{CASES, Case, Culprit, Remedy, Solved};
use loadscope_words::say;

use super::stage::{go_to, set_panels, show_run, want};
use super::user_window::{open_contents, save_user_window};
use crate::state::State;
use crate::state::learn::{Detecting, LessonJob, LessonRunKind, LessonView, Page};
use crate::view::Workspace;

pub(super) fn open(state: &mut State, seed: u64, number: u32) {
    save_user_window(state);
    state.learn.page = Some(Page::Case(Box::new(Detecting {
        seed,
        number,
        case: None,
        named: Vec::new(),
        chosen: Vec::new(),
        solved: None,
        stage: LessonView::default(),
    })));
    want(state, LessonJob::Case(seed, number));
}

/// Shows the run of a new case.
pub(super) fn made(state: &mut State, case: &Arc<Case>) {
    let run = case.run.clone();
    let landmarks = Landmarks::of(&run);
    state.prefs.options = run.info.options.clone();
    show_run(state, run, landmarks, LessonRunKind::Given);
    if let Some(Page::Case(detecting)) = &mut state.learn.page {
        detecting.case = Some(Arc::clone(case));
    }
    set_panels(state);
    let end = state.session.run.transitions().len();
    go_to(state, Some(Place::Step(end)));
}

/// Selects or deselects a cause. If more causes are selected than the case has, the earliest selection is removed.
pub(super) fn name(state: &mut State, culprit: Culprit) {
    if let Some(Page::Case(detecting)) = &mut state.learn.page {
        let most = detecting.case.as_ref().map_or(1, |case| case.count());
        toggle(&mut detecting.named, culprit, most);
    }
}

/// Selects or deselects a remedy.
pub(super) fn choose(state: &mut State, remedy: Remedy) {
    if let Some(Page::Case(detecting)) = &mut state.learn.page {
        let most = detecting.case.as_ref().map_or(1, |case| case.count());
        toggle(&mut detecting.chosen, remedy, most);
    }
}

fn toggle<T: PartialEq>(all: &mut Vec<T>, one: T, most: usize) {
    match all.iter().position(|other| *other == one) {
        Some(at) => _ = all.remove(at),
        None => {
            all.push(one);
            let surplus = all.len().saturating_sub(most);
            all.drain(..surplus);
        }
    }
}

/// Requests the result of the selected causes and remedies.
pub(super) fn solve(state: &mut State) {
    let Some(detecting) = state.learn.detecting() else {
        return;
    };
    if let (Some(case), None) = (&detecting.case, &detecting.solved) {
        let what = LessonJob::Solution(
            Arc::clone(case),
            detecting.named.clone(),
            detecting.chosen.clone(),
        );
        want(state, what);
    }
}

/// Records the result. Compares the run with the remedies with the first run.
pub(super) fn solved(state: &mut State, solved: Solved) {
    let Some(detecting) = state.learn.detecting() else {
        return;
    };
    let (seed, number) = (detecting.seed, detecting.number);
    let score = if solved.is_named { solved.score } else { 0 };
    state.prefs.learned.progress.keep_case(seed, number, score);
    if let Some(after) = &solved.after {
        let landmarks = Landmarks::of(after);
        state.prefs.options = after.info.options.clone();
        let before = detecting_run(state);
        show_run(state, after.clone(), landmarks, LessonRunKind::Given);
        // The Diagnose workspace shows both runs side by side.
        state.session.diagnose.other = before;
        state.prefs.workspace = Workspace::Diagnose;
        state.prefs.inspector_open = false;
        let end = state.session.run.transitions().len();
        go_to(state, Some(Place::Step(end)));
    }
    if let Some(Page::Case(detecting)) = &mut state.learn.page {
        detecting.solved = Some(Box::new(solved));
    }
}

/// Returns the run of the case for the comparison.
fn detecting_run(state: &State) -> Option<ComparedRun> {
    let case = state.learn.detecting()?.case.as_ref()?;
    Some(ComparedRun {
        number: CASE_RUNS + state.learn.asked,
        name: say!("Before").to_owned(),
        run: Arc::new(case.run.clone()),
        cut: false,
        role: Role::Before,
    })
}

/// First number of case runs in comparisons, far above the numbers of the window's runs.
const CASE_RUNS: u64 = 1 << 40;

/// Judges the case. If it is solved, goes to the next case.
pub(super) fn next_page(state: &mut State) {
    let Some(detecting) = state.learn.detecting() else {
        return;
    };
    let (seed, next) = (detecting.seed, detecting.number + 1);
    match &detecting.solved {
        None => solve(state),
        Some(_) if next <= CASES => open(state, seed, next),
        Some(_) => open_contents(state),
    }
}
