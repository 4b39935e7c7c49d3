//! Interior of a zoomed span: its samples, and the named stages of each sample.

use egui::{Color32, Mesh, Rangef, Rect, pos2};
use loadscope_trace::Sample;
use loadscope_words::say;

use super::canvas::{Canvas, Label, MOST_LABELS, label_width};

/// Minimum width of a drawn sample, points.
const SAMPLE: f32 = 4.0;
/// Minimum width of a sample with stages, points.
const STAGES: f32 = 16.0;
/// Minimum width of named samples, points.
const NAMED: f32 = 88.0;
/// Heights of the strip of stages without and with names, points.
const STRIP: f32 = 5.0;
const NAMED_STRIP: f32 = 12.0;
/// Minimum height of a span with named samples and stages, points.
const NAMED_FROM: f32 = 24.0;

/// Interior of the span of a fetched batch.
pub(super) struct SampleDetail<'a> {
    pub canvas: &'a Canvas<'a>,
    /// Row of the batch.
    pub row: usize,
    /// Area of its span on the screen.
    pub rect: Rect,
    pub color: Color32,
    pub labels: &'a mut Vec<Label>,
    /// Color of text on a background.
    pub text: &'a dyn Fn(Color32) -> Color32,
}

impl SampleDetail<'_> {
    /// Draws the samples and their stages. Returns true if they are named, so that the span needs no other label.
    pub fn paint(&mut self, mesh: &mut Mesh, label_end: f32) -> bool {
        let samples = self.canvas.run.samples(self.row);
        let count = samples.len() as f32;
        let width = self.full_width();
        if count < 1.0 || width < SAMPLE * count || self.rect.height() < STRIP {
            return false;
        }
        let named = width >= NAMED * count && self.rect.height() >= NAMED_FROM;
        let pixel = 1.0 / self.canvas.axis.pixels_per_point;
        let limit = self.shade(0.55);
        let height = if named { NAMED_STRIP } else { STRIP };
        let strip = Rangef::new(self.rect.bottom() - height, self.rect.bottom());
        let view = self.canvas.axis.view;
        let mut is_first = true;
        for sample in samples {
            if sample.end() < view.start || sample.start > view.end {
                continue;
            }
            let left = self.canvas.axis.x(sample.start).max(self.rect.left());
            let right = self.canvas.axis.x(sample.end()).min(self.rect.right());
            if right - left >= STAGES {
                self.paint_stages(mesh, &sample, strip, named);
            }
            if sample.position > 0 && sample.start >= view.start {
                // The line must not cross the label.
                let top = if left < label_end && !named {
                    self.rect.bottom() - STRIP
                } else {
                    self.rect.top()
                };
                let line = Rect::from_x_y_ranges(left..=left + pixel, top..=self.rect.bottom());
                mesh.add_colored_rect(line, limit);
            }
            if named {
                self.name(&sample, left, right, is_first);
                is_first = false;
            }
        }
        named
    }

    fn shade(&self, share: f32) -> Color32 {
        self.color.lerp_to_gamma(self.canvas.palette.canvas, share)
    }

    fn full_width(&self) -> f32 {
        let mut samples = self.canvas.run.samples(self.row);
        let first = samples.next();
        let last = samples.last().or(first);
        match (first, last) {
            (Some(first), Some(last)) => self.canvas.axis.points(last.end() - first.start),
            _ => 0.0,
        }
    }

    /// Writes the sample index and duration. The first visible sample also names the batch.
    fn name(&mut self, sample: &Sample, left: f32, right: f32, is_first: bool) {
        let index = match sample.index {
            Some(index) => index.to_string(),
            // A sample of a stream has no index.
            None => {
                let of = self.canvas.run.samples(self.row).count();
                say!("{} of {of}", sample.position + 1)
            }
        };
        let took = sample.wall;
        let batch = self.canvas.run.batches().get(self.row).map(|b| b.id.idx);
        let mut texts = Vec::new();
        if let Some(batch) = batch.filter(|_| is_first) {
            texts.push(say!("batch {batch} · sample {index} · {took}"));
            texts.push(say!("batch {batch} · sample {index}"));
            texts.push(say!("batch {batch}"));
        }
        texts.push(say!("sample {index} · {took}"));
        texts.push(say!("sample {index}"));
        texts.push(index);
        let middle = (self.rect.top() + self.rect.bottom() - NAMED_STRIP) / 2.0;
        self.write(texts, left, right, middle, self.color);
    }

    fn paint_stages(&mut self, mesh: &mut Mesh, sample: &Sample, strip: Rangef, named: bool) {
        let Some(stages) = self.canvas.run.sample_stages(self.row) else {
            return;
        };
        let mut start = sample.start;
        for (name_at, name) in stages.names.iter().enumerate() {
            let wall = stages.wall(name_at, sample.position);
            let end = start + wall;
            let within = |x: f32| x.clamp(self.rect.left(), self.rect.right());
            let left = within(self.canvas.axis.x(start));
            let right = within(self.canvas.axis.x(end));
            // Shades of the span's color, because the hues mean batch stages.
            let shade = self.shade([0.30, 0.65, 0.45, 0.80][name_at % 4]);
            mesh.add_colored_rect(Rect::from_x_y_ranges(left..=right, strip), shade);
            if named {
                let texts = vec![say!("{name} {wall}"), name.clone()];
                self.write(texts, left, right, strip.center(), shade);
            }
            start = end;
        }
    }

    /// Writes the first of `texts` that fits.
    fn write(&mut self, texts: Vec<String>, left: f32, right: f32, middle: f32, ground: Color32) {
        let room = right - left;
        let mut texts = texts.into_iter();
        if self.labels.len() < MOST_LABELS
            && let Some(text) = texts.find(|t| label_width(t) <= room)
        {
            self.labels.push(Label {
                at: pos2(left + 4.0, middle),
                text,
                color: (self.text)(ground),
            });
        }
    }
}
