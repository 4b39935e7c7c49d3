//! Tests of lessons by keyboard only.

use eframe::egui::Event;

use super::*;

/// Maximum number of Tab presses, more than there are widgets.
const MOST: usize = 200;

/// Presses Tab until the widget with this name has the focus, then activates it.
fn tab_to_and_press(window: &mut Harness<'static, App>, label: &str) {
    for _ in 0..MOST {
        let mut nodes = window.query_all_by_label(label);
        if nodes.any(|node| node.accesskit_node().is_focused()) {
            drop(nodes);
            key(window, Key::Space);
            return;
        }
        drop(nodes);
        window.key_press(Key::Tab);
        window.run_steps(1);
    }
    panic!("{label} is not reached with the Tab key");
}

fn simulate(window: &mut Harness<'static, App>) {
    window.key_press_modifiers(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::R);
    window.run_steps(2);
    settle(window);
}

/// Reaches the goal of a trial. The solution is offered after four failed runs.
fn reach(window: &mut Harness<'static, App>) {
    for _ in 0..4 {
        simulate(window);
    }
    tab_to_and_press(window, "Use the solution");
    window.run_steps(2);
    simulate(window);
    assert_eq!(*playing(window).play.phase(), Phase::Reached);
}

/// Opens the first lesson in the list and finishes all lessons.
#[test]
fn every_lesson_can_be_finished_in_the_window_by_keyboard() {
    let mut window = Window {
        size: Vec2::new(1100.0, 700.0),
        ..Window::new()
    }
    .open();
    window.key_press_modifiers(Modifiers::COMMAND, Key::L);
    window.run_steps(3);
    tab_to_and_press(&mut window, "1  From index to batch");
    for number in 1..=loadscope_lessons::LESSONS as u32 {
        settle(&mut window);
        assert_eq!(playing(&window).play.lesson().number, number);
        let steps = playing(&window).play.lesson().steps().len();
        for at in 0..steps {
            settle(&mut window);
            let what = format!("lesson {number}, step {at}");
            assert_eq!(playing(&window).play.position().0, at, "{what}");
            match playing(&window).play.step().task {
                Task::Predict { .. } => {
                    let given = right(&window);
                    answer(&mut window, &given);
                    let phase = playing(&window).play.phase().clone();
                    let is_right = matches!(&phase, Phase::Answered(judged) if judged.is_right);
                    assert!(is_right, "{what}: {given:?}");
                    settle(&mut window);
                }
                Task::Try(_) => reach(&mut window),
                Task::Look { .. } | Task::Code { .. } => {}
            }
            key(&mut window, Key::Enter);
        }
        assert_eq!(*playing(&window).play.phase(), Phase::Finished);
        key(&mut window, Key::Enter);
    }
    window.run_steps(2);
    let state = &window.state().state;
    assert!(state.learn.shows_contents());
    let progress = &state.prefs.learned.progress;
    assert_eq!(progress.lessons_done(), loadscope_lessons::LESSONS);
}

/// Opens the first step with this kind of question.
fn open_question(window: &mut Harness<'static, App>, is_it: fn(&Kind) -> bool) {
    for number in 1..=loadscope_lessons::LESSONS as u32 {
        command(window, LearnCommand::Lesson(number));
        settle(window);
        let steps = playing(window).play.lesson().steps().len();
        for _ in 0..steps {
            let question = window.state().state.learn.question();
            if question.is_some_and(|question| is_it(&question.kind)) {
                return;
            }
            let action = match playing(window).play.can_advance() {
                true => Action::GoOn,
                false => Action::SkipStep,
            };
            command(window, action);
            settle(window);
        }
    }
    panic!("no lesson asks in this way");
}

fn is_asking(window: &Harness<'static, App>) -> bool {
    *playing(window).play.phase() == Phase::Asking
}

/// A digit selects and Enter answers, so the user sees the explanation.
#[test]
fn a_digit_selects_a_choice_and_enter_answers() {
    let mut window = Window::new().open();
    open_question(&mut window, |kind| matches!(kind, Kind::Choice(_)));
    let workspace = window.state().state.prefs.workspace;
    for digit in [Key::Num2, Key::Num1, Key::Num9] {
        key(&mut window, digit);
        assert!(is_asking(&window));
        assert_eq!(window.state().state.prefs.workspace, workspace);
    }
    assert_eq!(stage(&window).draft.chosen, Some(0));
    key(&mut window, Key::Enter);
    assert!(matches!(playing(&window).play.phase(), Phase::Answered(_)));
}

/// An empty field keeps the focus, and one Shift+Enter skips it.
#[test]
fn a_number_field_keeps_the_focus_until_answered() {
    let mut window = Window::new().open();
    open_question(&mut window, |kind| matches!(kind, Kind::Number { .. }));
    for _ in 0..2 {
        key(&mut window, Key::Enter);
        assert!(is_asking(&window));
    }
    window.run_steps(2);
    assert!(window.ctx.text_edit_focused(), "the field has the keyboard");
    window.get_by_role(Role::TextInput).type_text("12");
    window.run_steps(2);
    assert_eq!(stage(&window).draft.number, "12");
    let step = playing(&window).play.position().0;
    window.key_press_modifiers(Modifiers::SHIFT, Key::Enter);
    window.run_steps(2);
    assert_eq!(playing(&window).play.position().0, step + 1);
}

/// Keys between two frames are processed in order.
#[test]
fn an_order_typed_within_one_frame_is_complete() {
    let mut window = Window::new().open();
    open_question(&mut window, |kind| matches!(kind, Kind::Order(_)));
    let workspace = window.state().state.prefs.workspace;
    let Answer::Order(order) = right(&window) else {
        panic!("it asks for an order");
    };
    for at in &order {
        window.key_press(digit(*at));
    }
    window.run_steps(2);
    assert_eq!(stage(&window).draft.order, order);
    assert_eq!(window.state().state.prefs.workspace, workspace);
    assert!(is_asking(&window));
}

/// Regression test: *Close* scrolled away with the list, and the workspace tabs lit up although nothing changed.
#[test]
fn the_close_button_of_the_lesson_list_stays_visible() {
    let mut window = Window {
        size: Vec2::new(760.0, 480.0),
        ..Window::new()
    }
    .open();
    window.key_press_modifiers(Modifiers::COMMAND, Key::L);
    window.run_steps(3);
    let screen = window.ctx.content_rect();
    let place = |window: &Harness<'static, App>| window.get_by_label("Close").rect();
    let before = place(&window);
    assert!(screen.contains_rect(before), "{before:?}");
    let is_lit = |window: &Harness<'static, App>| {
        let mut tabs = ["Debug", "Sampling", "Diagnose"].into_iter();
        tabs.any(|name| {
            let tab = window.get_by_role_and_label(Role::Button, name);
            let toggled = tab.accesskit_node().toggled();
            toggled == Some(eframe::egui::accesskit::Toggled::True)
        })
    };
    assert!(!is_lit(&window), "the list is not a workspace");
    window.event(Event::PointerMoved(screen.center()));
    for _ in 0..20 {
        window.event(Event::MouseWheel {
            unit: eframe::egui::MouseWheelUnit::Point,
            delta: Vec2::new(0.0, -400.0),
            phase: eframe::egui::TouchPhase::Move,
            source: eframe::egui::MouseWheelSource::Unknown,
            modifiers: Modifiers::NONE,
        });
        window.run_steps(2);
    }
    assert_eq!(place(&window), before, "it is not scrolled away");
    window
        .get_by_role_and_label(Role::Button, "Diagnose")
        .click();
    window.run_steps(3);
    assert!(window.state().state.learn.page.is_none());
    assert!(is_lit(&window));
}

/// Regression test: Enter removed the focus from a field without a number, and later digits were lost.
#[test]
fn a_number_field_keeps_the_focus_after_an_empty_enter() {
    let mut found = 0;
    for number in 1..=loadscope_lessons::LESSONS as u32 {
        let mut window = lesson(number, Language::En, Theme::Dark, Vec2::new(1100.0, 700.0));
        let asks_number = |window: &Harness<'static, App>| {
            let question = window.state().state.learn.question();
            question.is_some_and(|q| matches!(q.kind, Kind::Number { .. }))
        };
        while !asks_number(&window) && *playing(&window).play.phase() != Phase::Finished {
            command(&mut window, Action::SkipStep);
            command(&mut window, Action::GoOn);
            settle(&mut window);
        }
        if !asks_number(&window) {
            continue;
        }
        found += 1;
        let given = right(&window);
        let Answer::Number(value) = given else {
            panic!("{given:?} is no number");
        };
        for text in ["", "two"] {
            window.event(Event::Text(text.to_owned()));
            window.run_steps(2);
            key(&mut window, Key::Enter);
            let field = window.get_by_role(Role::TextInput);
            assert!(field.accesskit_node().is_focused(), "after {text:?}");
            for _ in text.chars() {
                key(&mut window, Key::Backspace);
            }
        }
        window.event(Event::Text(value.to_string()));
        window.run_steps(2);
        key(&mut window, Key::Enter);
        let phase = playing(&window).play.phase().clone();
        assert!(matches!(phase, Phase::Answered(_)), "{phase:?}");
        if found == 2 {
            return;
        }
    }
    assert!(found > 0, "lessons ask for numbers");
}
