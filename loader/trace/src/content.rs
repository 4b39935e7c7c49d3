//! Recorded contents of a batch: shapes, statistics, thumbnails, labels, text.

use serde::{Deserialize, Serialize};

use crate::BatchId;

/// Contents of one collated batch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BatchContent {
    /// Epoch and number.
    #[serde(flatten)]
    pub batch: BatchId,
    /// Leaves of the batch, in order.
    pub fields: Vec<Field>,
}

impl BatchContent {
    /// Returns the size of the batch's tensors in bytes, computed from their types and shapes.
    pub fn bytes(&self) -> u64 {
        let bytes_of = |field: &Field| {
            if field.is_derived() {
                return 0;
            }
            let each: u64 = match field.dtype.trim_start_matches("torch.") {
                "uint8" | "int8" | "bool" => 1,
                "float16" | "bfloat16" | "int16" | "uint16" => 2,
                "float64" | "int64" | "uint64" | "complex64" => 8,
                "complex128" => 16,
                _ => 4,
            };
            let sizes = field.shape.iter().map(|n| u64::try_from(*n).unwrap_or(0));
            sizes.fold(each, u64::saturating_mul)
        };
        self.fields
            .iter()
            .map(bytes_of)
            .fold(0, u64::saturating_add)
    }

    /// Records that the samples at these increasing positions are missing from the batch.
    pub fn leave_out(&mut self, places: &[u32]) {
        if places.is_empty() {
            return;
        }
        let shape = vec![i64::try_from(places.len()).unwrap_or(i64::MAX)];
        let numbers = places.iter().map(|place| f64::from(*place)).collect();
        let data = FieldData::Numbers(numbers);
        self.fields.push(Field::new("", LEFT_OUT, shape, data));
    }

    /// Returns the increasing positions of requested samples that are missing from the batch.
    pub fn left_out(&self) -> impl Iterator<Item = usize> + '_ {
        let noted = self.fields.iter().find(|field| field.dtype == LEFT_OUT);
        let numbers = noted.map_or(&[][..], |field| match &field.data {
            FieldData::Numbers(numbers) => numbers,
            FieldData::Omitted | FieldData::Text(_) | FieldData::Pictures(_) => &[],
        });
        numbers.iter().map(|place| *place as usize)
    }

    /// Returns a digest of the values, if recorded. Equal batches have equal digests.
    pub fn digest(&self) -> Option<u32> {
        let noted = self.fields.iter().find(|field| field.dtype == DIGEST)?;
        match &noted.data {
            FieldData::Numbers(numbers) => numbers.first().map(|digest| *digest as u32),
            FieldData::Omitted | FieldData::Text(_) | FieldData::Pictures(_) => None,
        }
    }

    /// Returns the approximate memory use in bytes.
    pub fn nbytes(&self) -> usize {
        let data_of = |field: &Field| match &field.data {
            FieldData::Omitted => 0,
            FieldData::Numbers(numbers) => numbers.len() * size_of::<f64>(),
            FieldData::Text(texts) => texts.iter().map(|t| t.len() + size_of::<String>()).sum(),
            FieldData::Pictures(pictures) => pictures.pixels.len(),
        };
        let bins = |field: &Field| field.histogram.len() * size_of::<u64>();
        let fields = self.fields.iter();
        fields
            .map(|f| data_of(f) + bins(f) + size_of::<Field>())
            .sum()
    }
}

/// One leaf of a batch, usually a tensor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    /// Path inside the batch: `[0]`, `["image"]`, `["boxes"][1]`.
    pub name: String,
    /// PyTorch's name of the element type (`torch.uint8`), or the Python type of a leaf that is not a tensor.
    pub dtype: String,
    /// Sizes of the dimensions, empty for a scalar.
    pub shape: Vec<i64>,
    /// Smallest finite value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// Largest finite value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// Mean of the finite values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
    /// Standard deviation of the finite values, as in `torch.std` (divided by n − 1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub std: Option<f64>,
    /// Number of NaNs.
    #[serde(default)]
    pub nan: u64,
    /// Number of infinities of either sign.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub inf: u64,
    /// Number of finite values per bin, in bins of equal width from `min` to `max` (for integers to `max` plus one). Empty if not recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub histogram: Vec<u64>,
    /// True if the batch is in page-locked memory.
    #[serde(default)]
    pub pinned: bool,
    /// Recorded values.
    pub data: FieldData,
}

impl Field {
    /// Creates an unpinned field without statistics.
    pub fn new(
        name: impl Into<String>,
        dtype: impl Into<String>,
        shape: impl Into<Vec<i64>>,
        data: FieldData,
    ) -> Self {
        Self {
            name: name.into(),
            dtype: dtype.into(),
            shape: shape.into(),
            min: None,
            max: None,
            mean: None,
            std: None,
            nan: 0,
            inf: 0,
            histogram: Vec::new(),
            pinned: false,
            data,
        }
    }
}

/// `dtype` of a field with the envelope of another field's waveforms: the minimum and maximum of each column, `[batch, channels, columns,
/// 2]`.
pub const ENVELOPE: &str = "loadscope.envelope";
/// `dtype` of a field with the spectrogram of another field's waveforms. It contains one gray image in decibels per sample, `[batch, bands,
/// columns]`, with low frequencies in the lowest row.
pub const SPECTROGRAM: &str = "loadscope.spectrogram";

/// `dtype` of a field with the positions of failed samples, which are missing from the batch.
pub const LEFT_OUT: &str = "loadscope.left_out";

/// `dtype` of a field with one number: the CRC-32 of values of the batch.
const DIGEST: &str = "loadscope.digest";

impl Field {
    /// Returns true if Loadscope added the field, so the batch itself does not contain it.
    pub fn is_derived(&self) -> bool {
        [ENVELOPE, SPECTROGRAM, LEFT_OUT, DIGEST].contains(&self.dtype.as_str())
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Recorded values of a field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FieldData {
    /// No values.
    Omitted,
    /// First values in row-major order.
    Numbers(#[serde(with = "any_f64")] Vec<f64>),
    /// Text, one entry per sample.
    Text(Vec<String>),
    /// Thumbnails, one per sample.
    Pictures(Pictures),
}

/// Thumbnails of the samples of a batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pictures {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// 1 (gray) or 3 (RGB).
    pub channels: u8,
    /// `count × height × width × channels` bytes, row-major. Base64 in recordings.
    #[serde(with = "base64_bytes")]
    pub pixels: Vec<u8>,
}

impl Pictures {
    /// Returns the size of one image in bytes, or [`usize::MAX`] on overflow.
    pub fn stride(&self) -> usize {
        (self.width as usize)
            .saturating_mul(self.height as usize)
            .saturating_mul(usize::from(self.channels))
    }

    /// Returns the number of complete images.
    pub fn count(&self) -> usize {
        self.pixels.len().checked_div(self.stride()).unwrap_or(0)
    }

    /// Returns the bytes of image `k`.
    pub fn get(&self, k: usize) -> Option<&[u8]> {
        let stride = self.stride();
        (k < self.count()).then(|| &self.pixels[k * stride..(k + 1) * stride])
    }
}

mod base64_bytes {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(bytes: &[u8], s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&STANDARD.encode(bytes))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(d)?;
        STANDARD.decode(text).map_err(serde::de::Error::custom)
    }
}

/// JSON has no NaN and no infinities, so they are written as strings.
mod any_f64 {
    use std::fmt;

    use serde::de::{Error, Unexpected, Visitor};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    /// An untagged enum would buffer the whole value, however large a hostile file makes it.
    #[derive(Clone, Copy)]
    struct Number(f64);

    impl Serialize for Number {
        fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
            match self.0.is_finite() {
                true => s.serialize_f64(self.0),
                false => s.collect_str(&self.0),
            }
        }
    }

    impl<'de> Deserialize<'de> for Number {
        fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
            d.deserialize_any(Expected).map(Self)
        }
    }

    struct Expected;

    impl Visitor<'_> for Expected {
        type Value = f64;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a number, \"NaN\", \"inf\" or \"-inf\"")
        }

        fn visit_f64<E: Error>(self, v: f64) -> Result<f64, E> {
            Ok(v)
        }

        fn visit_i64<E: Error>(self, v: i64) -> Result<f64, E> {
            Ok(v as f64)
        }

        fn visit_u64<E: Error>(self, v: u64) -> Result<f64, E> {
            Ok(v as f64)
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<f64, E> {
            match text {
                "NaN" => Ok(f64::NAN),
                "inf" => Ok(f64::INFINITY),
                "-inf" => Ok(f64::NEG_INFINITY),
                _ => Err(E::invalid_value(Unexpected::Str(text), &self)),
            }
        }
    }

    pub fn serialize<S: Serializer>(values: &[f64], s: S) -> Result<S::Ok, S::Error> {
        s.collect_seq(values.iter().copied().map(Number))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<f64>, D::Error> {
        let values = Vec::<Number>::deserialize(d)?;
        Ok(values.into_iter().map(|v| v.0).collect())
    }
}
