//! Workspace and panels of a step, derived from its parts.

use loadscope_trace::{PinMemory, RunOptions};

use crate::part::{Below, Pane, Part, View};

/// Workspace and panels that show some parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepLayout {
    /// Workspace that shows the parts.
    pub view: View,
    /// True if the options are visible.
    pub options: bool,
    /// True if the inspector is visible.
    pub inspector: bool,
    /// True if the table of variables is visible.
    pub variables: bool,
    /// True if the list of messages is visible.
    pub messages: bool,
    /// Contents of the area below the pipeline.
    pub below: Below,
}

impl StepLayout {
    /// Returns the workspace and panels for these parts. Among parts in conflict ([`StepLayout::conflict`]), the first is shown.
    pub fn of(parts: &[Part]) -> Self {
        let panes: Vec<Pane> = parts.iter().map(Part::pane).collect();
        let below = panes.iter().find_map(|pane| below(*pane));
        Self {
            view: panes
                .iter()
                .find_map(|pane| pane.view())
                .unwrap_or(View::Pipeline),
            options: panes.contains(&Pane::Options),
            inspector: panes.contains(&Pane::Inspector),
            variables: panes.contains(&Pane::Variables),
            messages: panes.contains(&Pane::Messages),
            below: below.unwrap_or(Below::Timeline),
        }
    }

    /// Returns two parts that are never visible at the same time.
    pub fn conflict(parts: &[Part]) -> Option<(&Part, &Part)> {
        parts.iter().enumerate().find_map(|(k, part)| {
            let others = parts.iter().skip(k + 1);
            others
                .filter(|other| exclude(part.pane(), other.pane()))
                .map(|other| (part, other))
                .next()
        })
    }
}

fn below(pane: Pane) -> Option<Below> {
    match pane {
        Pane::Below(below) => Some(below),
        _ => None,
    }
}

fn exclude(one: Pane, other: Pane) -> bool {
    let differ =
        |one: Option<View>, other: Option<View>| one.zip(other).is_some_and(|(a, b)| a != b);
    differ(one.view(), other.view()) || below(one).zip(below(other)).is_some_and(|(a, b)| a != b)
}

/// Returns the reason why the window does not have the part for a run with these options. Returns `None` if it has the part.
pub fn absent(part: &Part, options: &RunOptions) -> Option<&'static str> {
    let workers = options.num_workers;
    let pins = options.pin_memory != PinMemory::Off;
    let no_workers = (workers == 0).then_some("the run has no workers");
    match part {
        Part::Worker(worker) | Part::IndexQueue(worker) => {
            (usize::from(*worker) >= workers).then_some("the run has no such worker")
        }
        Part::Workers | Part::IndexQueues | Part::ResultQueue | Part::ReorderBuffer => no_workers,
        Part::Main => {
            (workers > 0).then_some("the run has workers, so the main process does not fetch")
        }
        Part::PinThread if !pins => Some("the run does not pin"),
        Part::PinThread if workers == 0 => Some("without workers the main process pins"),
        Part::PinThread => None,
        Part::DataQueue if !pins => Some("the run does not pin"),
        Part::DataQueue => no_workers,
        Part::Option(field) => {
            (!field.has_row(options)).then_some("other options of the run leave it without effect")
        }
        Part::Order | Part::Coverage => options
            .is_stream()
            .then_some("an iterable-style dataset has no indices"),
        Part::Ranks => {
            let has = options.world_size > 1 && options.sampler.starts_with("distributed");
            (!has).then_some("the run has no ranks that share the samples")
        }
        Part::Options
        | Part::Sampler
        | Part::Trainer
        | Part::Variables
        | Part::Timeline
        | Part::Plots
        | Part::Batches
        | Part::Inspector
        | Part::Verdict
        | Part::Messages
        | Part::Python
        | Part::Findings
        | Part::Blame
        | Part::Forecasts => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(phrases: &[&str]) -> Vec<Part> {
        let read = |phrase: &&str| Part::read(phrase).expect("a part");
        phrases.iter().map(read).collect()
    }

    #[test]
    fn parts_determine_the_view_and_its_panels() {
        let shown = StepLayout::of(&parts(&["variables", "plots", "option num_workers"]));
        assert_eq!(shown.view, View::Pipeline);
        assert!(shown.variables && shown.options && !shown.inspector && !shown.messages);
        assert_eq!(shown.below, Below::Plots);
        assert_eq!(StepLayout::of(&parts(&["coverage"])).view, View::Sampling);
        assert_eq!(StepLayout::of(&parts(&["forecasts"])).view, View::Diagnose);
        assert_eq!(StepLayout::of(&[]).view, View::Pipeline);
    }

    #[test]
    fn parts_that_share_a_place_conflict() {
        for pair in [
            ["verdict", "forecasts"],
            ["order chart", "worker 0"],
            ["timeline", "plots"],
        ] {
            let all = parts(&pair);
            assert_eq!(StepLayout::conflict(&all), Some((&all[0], &all[1])));
        }
        for all in [
            parts(&["coverage", "ranks", "option seed", "inspector"]),
            parts(&["verdict", "timeline", "variables", "messages"]),
        ] {
            assert_eq!(StepLayout::conflict(&all), None);
        }
    }

    #[test]
    fn parts_missing_from_a_run_are_absent() {
        let options = RunOptions {
            num_workers: 2,
            ..RunOptions::default()
        };
        for (phrase, is_absent) in [
            ("worker 1", false),
            ("worker 2", true),
            ("main process", true),
            ("pin thread", true),
            ("data queue", true),
            ("ranks", true),
            ("option replacement", true),
            ("option seed", false),
            ("reorder buffer", false),
        ] {
            let part = Part::read(phrase).expect("a part");
            assert_eq!(absent(&part, &options).is_some(), is_absent, "{phrase}");
        }
    }
}
