//! What can be seen while a step is read: all of its parts, and not the answer to its question.

use std::time::{Duration, Instant};

use eframe::egui::epaint::ClippedShape;
use eframe::egui::{Rect, Shape};
use loadscope_lessons::Value;
use loadscope_model::update::obstacle;
use loadscope_ui::panels::marked;

use super::*;

/// Of what is scrolled away a sliver may be left.
const SLIVER: f32 = 10.0;

/// All parts of the step are in the window at the same time, so that they are outlined; some only once a calculation has ended.
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

/// The texts of the window outside the player.
fn texts(window: &Harness<'static, App>) -> Vec<String> {
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
                is_outside.then(|| text.galley.text().replace('\u{2009}', " "))
            }
            _ => None,
        },
    );
    seen.collect()
}

/// While a question is open, no text of the window is its answer: not the verdict, not what a chart says, not a variable.
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
    // A bare number stands everywhere.
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

/// As words of its own: “2 samples” is not in “12 samples”.
fn contains(text: &str, part: &str) -> bool {
    text.match_indices(part).any(|(at, _)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text
            .get(at + part.len()..)
            .and_then(|after| after.chars().next());
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}
