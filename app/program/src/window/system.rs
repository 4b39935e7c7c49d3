//! Input from the system: reduced motion, a request to close, dropped files.

use std::path::PathBuf;

use eframe::egui::{Context, ViewportCommand};
use loadscope_window::Host as _;

use super::App;
use crate::preferences::Store;
use loadscope_model::command::Action;
use loadscope_model::message::Message;
use loadscope_model::prefs::WindowPlace;
use loadscope_ui::theme;

/// Records the position and size of the window in points without zoom, as for opening it. A maximized window keeps its previous size.
fn record_window_place(ctx: &Context, place: &mut Option<WindowPlace>) {
    let zoom = ctx.zoom_factor();
    ctx.input(|input| {
        let window = input.viewport();
        let is_large = window.maximized == Some(true) || window.fullscreen == Some(true);
        match (window.inner_rect, &mut *place) {
            (_, Some(place)) if is_large => place.maximized = true,
            (Some(inner), place) if !is_large => {
                *place = Some(WindowPlace {
                    position: window.outer_rect.map(|outer| (outer.min * zoom).into()),
                    size: (inner.size() * zoom).into(),
                    maximized: false,
                });
            }
            _ => {}
        }
    });
}

impl App {
    /// Turns animations off if the user chose so, or if the system asks for it and the user does not object.
    pub(super) fn update_motion(&mut self, ctx: &Context) {
        if let Some(still) = self.system_motion.poll() {
            self.dispatch(ctx, Message::ReducedMotion(still));
        }
        theme::set_motion(ctx, !self.state.look.still);
    }

    /// Stores changed preferences every few seconds.
    pub(super) fn save_prefs_if_due(&mut self, ctx: &Context) {
        let is_due = self.store.as_mut().is_some_and(Store::is_due);
        if !is_due {
            return;
        }
        let mut place = self.state.prefs.window;
        record_window_place(ctx, &mut place);
        if place != self.state.prefs.window {
            self.dispatch(ctx, Message::Window(place));
        }
        let prefs = self.prefs();
        if let Some(store) = &mut self.store {
            store.save(&prefs);
        }
    }

    /// Handles the close button of the window frame: it asks the same question as the command.
    pub(super) fn close_request(&mut self, ctx: &Context) {
        if self.closing || !ctx.input(|i| i.viewport().close_requested()) {
            return;
        }
        self.run(ctx, Action::Quit.into());
        if !self.closing {
            ctx.send_viewport_cmd(ViewportCommand::CancelClose);
        }
    }

    pub(super) fn dropped_files(&mut self, ctx: &Context) {
        let dropped = ctx.input(|i| i.raw.dropped_files.clone());
        let paths: Vec<PathBuf> = dropped.iter().map(|f| f.path().to_owned()).collect();
        match &paths[..] {
            [] => {}
            [one] => self.check_and_open_dropped(ctx, one.clone()),
            several => self.open_all(ctx, several),
        }
    }
}

#[cfg(test)]
mod tests {
    use eframe::egui::{RawInput, Rect, ViewportId, ViewportInfo, pos2};

    use super::*;

    /// Zoomed in, as in a presentation, the window has fewer points. Its stored size must not shrink.
    #[test]
    fn the_size_of_a_window_does_not_depend_on_its_zoom() {
        for zoom in [0.8, 1.0, 1.25, 2.0] {
            let ctx = Context::default();
            ctx.set_zoom_factor(zoom);
            let inner = Rect::from_min_max(pos2(0.0, 0.0), pos2(1440.0 / zoom, 900.0 / zoom));
            let info = ViewportInfo {
                inner_rect: Some(inner),
                outer_rect: Some(inner),
                ..ViewportInfo::default()
            };
            let input = RawInput {
                viewports: std::iter::once((ViewportId::ROOT, info)).collect(),
                ..RawInput::default()
            };
            let mut place = None;
            // The zoom applies from the second frame on.
            for _ in 0..2 {
                let mut shown = ctx.run_ui(input.clone(), |ui| {
                    record_window_place(ui.ctx(), &mut place)
                });
                shown.textures_delta.clear();
            }
            let size = place.map(|place| place.size.map(f32::round));
            assert_eq!(size, Some([1440.0, 900.0]), "zoom {zoom}");
        }
    }
}
