use std::sync::Arc;

use loadscope_insight::background::Progress;
use loadscope_insight::sampling::analysis::{Question, answer};

use super::*;

fn answers() -> OrderAnalysis {
    let mut order = Order::default();
    order.push(&[0, 1, 2, 3], None, Some(0));
    let question = Question {
        recorded: Some(Arc::new(order)),
        len: Some(4),
        ..Question::default()
    };
    let answer = answer(&question, &Progress::default()).expect("wanted");
    answer.expect("an order that came")
}

/// Regression test: points of another epoch with larger indices were above the image.
#[test]
fn the_window_has_room_for_all_overlaid_epochs() {
    let mut answers = answers();
    for (epoch, indices) in [(0, [0, 1, 2, 3, 4].as_slice()), (1, &[20])] {
        answers.epochs.take(epoch, indices);
    }
    assert_eq!(whole(&answers, Coloring::Nothing), Window::whole(4, 4));
    assert_eq!(whole(&answers, Coloring::Epoch), Window::whole(5, 21));
}

/// Regression test: epochs 0 to 7 were labeled 1 to 8 if all had equal length.
#[test]
fn the_image_is_redrawn_when_the_first_epoch_changes() {
    let mut epochs = Overlay::default();
    let eight = u32::try_from(Overlay::MOST).expect("a few");
    (0..eight).for_each(|epoch| epochs.take(epoch, &[1, 2, 3]));
    let before = OverlayKey::of(&epochs);
    epochs.take(eight, &[1, 2, 3]);
    assert_eq!(before.0, epochs.points());
    assert_ne!(before, OverlayKey::of(&epochs));
}
