//! Content of the screen, for tests: each text with its center and size in points, the source of the run, and frame times.

use std::cell::RefCell;
use std::time::Duration;

use eframe::egui::epaint::ClippedShape;
use eframe::egui::{Context, FullOutput, Plugin, Shape};
use loadscope_model::state::{Source, State};
use serde_json::{Value, json};

use crate::platform::PLATFORM;

#[derive(Default)]
struct Screen {
    is_requested: bool,
    state: Value,
    answer: String,
    /// Longest frame since the last answer, and start of the current frame.
    longest: Duration,
    began: Option<Duration>,
    frames: u32,
}

thread_local! {
    static SCREEN: RefCell<Screen> = RefCell::default();
}

/// Clears the last answer.
pub(crate) fn clear_answer() {
    SCREEN.with_borrow_mut(|screen| screen.answer.clear());
}

/// Returns the last answer.
pub(crate) fn answer() -> String {
    SCREEN.with_borrow(|screen| screen.answer.clone())
}

/// Requests the texts of the current frame.
pub(crate) fn request(state: &State) {
    let source = match &state.session.source {
        Source::None => "none",
        Source::Loading { .. } => "loading",
        Source::Simulating => "simulating",
        Source::Live { .. } => "live",
        Source::Finished => "finished",
        Source::Recording { .. } => "recording",
    };
    let run = &state.session.run;
    let all = state.session.loaders.all(run);
    SCREEN.with_borrow_mut(|screen| {
        screen.is_requested = true;
        screen.state = json!({
            "source": source,
            "events": all.iter().map(|(_, run)| run.events()).sum::<u64>(),
            "batches": run.batches().len(),
            "batches_of_all": all.iter().map(|(_, run)| run.batches().len()).sum::<usize>(),
            "yielded": all.iter().map(|(_, run)| run.yields().all().len()).sum::<usize>(),
            "at": PLATFORM.clock.since_1970().as_secs_f64(),
            "loaders": state.session.loaders.count(),
            "step": state.step(),
        });
    });
}

/// Records the start of a frame.
pub(crate) fn begin_frame() {
    SCREEN.with_borrow_mut(|screen| screen.began = Some(PLATFORM.clock.now()));
}

/// Plugin that reads the drawn texts.
pub(crate) struct ScreenReader;

impl Plugin for ScreenReader {
    fn debug_name(&self) -> &'static str {
        "screen"
    }

    fn output_hook(&mut self, _ctx: &Context, output: &mut FullOutput) {
        SCREEN.with_borrow_mut(|screen| {
            if let Some(began) = screen.began.take() {
                let took = PLATFORM.clock.now().saturating_sub(began);
                screen.longest = screen.longest.max(took);
                screen.frames += 1;
            }
            if !screen.is_requested {
                return;
            }
            screen.is_requested = false;
            let mut texts = Vec::new();
            for ClippedShape {
                clip_rect, shape, ..
            } in &output.shapes
            {
                visit_texts(shape, &mut |text| {
                    let rect = text.visual_bounding_rect();
                    if clip_rect.intersects(rect) && !text.galley.text().trim().is_empty() {
                        let seen = rect.intersect(*clip_rect);
                        let (at, size) = (seen.center(), seen.size());
                        texts.push(json!([text.galley.text(), at.x, at.y, size.x, size.y]));
                    }
                });
            }
            screen.answer = json!({
                "texts": texts,
                "state": screen.state,
                "longest_ms": screen.longest.as_secs_f64() * 1e3,
                "frames": screen.frames,
            })
            .to_string();
            screen.longest = Duration::ZERO;
            screen.frames = 0;
        });
    }
}

fn visit_texts(shape: &Shape, visit: &mut impl FnMut(&eframe::egui::epaint::TextShape)) {
    match shape {
        Shape::Vec(shapes) => shapes.iter().for_each(|shape| visit_texts(shape, visit)),
        Shape::Text(text) => visit(text),
        _ => {}
    }
}
