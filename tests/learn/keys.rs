//! Lessons without a mouse: opened, answered and finished with keys alone.

use super::*;

/// More than there is to be reached with the Tab key.
const MOST: usize = 200;

/// Goes from one widget to the next until the one with this name has the keyboard, and presses it.
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

/// Reaches the goal of a try: the solution is offered after four runs that do not.
fn reach(window: &mut Harness<'static, App>) {
    for _ in 0..4 {
        simulate(window);
    }
    tab_to_and_press(window, "Use the solution");
    window.run_steps(2);
    simulate(window);
    assert_eq!(*playing(window).play.phase(), Phase::Reached);
}

/// From the list of lessons to the end of the last one.
#[test]
fn every_lesson_is_finished_with_keys_alone() {
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
