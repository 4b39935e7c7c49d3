//! Tests of every lesson from the first to the last step.

use eframe::egui::Shape;
use eframe::egui::epaint::ClippedShape;

use super::seen::{check_answer_is_hidden, check_answer_is_shown, check_parts};
use super::*;

/// Returns the texts of the player that are truncated or clipped.
fn cut_texts(window: &Harness<'static, App>, scrolls: bool) -> Vec<String> {
    let screen = window.ctx.content_rect();
    let height = loadscope_ui::panels::learn::height(&window.state().state, screen.size());
    let bottom = screen.bottom() - loadscope_ui::panels::notices::STATUS;
    let top = bottom - height.expect("the player is there") + 6.0;
    let mut cut = Vec::new();
    for ClippedShape {
        clip_rect, shape, ..
    } in &window.output().shapes
    {
        let Shape::Text(text) = shape else {
            continue;
        };
        let place = text.visual_bounding_rect();
        let is_seen = clip_rect.intersect(place).is_positive();
        // In a small window, the lanes of the timeline are hidden behind the player.
        let is_of_player =
            clip_rect.top() > top - 8.0 && place.top() < bottom && clip_rect.height() > 8.0;
        if !is_of_player || !(is_seen || scrolls || place.top() > top) {
            continue;
        }
        let is_whole = clip_rect.expand(2.0).contains_rect(place);
        if text.galley.elided || (!is_whole && !scrolls) {
            cut.push(text.galley.text().to_owned());
        }
    }
    cut
}

/// Plays a lesson to its end. Returns its number of questions.
fn go_through(window: &mut Harness<'static, App>, number: u32, is_right: bool) -> u32 {
    let steps = playing(window).play.lesson().steps().len();
    let mut questions = 0;
    for at in 0..steps {
        let what = format!("lesson {number}, step {at}");
        settle(window);
        assert_eq!(playing(window).play.position().0, at, "{what}");
        assert!(stage(window).trouble.is_none(), "{what}");
        check_parts(window, &what);
        check_answer_is_hidden(window, &what);
        let task = playing(window).play.step().task.clone();
        let scrolls = matches!(task, Task::Code { .. });
        assert_eq!(cut_texts(window, scrolls), [""; 0], "{what}");
        match task {
            Task::Predict { .. } => {
                questions += 1;
                let answered = right(window);
                let given = match is_right {
                    true => answered,
                    false => wrong(window, &answered),
                };
                answer(window, &given);
                let Phase::Answered(judged) = playing(window).play.phase().clone() else {
                    panic!("{what}: it is not answered");
                };
                assert_eq!(judged.is_right, is_right, "{what}: {given:?}");
                settle(window);
                check_parts(window, &format!("{what}, answered"));
                finish(window);
                check_answer_is_shown(window, &format!("{what}, answered"));
                assert_eq!(cut_texts(window, false), [""; 0], "{what}, answered");
            }
            Task::Try(trial) => try_it(window, &what, &trial, is_right),
            Task::Look { .. } | Task::Code { .. } => {}
        }
        key(window, Key::Enter);
    }
    assert_eq!(*playing(window).play.phase(), Phase::Finished);
    questions
}

/// Skips to the end of the replay.
fn finish(window: &mut Harness<'static, App>) {
    if stage(window).replay.is_some() {
        key(window, Key::Enter);
        settle(window);
    }
}

/// Reaches the goal of a step immediately, or with the solution after four failed runs.
fn try_it(
    window: &mut Harness<'static, App>,
    what: &str,
    trial: &loadscope_lessons::Trial,
    is_right: bool,
) {
    if is_right {
        let start = playing(window).play.options().clone();
        let solved = trial.solution.apply(&start).expect("it can be applied");
        command(window, Command::Edit(Box::new(solved)));
    } else {
        for failures in 1..=4 {
            simulate(window);
            let play = &playing(window).play;
            assert_eq!(*play.phase(), Phase::Trying(failures), "{what}");
            assert_eq!(play.hint().is_some(), failures >= 2);
        }
        assert_eq!(cut_texts(window, false), [""; 0], "{what}, with the hint");
        let language = window.state().state.prefs.learned.language;
        let use_it = match language {
            Language::En => "Use the solution",
            Language::Zh => "使用答案",
        };
        window.get_by_label(use_it).click();
        window.run_steps(2);
    }
    simulate(window);
    assert_eq!(*playing(window).play.phase(), Phase::Reached, "{what}");
    assert_eq!(cut_texts(window, false), [""; 0], "{what}, reached");
}

fn simulate(window: &mut Harness<'static, App>) {
    window.key_press_modifiers(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::R);
    window.run_steps(2);
    settle(window);
}

fn all_lessons(language: Language, is_right: bool, theme: Theme, size: Vec2) {
    let mut window = lesson(1, language, theme, size);
    for number in 1..=loadscope_lessons::LESSONS as u32 {
        assert_eq!(playing(&window).play.lesson().number, number);
        assert_eq!(playing(&window).play.lesson().language, language);
        let questions = go_through(&mut window, number, is_right);
        let progress = &window.state().state.prefs.learned.progress;
        let kept = progress.lessons.get(&number).expect("it is kept");
        let expected = match is_right {
            true => (questions, 0),
            false => (0, questions),
        };
        assert!(kept.done);
        assert_eq!((kept.right, kept.wrong), expected, "lesson {number}");
        key(&mut window, Key::Enter);
    }
    assert!(window.state().state.learn.shows_contents());
}

const USUAL: Vec2 = Vec2::new(1100.0, 700.0);
const LARGE: Vec2 = Vec2::new(1920.0, 1080.0);

#[test]
fn lessons_complete_in_english_with_right_answers() {
    all_lessons(Language::En, true, Theme::Dark, USUAL);
}

#[test]
fn lessons_complete_in_english_with_wrong_answers() {
    all_lessons(Language::En, false, Theme::Light, LARGE);
}

#[test]
fn lessons_complete_in_chinese_with_right_answers() {
    all_lessons(Language::Zh, true, Theme::Light, LARGE);
}

#[test]
fn lessons_complete_in_chinese_with_wrong_answers() {
    all_lessons(Language::Zh, false, Theme::Dark, USUAL);
}

/// A lecture advances with one key and asks no questions.
#[test]
fn one_key_advances_a_whole_lecture() {
    let mut window = lesson(7, Language::En, Theme::Dark, USUAL);
    command(&mut window, Action::ToggleLecture);
    settle(&mut window);
    let steps = playing(&window).play.lesson().steps().len();
    for at in 0..steps {
        settle(&mut window);
        assert_eq!(playing(&window).play.position().0, at);
        assert!(window.state().state.learn.question().is_none());
        let scrolls = matches!(playing(&window).play.step().task, Task::Code { .. });
        assert_eq!(cut_texts(&window, scrolls), [""; 0], "step {at}");
        key(&mut window, Key::Enter);
    }
    assert_eq!(*playing(&window).play.phase(), Phase::Finished);
}

/// A click on the part itself counts as an answer, like its button.
#[test]
fn a_click_on_a_part_answers_the_question() {
    let mut window = lesson(7, Language::En, Theme::Dark, USUAL);
    key(&mut window, Key::Enter);
    settle(&mut window);
    let Answer::Click(Target::Part(part)) = right(&window) else {
        panic!("the second step of lesson 7 asks for a part");
    };
    click_part(&mut window, &part, Language::En);
    let phase = playing(&window).play.phase().clone();
    assert!(
        matches!(&phase, Phase::Answered(judged) if judged.is_right),
        "{phase:?}"
    );
}
