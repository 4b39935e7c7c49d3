//! Waveforms from recorded curves and spectrograms.

use loadscope_trace::{BatchContent, ENVELOPE, Field, FieldData, SPECTROGRAM};

/// The waveforms of a field.
#[derive(Clone, Debug, PartialEq)]
pub struct Waveforms {
    /// The field with the samples of the waveforms.
    pub field: usize,
    /// Per sample and channel, the minimum and maximum of each column.
    pub curves: Vec<Vec<Vec<[f64; 2]>>>,
    /// The field with the spectrograms, one per sample.
    pub spectrograms: Option<usize>,
    /// Frames per waveform, including padding.
    pub frames: u64,
    /// Frames per second of each sample, if the batch contains them.
    pub rates: Vec<f64>,
}

impl Waveforms {
    /// Returns the largest distance from 0 in all curves.
    pub fn peak(&self) -> f64 {
        let all = self.curves.iter().flatten().flatten().flatten();
        all.fold(0.0, |peak, value| value.abs().max(peak))
    }

    pub(super) fn of(content: &BatchContent) -> Vec<Self> {
        let fields = content.fields.iter().enumerate();
        let read = |(_, derived): (usize, &Field)| {
            if derived.dtype != ENVELOPE {
                return None;
            }
            let name = derived.name.strip_suffix(".envelope")?;
            let find = |name: &str, dtype: Option<&str>| {
                content
                    .fields
                    .iter()
                    .position(|f| f.name == name && dtype.is_none_or(|dtype| f.dtype == dtype))
            };
            let field = find(name, None)?;
            let frames = content.fields.get(field)?.shape.last()?;
            let rates = content.fields.iter().find_map(|f| match &f.data {
                FieldData::Numbers(rates) if is_rate(&f.name) => Some(rates.clone()),
                _ => None,
            });
            Some(Self {
                field,
                curves: curves(derived)?,
                spectrograms: find(&format!("{name}.spectrogram"), Some(SPECTROGRAM)),
                frames: u64::try_from(*frames).ok()?,
                rates: rates.unwrap_or_default(),
            })
        };
        fields.filter_map(read).collect()
    }
}

fn is_rate(name: &str) -> bool {
    name.ends_with("rate\"]") || name.ends_with(".rate")
}

fn curves(field: &Field) -> Option<Vec<Vec<Vec<[f64; 2]>>>> {
    let FieldData::Numbers(values) = &field.data else {
        return None;
    };
    let [_, channels, columns, 2] = *field.shape.as_slice() else {
        return None;
    };
    let channels = usize::try_from(channels).ok().filter(|n| *n > 0)?;
    let columns = usize::try_from(columns).ok().filter(|n| *n > 0)?;
    let per_channel = columns.checked_mul(2)?;
    let per_sound = per_channel.checked_mul(channels)?;
    let pairs = |channel: &[f64]| channel.as_chunks::<2>().0.to_vec();
    let sounds = values.chunks_exact(per_sound);
    let all = sounds.map(|sound| sound.chunks_exact(per_channel).map(pairs).collect());
    Some(all.collect())
}
