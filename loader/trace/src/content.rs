//! What is inside a batch, as far as it was kept for looking at: shapes, statistics, small pictures, labels, text.

use serde::{Deserialize, Serialize};

use crate::BatchId;

/// The contents of one collated batch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BatchContent {
    /// Which batch.
    #[serde(flatten)]
    pub batch: BatchId,
    /// The leaves of the batch, in order.
    pub fields: Vec<Field>,
}

/// One leaf of a batch, usually a tensor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Field {
    /// Path inside the batch: `[0]`, `["image"]`, `["boxes"][1]`.
    pub name: String,
    /// PyTorch's name of the element type (`torch.uint8`), or the Python type of a leaf that is no tensor.
    pub dtype: String,
    /// Sizes of the dimensions; empty for a scalar.
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
    /// Number of NaNs.
    #[serde(default)]
    pub nan: u64,
    /// True if the batch is in page-locked memory.
    #[serde(default)]
    pub pinned: bool,
    /// The values, or as many as were kept.
    pub data: FieldData,
}

/// The values of a field, or as many as were kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FieldData {
    /// Nothing was kept.
    Omitted,
    /// The first values in row-major order.
    Numbers(#[serde(with = "any_f64")] Vec<f64>),
    /// Text, one entry a sample.
    Text(Vec<String>),
    /// Small pictures, one a sample.
    Pictures(Pictures),
}

/// Small pictures of the samples of a batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pictures {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// 1 (grey) or 3 (RGB).
    pub channels: u8,
    /// `count × height × width × channels` bytes, row-major; base64 in the log.
    #[serde(with = "base64_bytes")]
    pub pixels: Vec<u8>,
}

impl Pictures {
    /// Bytes of one picture.
    pub fn stride(&self) -> usize {
        self.width as usize * self.height as usize * usize::from(self.channels)
    }

    /// Number of whole pictures.
    pub fn count(&self) -> usize {
        self.pixels.len().checked_div(self.stride()).unwrap_or(0)
    }

    /// The bytes of picture `k`.
    pub fn get(&self, k: usize) -> Option<&[u8]> {
        let stride = self.stride();
        self.pixels.get(k.checked_mul(stride)?..)?.get(..stride)
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

/// JSON has no NaN and no infinities: those are written as text.
mod any_f64 {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Number<'a> {
        Finite(f64),
        Other(std::borrow::Cow<'a, str>),
    }

    pub fn serialize<S: Serializer>(values: &[f64], s: S) -> Result<S::Ok, S::Error> {
        s.collect_seq(values.iter().map(|v| match v.is_finite() {
            true => Number::Finite(*v),
            false => Number::Other(v.to_string().into()),
        }))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<f64>, D::Error> {
        let values = Vec::<Number<'_>>::deserialize(d)?;
        let parsed = values.into_iter().map(|v| match v {
            Number::Finite(v) => Ok(v),
            Number::Other(text) => text.parse().map_err(serde::de::Error::custom),
        });
        parsed.collect()
    }
}
