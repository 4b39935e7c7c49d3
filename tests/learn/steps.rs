//! Tests of steps that refer to a certain place in the window.

use eframe::egui::{Event, Rect, Style};
use loadscope_model::view::Workspace;
use loadscope_ui::panels::marked;

use super::pictures::to_step;
use super::seen::{check_parts, placed_texts};
use super::*;
use crate::texts::texts;

const USUAL: Vec2 = Vec2::new(1100.0, 700.0);

/// Regression test: the verdict was outlined instead.
#[test]
fn lesson_9_outlines_the_finding_about_repeated_samples() {
    let mut window = lesson(9, Language::En, Theme::Dark, USUAL);
    to_step(&mut window, 2);
    check_parts(&mut window, "lesson 9, step 2");
    assert_eq!(playing(&window).play.parts(), [Part::Findings]);
    let workspace = window.state().state.prefs.workspace;
    assert_eq!(workspace, Workspace::Sampling);
    let marks = marked(&window.ctx);
    let is_outlined = |place: Rect| {
        let mut findings = marks.iter().filter(|(part, _)| *part == Part::Findings);
        findings.any(|(_, rect)| rect.expand(4.0).contains(place.center()))
    };
    let all = placed_texts(&window);
    let mut outlined = all.iter().filter(|(_, place)| is_outlined(*place));
    let is_shown = outlined.any(|(text, _)| text.contains("24 samples") && text.contains("of 12"));
    assert!(is_shown, "{all:?}");
}

/// Regression test: the title of the table was scrolled out of view. It is English in both languages, because only the lesson is
/// translated.
#[test]
fn lesson_14_shows_the_title_of_the_forecasts() {
    for language in Language::ALL {
        let mut window = lesson(14, language, Theme::Dark, USUAL);
        to_step(&mut window, 4);
        wait(&mut window, |app| {
            app.state.session.results.diagnosis.what_if.is_some()
        });
        window.run_steps(12);
        let seen = texts(&window);
        let title = "Forecast share of time spent waiting";
        let is_shown = seen.iter().any(|text| text.contains(title));
        assert!(is_shown, "{}: {seen:?}", language.code());
    }
}

#[test]
fn a_click_on_a_dot_opens_a_reached_step() {
    let mut window = lesson(7, Language::En, Theme::Dark, USUAL);
    to_step(&mut window, 3);
    let steps = playing(&window).play.position().1;
    let is_button = |window: &Harness<'static, App>, step: usize| {
        let name = format!("step {step} / {steps}");
        let dot = window.query_by_role_and_label(Role::Button, &name);
        dot.is_some()
    };
    assert!(is_button(&window, 1) && is_button(&window, 4));
    assert!(!is_button(&window, 5), "it was not reached");
    let first = format!("step 1 / {steps}");
    window.get_by_role_and_label(Role::Button, &first).click();
    window.run_steps(3);
    settle(&mut window);
    assert_eq!(playing(&window).play.position().0, 0);
}

/// The pointer rests where it opened the lesson, possibly over the pipeline.
#[test]
fn tooltips_of_a_step_wait_until_the_pointer_moves() {
    let mut window = lesson(7, Language::En, Theme::Dark, USUAL);
    let delay = |window: &Harness<'static, App>| {
        let style = window.ctx.global_style();
        style.interaction.tooltip_delay
    };
    let marks = marked(&window.ctx);
    let worker = marks.iter().find(|(part, _)| *part == Part::Worker(0));
    let place = worker.expect("a worker is drawn").1.center();
    window.event(Event::PointerMoved(place));
    window.run_steps(2);
    command(&mut window, LearnCommand::Lesson(6));
    settle(&mut window);
    assert!(delay(&window) >= 1e6, "{}", delay(&window));
    window.event(Event::PointerMoved(place + Vec2::new(30.0, 0.0)));
    window.run_steps(2);
    let usual = Style::default().interaction.tooltip_delay;
    assert_eq!(delay(&window), usual);
}
