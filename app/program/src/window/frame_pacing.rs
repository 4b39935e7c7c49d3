//! Interval between the frames of a live run. Without user input, the window is drawn less often, to leave the processors to the loader.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use eframe::egui::Context;
use eframe::glow::{self, HasContext as _};
use loadscope_model::state::State;
use loadscope_session::Waker;
use loadscope_window::LIVE_FRAME;

/// Time without user input after which the interval depends on the cost of a frame.
const UNTOUCHED: Duration = Duration::from_secs(3);

/// Maximum share of all processors for drawing an untouched window.
const SHARE: f64 = 0.02;

/// Maximum interval between frames.
const RAREST: Duration = Duration::from_secs(1);

/// CPU time per pixel without a graphics card, ns. With llvmpipe on an Intel Xeon, 24 frames of 1440×900 per second use 0.8 processors
/// (`cargo bench -p loadscope --bench window`).
const PIXEL: f64 = 25.0;

/// Returns true if processors compute the pixels: OpenGL names a software renderer.
#[expect(unsafe_code, reason = "a call of OpenGL")]
pub fn computes_pixels(gl: Option<&glow::Context>) -> bool {
    let Some(gl) = gl else { return false };
    // SAFETY: eframe returns its context where it is current, and the text is copied.
    let renderer = unsafe { gl.get_parameter_string(glow::RENDERER) }.to_lowercase();
    let computed = [
        "llvmpipe",
        "softpipe",
        "swrast",
        "swiftshader",
        "gdi generic",
    ];
    computed.iter().any(|name| renderer.contains(name))
}

/// Interval between frames, and the measurements that it depends on.
pub(super) struct FramePacing {
    /// Time of the last user input, by the window's clock.
    touched: Duration,
    /// CPU time of a frame without applying events.
    cost: Duration,
    /// Time for applying events in the last frame.
    taken_in: Duration,
    computes_pixels: bool,
    processors: usize,
    /// Interval between frames, µs. Other threads read it to request a frame.
    every: Arc<AtomicU64>,
}

impl FramePacing {
    /// Creates the pacing of a window without frames.
    pub fn new(computes_pixels: bool) -> Self {
        let processors = std::thread::available_parallelism();
        Self {
            touched: Duration::ZERO,
            cost: Duration::ZERO,
            taken_in: Duration::ZERO,
            computes_pixels,
            processors: processors.map_or(1, usize::from),
            every: Arc::new(AtomicU64::new(micros(LIVE_FRAME))),
        }
    }

    /// Returns a function that requests a frame for new data.
    pub fn waker(&self, ctx: &Context) -> Waker {
        let (ctx, every) = (ctx.clone(), Arc::clone(&self.every));
        Arc::new(move || {
            let every = Duration::from_micros(every.load(Ordering::Relaxed));
            ctx.request_repaint_after(every);
        })
    }

    /// Returns the interval between frames.
    pub fn every(&self) -> Duration {
        Duration::from_micros(self.every.load(Ordering::Relaxed))
    }

    /// Records the time for applying events in this frame.
    pub fn record_apply_time(&mut self, time: Duration) {
        self.taken_in = time;
    }

    /// Starts a frame. `last` is the time of the last frame on the window's thread. Returns true if motion need not be smooth.
    /// That requires a run at its own pace without playback, presentation or lesson, and no recent user input.
    pub fn begin(&mut self, ctx: &Context, state: &State, is_slowed: bool, last: Duration) -> bool {
        let now = state.place.platform.clock.now();
        let cost = last.saturating_sub(self.taken_in);
        if ctx.input(|input| !input.raw.events.is_empty() || !input.raw.hovered_files.is_empty()) {
            self.touched = now;
        }
        let pixels = ctx.input(|input| (input.content_rect() * input.pixels_per_point()).area());
        let computed = match self.computes_pixels {
            true => Duration::from_nanos((f64::from(pixels) * PIXEL) as u64),
            false => Duration::ZERO,
        };
        // A single frame is not representative.
        self.cost = (self.cost * 3 + cost + computed) / 4;
        let watched = state.session.playing || state.look.presenting || state.learn.page.is_some();
        let unattended = state.flows()
            && !is_slowed
            && !watched
            && now.saturating_sub(self.touched) >= UNTOUCHED;
        let every = match unattended {
            true => interval(self.cost, self.processors),
            false => LIVE_FRAME,
        };
        self.every.store(micros(every), Ordering::Relaxed);
        unattended
    }
}

/// Returns the interval at which frames with this CPU time take [`SHARE`] of all processors.
fn interval(cost: Duration, processors: usize) -> Duration {
    cost.div_f64(SHARE * processors.max(1) as f64)
        .clamp(LIVE_FRAME, RAREST)
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use eframe::egui::{Event, Pos2, RawInput};
    use loadscope_insight::platform::{Clock, Platform};
    use loadscope_model::state::Source;

    use super::*;

    /// Time of the test clock, ms.
    static NOW: AtomicU64 = AtomicU64::new(0);

    struct ByHand;

    impl Clock for ByHand {
        fn now(&self) -> Duration {
            Duration::from_millis(NOW.load(Ordering::Relaxed))
        }

        fn since_1970(&self) -> Duration {
            Duration::ZERO
        }
    }

    #[test]
    fn an_untouched_window_is_drawn_rarely_while_data_flow() {
        let ctx = Context::default();
        let mut state = State::default();
        state.place.platform = Platform {
            clock: &ByHand,
            ..Platform::default()
        };
        let mut pacing = FramePacing::new(true);
        pacing.processors = 2;
        let mut frame = |state: &State, is_slowed, events: Vec<Event>| {
            let input = RawInput {
                events,
                ..RawInput::default()
            };
            let mut unattended = false;
            let mut shown = ctx.run_ui(input, |ui| {
                unattended = pacing.begin(ui.ctx(), state, is_slowed, Duration::from_millis(4));
            });
            shown.textures_delta.clear();
            (unattended, pacing.every() > LIVE_FRAME)
        };
        NOW.store(60_000, Ordering::Relaxed);
        assert_eq!(
            frame(&state, false, vec![]),
            (false, false),
            "nothing flows"
        );
        state.session.source = Source::Live { paused: false };
        assert_eq!(frame(&state, false, vec![]), (true, true));
        assert_eq!(
            frame(&state, true, vec![]),
            (false, false),
            "a slowed run is followed by eye"
        );
        state.look.presenting = true;
        assert_eq!(
            frame(&state, false, vec![]),
            (false, false),
            "an audience looks at it"
        );
        state.look.presenting = false;
        let moved = vec![Event::PointerMoved(Pos2::new(3.0, 4.0))];
        assert_eq!(
            frame(&state, false, moved),
            (false, false),
            "at once when it is touched"
        );
        NOW.fetch_add(2_900, Ordering::Relaxed);
        assert_eq!(
            frame(&state, false, vec![]),
            (false, false),
            "and for a while after"
        );
        NOW.fetch_add(200, Ordering::Relaxed);
        assert_eq!(frame(&state, false, vec![]), (true, true));
    }

    #[test]
    fn the_frame_interval_limits_the_share_of_drawing() {
        let ms = Duration::from_millis;
        // The cases are a graphics card with 2 processors, software rendering with 2 and with 16 processors, and two extremes.
        assert_eq!(interval(ms(5), 2), ms(125));
        assert_eq!(interval(ms(37), 2), ms(925));
        assert_eq!(interval(ms(37), 16).as_millis(), 115);
        assert_eq!(interval(ms(1), 16), LIVE_FRAME);
        assert_eq!(interval(ms(400), 1), RAREST);
    }
}
