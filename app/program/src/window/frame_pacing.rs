//! How often the window is drawn while data flow and the user leaves it alone: the processors are the loader's then.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use eframe::egui::Context;
use eframe::glow::{self, HasContext as _};
use loadscope_model::state::State;
use loadscope_session::Waker;
use loadscope_window::LIVE_FRAME;

/// Untouched for so long, the window is drawn as rarely as its cost asks for.
const UNTOUCHED: Duration = Duration::from_secs(3);

/// Of the time of all processors, what drawing may take then.
const SHARE: f64 = 0.02;

/// However much it costs, it is drawn so often.
const RAREST: Duration = Duration::from_secs(1);

/// What a processor takes for a pixel where there is no graphics card, ns: 0.8 processors draw 24 frames of 1440×900 a second with
/// llvmpipe on an Intel Xeon (`cargo bench -p loadscope --bench window`).
const PIXEL: f64 = 25.0;

/// True if processors compute the pixels: OpenGL's renderer is one of those that need no graphics card.
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

/// When the next frame is due.
pub(super) struct FramePacing {
    /// When the user last did something, by the window's clock.
    touched: Duration,
    /// What a frame takes of a processor, without taking in events.
    cost: Duration,
    /// What taking in the last events took.
    taken_in: Duration,
    computes_pixels: bool,
    processors: usize,
    /// Until the next frame, µs: also for threads that have something new.
    every: Arc<AtomicU64>,
}

impl FramePacing {
    /// Nothing was drawn yet.
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

    /// Has the window drawn when something is new.
    pub fn waker(&self, ctx: &Context) -> Waker {
        let (ctx, every) = (ctx.clone(), Arc::clone(&self.every));
        Arc::new(move || {
            let every = Duration::from_micros(every.load(Ordering::Relaxed));
            ctx.request_repaint_after(every);
        })
    }

    /// Until the next frame.
    pub fn every(&self) -> Duration {
        Duration::from_micros(self.every.load(Ordering::Relaxed))
    }

    /// So long it took to take in what is new in this frame.
    pub fn took_in(&mut self, time: Duration) {
        self.taken_in = time;
    }

    /// A frame begins; the last one took so much of the window's thread. True if it need not be smooth: the
    /// loader runs at its own pace, nothing is played, presented or learned, and the user has left the window alone for a while.
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
        // One frame alone says little.
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

/// From one frame to the next, so that frames that take `cost` of a processor take [`SHARE`] of all.
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

    /// ms.
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
    fn drawing_takes_its_share_of_the_processors() {
        let ms = Duration::from_millis;
        // A graphics card on two processors, computed pixels there, the same on sixteen, and frames that cost nearly nothing.
        assert_eq!(interval(ms(5), 2), ms(125));
        assert_eq!(interval(ms(37), 2), ms(925));
        assert_eq!(interval(ms(37), 16).as_millis(), 115);
        assert_eq!(interval(ms(1), 16), LIVE_FRAME);
        assert_eq!(interval(ms(400), 1), RAREST);
    }
}
