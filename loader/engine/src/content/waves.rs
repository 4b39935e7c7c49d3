//! Summaries of waveforms: a curve and a spectrogram.

use loadscope_trace::{ENVELOPE, Field, FieldData, Pictures, SPECTROGRAM};
use realfft::RealFftPlanner;

use super::ContentLimits;
use super::numbers::{self, Elements};

/// Maximum number of columns of a curve and of a spectrogram.
const COLUMNS: usize = 200;
/// Rows of a spectrogram: half the number of frames of its window.
const BANDS: usize = 64;
const WINDOW: usize = 2 * BANDS;
/// Dynamic range of a spectrogram below its strongest frequency. Weaker frequencies are black.
const RANGE_DB: f64 = 80.0;
/// Minimum length of a waveform.
const MIN_FRAMES: usize = 1024;
/// Maximum number of channels of a waveform.
const MAX_CHANNELS: usize = 8;
/// Field names that identify a tensor without an axis of channels as a waveform.
const NAMES: [&str; 7] = [
    "wav",
    "audio",
    "sound",
    "speech",
    "signal",
    "input_values",
    "samples",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sounds {
    count: usize,
    channels: usize,
    frames: usize,
}

impl Sounds {
    /// Recognizes `[batch, channels, frames]`, and `[batch, frames]` by its name.
    fn of(name: &str, shape: &[i64]) -> Option<Self> {
        let size = |size: i64| usize::try_from(size).ok().filter(|size| *size > 0);
        let name = name.to_ascii_lowercase();
        let is_named = || NAMES.iter().any(|known| name.contains(known));
        let (count, channels, frames) = match *shape {
            [count, channels, frames] if channels <= 2 || is_named() => {
                (size(count)?, size(channels)?, size(frames)?)
            }
            [count, frames] if is_named() => (size(count)?, 1, size(frames)?),
            _ => return None,
        };
        let is_sound = frames >= MIN_FRAMES && channels <= MAX_CHANNELS;
        is_sound.then_some(Self {
            count,
            channels,
            frames,
        })
    }

    /// Returns the index of the first frame of a channel.
    fn start(&self, sound: usize, channel: usize) -> usize {
        (sound * self.channels + channel) * self.frames
    }
}

/// Returns the curves and the spectrograms of a tensor of waveforms.
pub(super) fn of(name: &str, tensor: &tch::Tensor, limits: &ContentLimits) -> Option<[Field; 2]> {
    let sounds = Sounds::of(name, &numbers::shape(tensor))?;
    if !numbers::dtype(tensor).contains("float") && numbers::dtype(tensor) != "torch.int16" {
        return None;
    }
    let elements = Elements::of(tensor)?;
    let kept = Sounds {
        count: sounds.count.min(limits.waveforms),
        ..sounds
    };
    Some([
        envelopes(name, &elements, kept),
        spectrograms(name, &elements, kept),
    ])
}

fn envelopes(name: &str, elements: &Elements, sounds: Sounds) -> Field {
    let columns = COLUMNS.min(sounds.frames);
    let mut values = Vec::with_capacity(sounds.count * sounds.channels * columns * 2);
    for sound in 0..sounds.count {
        for channel in 0..sounds.channels {
            let start = sounds.start(sound, channel);
            for column in 0..columns {
                let from = column * sounds.frames / columns;
                let to = (column + 1) * sounds.frames / columns;
                let (least, most) = range(elements, start + from, start + to);
                values.extend([least, most]);
            }
        }
    }
    let shape = [sounds.count, sounds.channels, columns, 2].map(|size| size as i64);
    let data = FieldData::Numbers(values);
    Field::new(format!("{name}.envelope"), ENVELOPE, shape, data)
}

/// Returns the minimum and maximum. Long ranges are sampled at a regular step.
fn range(elements: &Elements, from: usize, to: usize) -> (f64, f64) {
    let step = ((to - from) / 256).max(1);
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    for at in (from..to).step_by(step) {
        let value = elements.get(at);
        least = least.min(value);
        most = most.max(value);
    }
    if least.is_finite() && most.is_finite() {
        (least, most)
    } else {
        (0.0, 0.0)
    }
}

fn spectrograms(name: &str, elements: &Elements, sounds: Sounds) -> Field {
    let columns = COLUMNS.min(sounds.frames / WINDOW).max(1);
    let mut pixels = Vec::with_capacity(sounds.count * BANDS * columns);
    for sound in 0..sounds.count {
        spectrogram(
            elements,
            sounds.start(sound, 0),
            sounds.frames,
            columns,
            &mut pixels,
        );
    }
    let shape = [sounds.count, BANDS, columns].map(|size| size as i64);
    let data = FieldData::Pictures(Pictures {
        width: columns as u32,
        height: BANDS as u32,
        channels: 1,
        pixels,
    });
    Field::new(format!("{name}.spectrogram"), SPECTROGRAM, shape, data)
}

/// Adds the spectrogram of the first channel: Hann windows at equal distances, with the strongest frequency white.
fn spectrogram(
    elements: &Elements,
    start: usize,
    frames: usize,
    columns: usize,
    pixels: &mut Vec<u8>,
) {
    let transform = RealFftPlanner::<f64>::new().plan_fft_forward(WINDOW);
    let mut input = transform.make_input_vec();
    let mut output = transform.make_output_vec();
    let mut decibels = vec![f64::NEG_INFINITY; columns * BANDS];
    let distance = frames.saturating_sub(WINDOW) as f64 / (columns.max(2) - 1) as f64;
    for column in 0..columns {
        let from = start + (column as f64 * distance) as usize;
        for (k, value) in input.iter_mut().enumerate() {
            let turn = std::f64::consts::TAU * k as f64 / WINDOW as f64;
            let sample = elements.get(from + k);
            let sample = if sample.is_finite() { sample } else { 0.0 };
            *value = sample * (0.5 - 0.5 * turn.cos());
        }
        if transform.process(&mut input, &mut output).is_err() {
            continue;
        }
        for (band, value) in output.iter().skip(1).take(BANDS).enumerate() {
            decibels[column * BANDS + band] = 10.0 * value.norm_sqr().log10();
        }
    }
    let strongest = decibels.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // High frequencies are at the top, as usual in spectrograms.
    for band in (0..BANDS).rev() {
        for column in 0..columns {
            let below = strongest - decibels[column * BANDS + band];
            let light = 255.0 * (1.0 - below / RANGE_DB);
            pixels.push(if light.is_finite() {
                light.clamp(0.0, 255.0) as u8
            } else {
                0
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use tch::{Kind, Tensor};

    use super::*;

    /// Generates two sines of 8,000 frames per second: 500 Hz, and 2,000 Hz with half the amplitude.
    fn sounds() -> Tensor {
        let time = Tensor::arange(8000, (Kind::Float, tch::Device::Cpu)) / 8000.0;
        let sine = |hertz: f64| (&time * (hertz * std::f64::consts::TAU)).sin();
        Tensor::stack(&[sine(500.0), sine(2000.0) * 0.5], 0).unsqueeze(1)
    }

    #[test]
    fn a_curve_has_the_peaks_of_its_waveform() {
        let [curve, _] =
            of("[\"waveform\"]", &sounds(), &ContentLimits::default()).expect("sounds");
        assert_eq!(curve.shape, [2, 1, 200, 2]);
        let FieldData::Numbers(values) = &curve.data else {
            panic!("{curve:?}")
        };
        let (first, second) = values.split_at(400);
        let top = |part: &[f64]| part.iter().copied().fold(0.0, f64::max);
        assert!((top(first) - 1.0).abs() < 0.01 && (top(second) - 0.5).abs() < 0.01);
        assert!(curve.is_derived() && curve.name == "[\"waveform\"].envelope");
    }

    #[test]
    fn a_spectrogram_is_brightest_at_the_frequency() {
        let [_, picture] = of("", &sounds(), &ContentLimits::default()).expect("sounds");
        let FieldData::Pictures(pictures) = &picture.data else {
            panic!("{picture:?}")
        };
        for (k, hertz) in [(0, 500.0), (1, 2000.0)] {
            let pixels = pictures.get(k).expect("a picture");
            let width = pictures.width as usize;
            let row = |r: usize| u32::from(pixels[r * width + width / 2]);
            let brightest = (0..BANDS).max_by_key(|r| row(*r)).expect("rows");
            let band = (BANDS - brightest) as f64;
            // A band is 4,000 Hz / 64 wide.
            assert!((band * 62.5 - hertz).abs() <= 62.5, "{k}: band {band}");
        }
    }

    #[test]
    fn tensors_with_other_names_or_shapes_are_not_sounds() {
        let of = |name: &str, shape: &[i64]| Sounds::of(name, shape).is_some();
        assert!(of("[0]", &[4, 1, 16_000]) && of("[\"input_values\"]", &[4, 16_000]));
        assert!(
            !of("[0]", &[4, 16_000]) && !of("[0]", &[4, 3, 16_000]) && !of("[0]", &[4, 1, 512])
        );
        assert!(!of("wave", &[4, 0, 16_000]) && !of("wave", &[-1, 1, 16_000]));
        let ids = Tensor::zeros([2, 1, 4096], (Kind::Int64, tch::Device::Cpu));
        assert!(super::of("wave", &ids, &ContentLimits::default()).is_none());
    }
}
