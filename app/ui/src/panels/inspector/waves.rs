//! Waveforms: a curve per channel, a spectrogram below and the duration.

use egui::{
    Color32, ColorImage, Mesh, Rect, RichText, Role, Sense, Shape, Stroke, TextureHandle,
    TextureOptions, Ui, WidgetInfo, pos2, vec2,
};
use loadscope_insight::content::Waveforms;
use loadscope_insight::format;
use loadscope_trace::{BatchContent, FieldData};
use loadscope_words::say;

use super::pictures::Captions;
use crate::kit::titles::section_with;
use crate::theme::{Palette, mono, size, space};

/// Heights of a curve and of a spectrogram, points.
const CURVE: f32 = 36.0;
const SPECTROGRAM: f32 = 40.0;

/// Spectrograms of the displayed batch.
#[derive(Default)]
pub struct WavesCache {
    made: Option<(Key, Vec<TextureHandle>)>,
}

/// Row of the batch, address of its fields, field, and true for the dark theme.
type Key = (usize, usize, usize, bool);

impl std::fmt::Debug for WavesCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WavesCache").finish_non_exhaustive()
    }
}

impl WavesCache {
    /// Shows the waveforms below each other.
    pub fn show(
        &mut self,
        ui: &mut Ui,
        (at, content): (usize, &BatchContent),
        waves: &Waveforms,
        captions: &Captions,
    ) {
        let palette = Palette::of(ui.ctx());
        let name = content
            .fields
            .get(waves.field)
            .map_or("", |f| f.name.as_str());
        section_with(ui, say!("Waveforms"), |ui| {
            let text = RichText::new(name)
                .font(mono(size::SMALL))
                .color(palette.weak);
            ui.label(text);
        });
        let textures = self.textures(ui, at, content, waves);
        let peak = waves.peak().max(f64::MIN_POSITIVE);
        for (k, channels) in waves.curves.iter().enumerate() {
            ui.label(
                RichText::new(title(waves, captions, k))
                    .font(mono(size::SMALL))
                    .color(palette.text),
            );
            for (n, curve) in channels.iter().enumerate() {
                let room = vec2(ui.available_width(), CURVE);
                let (rect, response) = ui.allocate_exact_size(room, Sense::hover());
                draw(ui, rect, curve, peak);
                let spoken = say!("waveform {k}, channel {n}");
                response.widget_info(|| WidgetInfo::labeled(Role::Image, true, &spoken));
            }
            if let Some(texture) = textures.get(k) {
                let room = vec2(ui.available_width(), SPECTROGRAM);
                let (rect, response) = ui.allocate_exact_size(room, Sense::hover());
                let all = Rect::from_min_max(egui::Pos2::ZERO, pos2(1.0, 1.0));
                ui.painter().image(texture.id(), rect, all, Color32::WHITE);
                response.widget_info(|| {
                    WidgetInfo::labeled(Role::Image, true, say!("spectrogram {k}"))
                });
                response.on_hover_text(say!("Spectrogram of the first channel: time to the right, frequency upwards, 80 dB from dark to bright"));
            }
            ui.add_space(space::GAP);
        }
    }

    /// Returns the textures of the spectrograms, cached until the batch or the theme changes.
    fn textures(
        &mut self,
        ui: &Ui,
        at: usize,
        content: &BatchContent,
        waves: &Waveforms,
    ) -> Vec<TextureHandle> {
        let palette = Palette::of(ui.ctx());
        let key = (
            at,
            content.fields.as_ptr() as usize,
            waves.field,
            palette.dark,
        );
        if let Some((made, textures)) = &self.made
            && *made == key
        {
            return textures.clone();
        }
        let field = waves
            .spectrograms
            .and_then(|field| content.fields.get(field));
        let textures = match field.map(|field| &field.data) {
            Some(FieldData::Pictures(data)) => (0..data.count().min(waves.curves.len()))
                .filter_map(|k| {
                    let size = [data.width as usize, data.height as usize];
                    let pixels = data.get(k)?.iter();
                    let colors = pixels.map(|v| {
                        palette
                            .canvas
                            .lerp_to_gamma(palette.strong, f32::from(*v) / 255.0)
                    });
                    let colors: Vec<Color32> = colors.collect();
                    let fits =
                        data.channels == 1 && size.iter().all(|side| (1..=2048).contains(side));
                    let image = (fits && colors.len() == size[0] * size[1])
                        .then(|| ColorImage::new(size, colors))?;
                    Some(ui.load_texture("spectrogram", image, TextureOptions::LINEAR))
                })
                .collect(),
            Some(FieldData::Omitted | FieldData::Numbers(_) | FieldData::Text(_)) | None => {
                Vec::new()
            }
        };
        self.made = Some((key, textures.clone()));
        textures
    }
}

/// Returns, for example, `sample 3 · yes · 16,000 frames, 1.00 s`.
fn title(waves: &Waveforms, captions: &Captions, k: usize) -> String {
    let index = captions.indices.get(k);
    let mut parts = vec![index.map_or_else(|| say!("sample {k}"), |index| say!("sample {index}"))];
    parts.extend(captions.names.get(k).cloned());
    parts.push(format::plural(
        waves.frames,
        say!(n: "frame"),
        say!(n: "frames"),
    ));
    let rate = waves.rates.get(k).filter(|rate| **rate > 0.0);
    parts.extend(rate.map(|rate| say!("{:.2} s", waves.frames as f64 / rate)));
    parts.join(" · ")
}

fn draw(ui: &Ui, rect: Rect, curve: &[[f64; 2]], peak: f64) {
    let palette = Palette::of(ui.ctx());
    let painter = ui.painter();
    painter.rect_filled(rect, 2.0, palette.canvas);
    painter.hline(
        rect.x_range(),
        rect.center().y,
        Stroke::new(1.0, palette.line),
    );
    let each = rect.width() / curve.len().max(1) as f32;
    let y = |value: f64| rect.center().y - (value / peak) as f32 * (rect.height() * 0.5 - 1.0);
    let mut mesh = Mesh::default();
    for (n, [least, most]) in curve.iter().enumerate() {
        if !least.is_finite() || !most.is_finite() {
            continue;
        }
        let left = rect.left() + n as f32 * each;
        let (top, bottom) = (y(*most), y(*least).max(y(*most) + 1.0));
        let bar = Rect::from_min_max(pos2(left, top), pos2(left + each, bottom));
        mesh.add_colored_rect(bar.intersect(rect), palette.text);
    }
    painter.add(Shape::mesh(mesh));
}
