//! Runs for a comparison with the shown run.

use loadscope_insight::diagnose::{ComparedRun, Role};
use loadscope_insight::loaders::{Loaders, names};
use loadscope_model::state::State;
use loadscope_trace::Run;
use loadscope_words::say;

/// Returns the shown run as the "before" of a check of a forecast. `number` is its number among compared runs.
pub fn baseline_run(state: &State, number: u64) -> ComparedRun {
    ComparedRun {
        number,
        name: say!("Before").to_owned(),
        run: state.session.run.snapshot(),
        cut: false,
        role: Role::Before,
    }
}

/// Returns another run of the window.
pub fn compared_run(state: &State, kept: u32, number: u64) -> Option<ComparedRun> {
    let of = state.runs.get(kept)?;
    Some(ComparedRun {
        number,
        name: format!("#{kept} {}", of.line.name),
        run: of.session.run.snapshot(),
        cut: false,
        role: Role::Chosen,
    })
}

/// Returns the name of the compared loader as a suffix for the file name, or an empty text if there is only one loader.
pub fn loader_suffix(loaders: &Loaders, run: &Run) -> String {
    let all = loaders.all(run);
    let at = all.iter().position(|(id, _)| *id == loaders.shown());
    let name = at.and_then(|at| names(&all).into_iter().nth(at));
    match name {
        Some(name) if loaders.are_many() => format!(", {name}"),
        _ => String::new(),
    }
}
