//! Scatter plot of position × index, with one point per sample. It is an image with the screen's resolution, so that ten million points
//! cost no more than a thousand.

use std::sync::Arc;

use egui::{
    self, Color32, Pos2, Rect, Response, Role, Sense, Stroke, StrokeKind, TextureHandle,
    TextureOptions, Ui, Vec2, WidgetInfo, pos2, vec2,
};

use crate::theme::Palette;
use loadscope_insight::background::{Background, Outcome};
use loadscope_insight::format::count;
use loadscope_insight::platform::Platform;
use loadscope_insight::sampling::analysis::OrderAnalysis;
use loadscope_insight::sampling::coloring::Coloring;
use loadscope_insight::sampling::order::Order;
use loadscope_insight::sampling::overlay::Overlay;
use loadscope_insight::sampling::raster::{Raster, Window};
use loadscope_words::say;

/// Margins for the axis labels and the controls, points.
const LEFT: f32 = 64.0;
const BELOW: f32 = 36.0;
const ABOVE: f32 = 32.0;
const RIGHT: f32 = 12.0;
/// Height of the buttons above the upper right corner, their widths (all, zoom out, zoom in), and the space between them, points.
const BUTTON: f32 = 20.0;
const BUTTONS: [f32; 3] = [40.0, BUTTON, BUTTON];
const BETWEEN: f32 = 2.0;
/// Maximum number of points drawn within a frame. More points are drawn in the background.
const SYNC_LIMIT: usize = 200_000;

mod colors;
mod view;

pub use colors::group_color;
use colors::{choice, picture};
use view::View;
pub use view::{Marks, short};

/// Result of pointer input, as positions in the order.
#[derive(Default)]
pub struct PointerResult {
    /// Hovered point.
    pub hovered: Option<usize>,
    /// Clicked point.
    pub clicked: Option<usize>,
    /// New coloring of the points.
    pub coloring: Option<Coloring>,
}

/// Everything that an image depends on.
#[derive(Clone)]
struct Key {
    order: Arc<Order>,
    window: Window,
    pixels: (usize, usize),
    dot: usize,
    by: Coloring,
    overlaid: Option<OverlayKey>,
}

/// Identity of overlaid orders: their number of points, and the numbers of the first and last order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct OverlayKey(usize, Option<(u32, u32)>);

impl OverlayKey {
    fn of(overlay: &Overlay) -> Self {
        Self(overlay.points(), overlay.ends())
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.order, &other.order)
            && self.window == other.window
            && (self.pixels, self.dot) == (other.pixels, other.dot)
            && (self.by, self.overlaid) == (other.by, other.overlaid)
    }
}

/// Scatter plot with its cached image.
#[derive(Default)]
pub struct Scatter {
    /// Visible part. `None` is the whole order.
    window: Option<Window>,
    whole: Option<Window>,
    raster: Option<(Key, Raster)>,
    job: Option<(Key, Background<Raster>)>,
    texture: Option<(Key, bool, TextureHandle)>,
}

impl Scatter {
    /// Shows the plot in `size` points, colored by `by`.
    pub fn show(
        &mut self,
        ui: &mut Ui,
        platform: Platform,
        size: Vec2,
        answers: &Arc<OrderAnalysis>,
        (marks, by): (&Marks, Coloring),
    ) -> PointerResult {
        let palette = Palette::of(ui);
        let (outer, _) = ui.allocate_exact_size(size, Sense::hover());
        let rect = Rect::from_min_max(
            outer.min + vec2(LEFT, ABOVE),
            outer.max - vec2(RIGHT, BELOW),
        );
        if rect.width() < 16.0 || rect.height() < 16.0 {
            return PointerResult::default();
        }
        let whole = whole(answers, by);
        // A zoomed view keeps its place while the order grows.
        let fits = |before: &Window| {
            before.indices == whole.indices && before.positions.end <= whole.positions.end
        };
        if !self.whole.as_ref().is_some_and(fits) {
            self.window = None;
        }
        self.whole = Some(whole.clone());
        let response = ui.interact(rect, ui.scope_id().with("scatter"), Sense::click_and_drag());
        response.widget_info(|| {
            let text = say!("Position × index: {}", answers.headline());
            WidgetInfo::labeled(Role::Image, true, text)
        });
        self.handle_input(ui, &response, &whole);
        let window = self.window.clone().unwrap_or_else(|| whole.clone());
        let view = View {
            rect,
            window: &window,
        };
        view.axes(ui, palette);
        self.paint(ui, platform, &view, answers, (marks.selected.is_some(), by));
        view.marks(ui, answers, marks, palette);
        ui.painter().rect_stroke(
            rect,
            0.0,
            Stroke::new(1.0, palette.line),
            StrokeKind::Outside,
        );
        self.buttons(ui, rect, &whole);
        let buttons = BUTTONS.iter().map(|width| width + BETWEEN).sum::<f32>() - BETWEEN;
        colors::legend(ui, rect, answers, by, buttons);
        let mut pointed = PointerResult {
            hovered: response
                .hover_pos()
                .and_then(|at| view.nearest(answers, at)),
            clicked: None,
            coloring: choice(ui, rect, answers, by),
        };
        if let Some(position) = pointed.hovered {
            tooltip(&response, answers, position);
            if response.clicked() {
                pointed.clicked = Some(position);
            }
            if response.dragged() {
                pointed.hovered = None;
            }
        }
        pointed
    }

    /// Handles input: Ctrl+wheel zooms at the pointer, a drag moves, a double click shows everything.
    fn handle_input(&mut self, ui: &Ui, response: &Response, whole: &Window) {
        let rect = response.rect;
        let window = self.window.clone().unwrap_or_else(|| whole.clone());
        if let Some(at) = response.hover_pos() {
            let (zoom, scroll) = ui.input(|i| (i.zoom_delta(), i.smooth_scroll_delta()));
            let shift = ui.input(|i| i.modifiers.shift);
            let x = f64::from((at.x - rect.left()) / rect.width());
            let y = f64::from((rect.bottom() - at.y) / rect.height());
            if zoom != 1.0 {
                let factor = f64::from(zoom);
                self.set(window.zoomed((factor, factor), x, y, whole), whole);
            } else if shift && scroll != Vec2::ZERO {
                let by = f64::from(-(scroll.x + scroll.y) / rect.width());
                self.set(window.moved(by, 0.0, whole), whole);
            }
        }
        if response.dragged() {
            let by = response.drag_delta();
            let (x, y) = (-by.x / rect.width(), by.y / rect.height());
            self.set(window.moved(f64::from(x), f64::from(y), whole), whole);
        }
        if response.double_clicked() {
            self.window = None;
        }
    }

    fn set(&mut self, window: Window, whole: &Window) {
        self.window = (window != *whole).then_some(window);
    }

    /// Shows the zoom buttons, for the keyboard and for users without a wheel.
    fn buttons(&mut self, ui: &mut Ui, rect: Rect, whole: &Window) {
        let window = self.window.clone().unwrap_or_else(|| whole.clone());
        let is_part = self.window.is_some();
        let all = [
            (say!("All"), say!("Show the whole order"), None, is_part),
            ("−", say!("Zoom out of the order"), Some(0.5), is_part),
            ("+", say!("Zoom into the order"), Some(2.0), true),
        ];
        let mut right = rect.right();
        for ((text, name, factor, on), width) in all.into_iter().zip(BUTTONS).rev() {
            let top = rect.top() - 6.0 - BUTTON;
            let place = Rect::from_min_size(pos2(right - width, top), vec2(width, BUTTON));
            right -= width + BETWEEN;
            if !on {
                continue;
            }
            // A separate child prevents the button from moving the widgets after it.
            let mut child = ui.new_child(egui::UiBuilder::new().max_rect(place));
            child.spacing_mut().button_padding = Vec2::ZERO;
            let response = child.add_sized(place.size(), egui::Button::new(text));
            response.widget_info(|| WidgetInfo::labeled(Role::Button, true, name));
            if response.on_hover_text(name).clicked() {
                let zoomed = factor.map(|f| window.zoomed((f, f), 0.5, 0.5, whole));
                self.window = zoomed.filter(|zoomed| zoomed != whole);
            }
        }
    }

    fn paint(
        &mut self,
        ui: &Ui,
        platform: Platform,
        view: &View<'_>,
        answers: &Arc<OrderAnalysis>,
        (is_dimmed, by): (bool, Coloring),
    ) {
        let scale = ui.pixels_per_point();
        let most = ui.input(|i| i.max_texture_side).min(4096);
        let pixels = |points: f32| ((points * scale).round() as usize).clamp(1, most);
        let overlay = by.overlay(answers);
        let positions = overlay.map_or(answers.positions, Overlay::longest);
        let visible =
            view.window.visible(positions).len() * overlay.map_or(1, |o| o.layers().len());
        let key = Key {
            order: Arc::clone(&answers.order),
            window: view.window.clone(),
            pixels: (pixels(view.rect.width()), pixels(view.rect.height())),
            dot: (dot(visible) * scale).round().max(1.0) as usize,
            by,
            overlaid: overlay.map(OverlayKey::of),
        };
        self.rasterise(ui, platform, &key, answers, visible);
        let Some((made_of, raster)) = &self.raster else {
            return;
        };
        let palette = Palette::of(ui);
        let is_new = |t: &(Key, bool, TextureHandle)| t.0 != *made_of || t.1 != palette.dark;
        if self.texture.as_ref().is_none_or(is_new) {
            let image = picture(raster, palette);
            let name = say!("position × index");
            let texture = ui.load_texture(name, image, TextureOptions::NEAREST);
            self.texture = Some((made_of.clone(), palette.dark, texture));
        }
        if let Some((_, _, texture)) = &self.texture {
            // While a new image is drawn, the old one is placed where its points are now.
            let place = view.place_of(&made_of.window);
            let tint = Color32::WHITE.gamma_multiply(if is_dimmed { 0.35 } else { 1.0 });
            let uv = Rect::from_min_max(Pos2::ZERO, pos2(1.0, 1.0));
            ui.painter()
                .with_clip_rect(view.rect)
                .image(texture.id(), place, uv, tint);
        }
    }

    /// Ensures that the image for `key` exists or is being drawn.
    fn rasterise(
        &mut self,
        ui: &Ui,
        platform: Platform,
        key: &Key,
        answers: &Arc<OrderAnalysis>,
        visible: usize,
    ) {
        if let Some((made_of, job)) = &self.job {
            match job.take() {
                Outcome::NotYet => {}
                Outcome::Ready(raster) => {
                    self.raster = Some((made_of.clone(), raster));
                    self.job = None;
                }
                Outcome::Broken => self.job = None,
            }
        }
        if self.raster.as_ref().is_some_and(|(k, _)| k == key) {
            self.job = None;
            return;
        }
        let of = |answers: &OrderAnalysis, key: &Key| {
            if let Some(overlay) = key.by.overlay(answers) {
                return Raster::overlaid(overlay, &key.window, key.pixels, key.dot);
            }
            let group = (key.by != Coloring::Nothing).then(|| key.by.groups(answers));
            let indices = &answers.order.indices;
            Raster::grouped(indices, &key.window, key.pixels, key.dot, group)
        };
        if visible <= SYNC_LIMIT {
            self.raster = Some((key.clone(), of(answers, key)));
        } else if self.job.is_none() {
            // Only one job runs at a time. The latest view is drawn when the current job ends.
            let (whole, asked, waker) = (Arc::clone(answers), key.clone(), ui.ctx().clone());
            let job = Background::start(
                platform.jobs,
                "scatter",
                move || waker.request_repaint(),
                move |_| Ok(of(&whole, &asked)),
            );
            match job {
                Ok(job) => self.job = Some((key.clone(), job)),
                Err(_) => self.raster = Some((key.clone(), of(answers, key))),
            }
        }
    }
}

/// Returns the range of the order and of all orders in the overlay.
fn whole(answers: &OrderAnalysis, by: Coloring) -> Window {
    let overlay = by.overlay(answers);
    let longest = overlay.map_or(0, Overlay::longest);
    let bound = overlay.map_or(0, Overlay::bound).max(highest(answers));
    Window::whole(
        answers.positions.max(longest),
        answers.coverage.bound.max(bound),
    )
}

/// Returns the highest index plus one if the sampler's indices exceed the dataset, and otherwise 0.
fn highest(answers: &OrderAnalysis) -> u64 {
    match answers.coverage.outside {
        0 => 0,
        _ => answers
            .order
            .indices
            .iter()
            .max()
            .map_or(0, |i| i.saturating_add(1)),
    }
}

/// Returns the size of a point, points. Points are larger if there are few.
fn dot(points: usize) -> f32 {
    match points {
        0..=400 => 5.0,
        401..=2_500 => 3.0,
        2_501..=40_000 => 2.0,
        _ => 1.0,
    }
}

/// Returns the class of a sample, by name if it has one.
fn class_of(answers: &OrderAnalysis, index: u64) -> Option<String> {
    let label = answers.labels.as_ref()?.get(index)?;
    let classes = answers
        .balance
        .as_ref()
        .filter(|balance| !balance.is_by_weight);
    let name = classes.and_then(|balance| balance.classes.get(label as usize));
    Some(name.map_or_else(|| label.to_string(), |class| class.name.clone()))
}

fn tooltip(response: &Response, answers: &OrderAnalysis, position: usize) {
    let order = &answers.order;
    let Some(index) = order.indices.get(position) else {
        return;
    };
    let batch = order.batch_at(position);
    let worker = batch.and_then(|b| order.workers.get(b).copied().flatten());
    response.clone().on_hover_ui_at_pointer(|ui| {
        ui.set_max_width(280.0);
        ui.label(say!("Index {}", count(*index)));
        let place = say!("Position {} in the epoch", count(position as u64));
        ui.label(place);
        if let Some(batch) = batch {
            let who = worker.map_or(String::new(), |w| say!(", worker {w}"));
            ui.label(say!("Batch {}{who}", count(batch as u64)));
        }
        if let Some(class) = class_of(answers, *index) {
            ui.label(say!("Class {class}"));
        }
    });
}

#[cfg(test)]
mod tests;
