//! Animation between two views. Drags and scrolls apply immediately, commands are animated.

use loadscope_trace::Nanos;

use loadscope_model::view::TimeView;

/// Displayed view, during an animation to another one.
#[derive(Debug, Default)]
pub struct ViewAnimation {
    /// View in the last frame.
    shown: Option<TimeView>,
    /// View requested by the state in the last frame.
    wanted: Option<Option<TimeView>>,
    /// View requested by the timeline itself.
    own: Option<TimeView>,
    /// Start of the animation: the view and the time in seconds.
    from: Option<(TimeView, f64)>,
}

impl ViewAnimation {
    /// Duration of the animation, seconds.
    const TIME: f64 = 0.12;

    /// Returns the view to show at `now` (seconds). The state requests `wanted`, which resolves to `target`.
    pub fn update(
        &mut self,
        wanted: Option<TimeView>,
        target: TimeView,
        now: f64,
        still: bool,
    ) -> TimeView {
        let changed = self.wanted.is_some_and(|before| before != wanted);
        if changed {
            let jump = still || (wanted.is_some() && wanted == self.own);
            self.from = self.shown.filter(|_| !jump).map(|shown| (shown, now));
        }
        self.wanted = Some(wanted);
        let shown = match self.from {
            Some((from, since)) if now - since < Self::TIME => {
                between(from, target, (now - since) / Self::TIME)
            }
            _ => {
                self.from = None;
                target
            }
        };
        self.shown = Some(shown);
        shown
    }

    /// Marks the next change to `view` as one of the timeline itself.
    pub fn skip_for(&mut self, view: TimeView) {
        self.own = Some(view);
    }

    /// Returns true during an animation.
    pub fn is_moving(&self) -> bool {
        self.from.is_some()
    }
}

/// Interpolates between two views. The animation starts fast and slows down.
fn between(a: TimeView, b: TimeView, share: f64) -> TimeView {
    let eased = 1.0 - (1.0 - share.clamp(0.0, 1.0)).powi(3);
    let mix = |a: Nanos, b: Nanos| a + Nanos(((b - a).0 as f64 * eased).round() as i64);
    TimeView::new(mix(a.start, b.start), mix(a.end, b.end))
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: TimeView = TimeView {
        start: Nanos(0),
        end: Nanos(1_000_000),
    };
    const B: TimeView = TimeView {
        start: Nanos(400_000),
        end: Nanos(600_000),
    };

    #[test]
    fn commands_animate_the_view_and_direct_input_does_not() {
        let mut animation = ViewAnimation::default();
        assert_eq!(animation.update(None, A, 0.0, false), A);
        let half = animation.update(Some(B), B, 1.0, false);
        assert_eq!(half, A, "it begins where it was");
        let half = animation.update(Some(B), B, 1.06, false);
        assert!(half.start > A.start && half.start < B.start && animation.is_moving());
        assert_eq!(animation.update(Some(B), B, 1.2, false), B);
        assert!(!animation.is_moving());

        animation.skip_for(A);
        assert_eq!(animation.update(Some(A), A, 2.0, false), A);
        assert_eq!(animation.update(Some(B), B, 3.0, true), B, "still");
    }

    #[test]
    fn following_a_live_run_is_not_animated() {
        let mut animation = ViewAnimation::default();
        animation.update(None, A, 0.0, false);
        assert_eq!(animation.update(None, B, 0.01, false), B);
        assert!(!animation.is_moving());
    }
}
