//! Steps of each frame, common to desktop and browser.

use std::time::Duration;

use egui::{Context, Ui};
use loadscope_model::message::Message;
use loadscope_model::update::takes_place;
use loadscope_trace::Nanos;

use crate::Host;
use crate::keys;

/// Maximum time per frame for searching.
const SEARCH: Duration = Duration::from_millis(4);

/// Maximum elapsed time of a frame. A frame after a long pause must not jump.
const LONGEST: Duration = Duration::from_millis(100);

/// Performs the step of a frame: keys, playback and background calculations.
/// New data were applied before. `more` is true if further data wait.
pub fn step(host: &mut impl Host, ctx: &Context, more: bool) {
    let now = host.state().place.platform.clock.now();
    let before = host.window().last_frame_start.replace(now);
    let elapsed = before.map_or(Duration::ZERO, |before| now.saturating_sub(before));
    keys::handle_input(host, ctx);
    host.window().clear_on_language_change();
    host.dispatch(
        ctx,
        Message::Frame {
            elapsed: Nanos::from(elapsed.min(LONGEST)),
            search: SEARCH,
        },
    );
    let (model, window) = host.model_and_window();
    if let Some(answers) = window.jobs.update(ctx, model) {
        host.dispatch(ctx, Message::Results(Box::new(answers)));
    }
    prepare_lesson(host, ctx);
    let state = host.state();
    if more || state.learn.is_moving() || !state.look.search.is_complete(&state.session.run) {
        ctx.request_repaint();
    } else if state.session.playing || state.flows() {
        ctx.request_repaint_after(host.frame_interval());
    }
}

/// Takes prepared data for the open lesson, and starts new jobs for it.
fn prepare_lesson(host: &mut impl Host, ctx: &Context) {
    let wake = ctx.clone();
    let (model, window) = host.model_and_window();
    let prepared = window
        .preparing
        .update(model, move || wake.request_repaint());
    let Some(message) = prepared else { return };
    let replaces = match &message {
        Message::Prepared(prepared) => takes_place(host.state(), prepared),
        _ => false,
    };
    if replaces {
        host.retain_shown_run();
    }
    host.dispatch(ctx, message);
    if replaces {
        host.evict_runs(ctx);
    }
}

/// Draws the window and performs the requested commands.
pub fn draw(host: &mut impl Host, ui: &mut Ui) {
    let clock = host.state().place.platform.clock;
    let start = clock.now();
    let ctx = ui.ctx().clone();
    host.dispatch(&ctx, Message::Drawing);
    let (model, window) = host.model_and_window();
    window.verdict.refresh(&ctx, model);
    crate::layout::zoom(&ctx, model);
    let commands = window.show(ui, model);
    let acted = !commands.is_empty();
    for command in commands {
        host.run(&ctx, command);
    }
    let state = host.state();
    // Changes of a command are drawn at once, not with the next movement of the pointer.
    if acted && state.session.hovered != state.session.hovering {
        ctx.request_repaint();
    }
    if !state.place.still_for_now {
        let took = clock.now().saturating_sub(start).as_secs_f32() * 1e3;
        host.dispatch(&ctx, Message::Drawn { ms: took });
    }
}
