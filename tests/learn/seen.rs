//! Tests that all parts of a step are visible, but not the answer to its question.

use std::time::{Duration, Instant};

use eframe::egui::epaint::ClippedShape;
use eframe::egui::{Rect, Shape};
use loadscope_lessons::{MomentQuery, OrderQuery, Query, RunQuery, Value};
use loadscope_model::update::obstacle;
use loadscope_ui::panels::marked;

use super::*;

/// Maximum size of a part that is scrolled away, points.
const SLIVER: f32 = 10.0;

/// Checks that all parts of the step are visible at the same time. Some appear only after a calculation.
pub(super) fn check_parts(window: &mut Harness<'static, App>, what: &str) {
    let parts = playing(window).play.parts().to_vec();
    assert!(!parts.is_empty(), "{what}");
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let missing = parts.iter().find(|part| !is_marked(window, part));
        let Some(part) = missing else {
            return;
        };
        let names: Vec<String> = marked(&window.ctx)
            .iter()
            .map(|(part, _)| part.phrase())
            .collect();
        assert!(
            Instant::now() < deadline,
            "{what}: {} is not in the window, there are {names:?}",
            part.phrase()
        );
        std::thread::sleep(Duration::from_millis(5));
        window.run_steps(1);
    }
}

fn is_marked(window: &Harness<'static, App>, part: &Part) -> bool {
    marked(&window.ctx).iter().any(|(other, rect)| {
        let is_it = match (part, other) {
            (Part::Workers, Part::Worker(_)) => true,
            (Part::IndexQueues, Part::IndexQueue(_)) => true,
            (part, other) => part == other,
        };
        is_it && rect.height() > SLIVER && rect.width() > SLIVER
    })
}

/// Returns the texts of the window outside the player.
fn texts(window: &Harness<'static, App>) -> Vec<String> {
    placed_texts(window)
        .into_iter()
        .map(|(text, _)| text)
        .collect()
}

/// Returns the texts of the window outside the player, with their positions.
pub(super) fn placed_texts(window: &Harness<'static, App>) -> Vec<(String, Rect)> {
    let screen = window.ctx.content_rect();
    let height = loadscope_ui::panels::learn::height(&window.state().state, screen.size());
    let bottom = screen.bottom() - loadscope_ui::panels::notices::STATUS;
    let top = bottom - height.expect("the player is there");
    let player = Rect::from_min_max([0.0, top].into(), [screen.right(), bottom].into());
    let shapes = window.output().shapes.iter();
    let seen = shapes.filter_map(
        |ClippedShape {
             clip_rect, shape, ..
         }| match shape {
            Shape::Text(text) => {
                let place = clip_rect.intersect(text.visual_bounding_rect());
                let is_outside = place.is_positive() && !player.contains(place.center());
                is_outside.then(|| (text.galley.text().replace('\u{2009}', " "), place))
            }
            _ => None,
        },
    );
    seen.collect()
}

/// Checks that no text of the window is the answer to an open question.
pub(super) fn check_answer_is_hidden(window: &Harness<'static, App>, what: &str) {
    let state = &window.state().state;
    let Some(question) = state.learn.question() else {
        return;
    };
    let language = state.prefs.learned.language;
    let truth = stage(window).truth.clone().expect("the run has an answer");
    assert!(state.learn.hides_verdict(), "{what}");
    assert!(obstacle(state, Action::ShowDiagnose).is_some(), "{what}");
    let forbidden = match (&question.kind, &truth) {
        (Kind::Choice(all), truth) => {
            let right = all.iter().find(|choice| truth.is(&choice.is));
            right.map(|choice| choice.text.replace('`', ""))
        }
        (Kind::Number { unit, .. }, Value::Number(_)) if !unit.is_empty() => {
            Some(format!("{} {unit}", truth.label(language)))
        }
        (Kind::Order(_), truth) => Some(truth.label(language)),
        (Kind::Number { .. } | Kind::Click, _) => None,
    };
    // A bare number may appear anywhere.
    let Some(forbidden) =
        forbidden.filter(|text| text.chars().any(|c| !c.is_ascii_digit() && c != '.'))
    else {
        return;
    };
    for text in texts(window) {
        let is_whole = text == forbidden;
        let is_part = forbidden.chars().count() > 3 && contains(&text, &forbidden);
        assert!(!is_whole && !is_part, "{what}: the window says “{text}”");
    }
}

/// Returns true if `part` occurs as whole words. "12 samples" does not contain "2 samples".
fn contains(text: &str, part: &str) -> bool {
    text.match_indices(part).any(|(at, _)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text
            .get(at + part.len()..)
            .and_then(|after| after.chars().next());
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}

/// Checks that the outlined parts contain the number after an answer, if it is written as text.
pub(super) fn check_answer_is_shown(window: &Harness<'static, App>, what: &str) {
    let play = &playing(window).play;
    let (Task::Predict { question, .. }, Phase::Answered(judged)) =
        (&play.step().task, play.phase())
    else {
        panic!("{what}: no question was answered");
    };
    let Kind::Number { tolerance, .. } = question.kind else {
        return;
    };
    let Some(truth) = judged
        .truth
        .number()
        .filter(|_| is_written(&question.query))
    else {
        return;
    };
    let outlined = play.parts();
    let marks = marked(&window.ctx);
    let places: Vec<Rect> = marks
        .iter()
        .filter(|(part, _)| outlined.contains(part))
        .map(|(_, rect)| rect.expand(4.0))
        .collect();
    let texts: Vec<String> = placed_texts(window)
        .into_iter()
        .filter(|(_, place)| places.iter().any(|part| part.contains(place.center())))
        .map(|(text, _)| text)
        .collect();
    let is_it = |number: f64| {
        let off = |scale: f64| (number / scale - truth).abs();
        // Seconds may be written in milliseconds.
        [1.0, 1000.0]
            .iter()
            .any(|scale| off(*scale) <= tolerance + 0.005)
    };
    let found = texts.iter().flat_map(|text| numbers(text)).any(is_it);
    assert!(found, "{what}: {truth} is in none of {texts:?}");
}

/// Returns true if the window writes the answer as text. Other numbers are counted in the view or printed by a program.
fn is_written(query: &Query) -> bool {
    match query {
        Query::Run(
            RunQuery::Batches
            | RunQuery::BatchesOfWorker(_)
            | RunQuery::WorkersStarted
            | RunQuery::Pinned,
        ) => false,
        // The length of a bar under the time axis is not written.
        Query::Run(RunQuery::FirstWait(_)) => false,
        Query::Run(RunQuery::SeedStep) => false,
        Query::Run(_) => true,
        Query::Moment(MomentQuery::HeldCount | MomentQuery::Busy | MomentQuery::Queued) => false,
        Query::Moment(_) => true,
        Query::Order(
            OrderQuery::OfRank
            | OrderQuery::SlowestRank
            | OrderQuery::Weighted(..)
            | OrderQuery::Balanced(..),
        ) => false,
        Query::Order(_) => true,
        Query::Option(_) | Query::Line(..) | Query::NumberOfLine(..) => false,
        Query::At(query, _)
        | Query::With(query, _)
        | Query::MoreOrLess(query, _)
        | Query::TimesLess(query, _) => is_written(query),
    }
}

fn numbers(text: &str) -> Vec<f64> {
    let parts = text.split(|c: char| !(c.is_ascii_digit() || c == '.'));
    parts
        .filter_map(|part| part.trim_end_matches('.').parse().ok())
        .collect()
}
