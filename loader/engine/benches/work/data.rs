//! The data sets of the benchmarks. The values are the same in every program that is compared.

use std::fs::File;
use std::path::Path;

use loadscope_engine::EngineError;
use loadscope_engine::batch::Batch;
use loadscope_engine::dataset::{Dataset, ImageFolder, SampleClock, SampleError};
use loadscope_engine::value::Value;
use memmap2::Mmap;
use tch::{Device, Kind, Tensor};

/// Bytes of a picture of w1 and w3, `[3, 224, 224]`.
pub const PICTURE: usize = 3 * 224 * 224;
/// Tokens in a window of w6.
pub const WINDOW: usize = 1024;

/// w1: pictures in memory. A sample is `(uint8 [3, 224, 224], int)`.
pub struct Pictures {
    bytes: &'static [u8],
}

impl Pictures {
    /// Made once and kept for good, so that samples can be views of it.
    pub fn new(count: usize) -> Self {
        let mut bytes = Vec::with_capacity(count * PICTURE);
        for picture in 0..count {
            bytes.extend((0..PICTURE).map(|at| (picture * 7 + at * 13) as u8));
        }
        Self {
            bytes: bytes.leak(),
        }
    }
}

impl Dataset for Pictures {
    type Sample = Value;

    fn len(&self) -> usize {
        self.bytes.len() / PICTURE
    }

    fn get(&self, index: usize, _clock: &mut SampleClock) -> Result<Value, SampleError> {
        let begin = index * PICTURE;
        let bytes = self.bytes.get(begin..begin + PICTURE);
        let bytes = bytes.ok_or_else(|| SampleError::out_of_range(index, self.len()))?;
        let (size, strides) = ([3, 224, 224], [224 * 224, 224, 1]);
        // SAFETY: the bytes are never freed, and a loader only reads its samples.
        let view =
            unsafe { Tensor::from_blob(bytes.as_ptr(), &size, &strides, Kind::Uint8, Device::Cpu) };
        Ok((view, label(index)).into())
    }
}

/// The label of a sample in w1 and w2.
pub fn label(index: usize) -> i64 {
    (index % 1000) as i64
}

/// w2: a sample is `(float, int)`.
pub struct Scalars {
    features: Vec<f32>,
    labels: Vec<i64>,
}

impl Scalars {
    pub fn new(count: usize) -> Self {
        Self {
            features: (0..count).map(|index| index as f32 * 0.5).collect(),
            labels: (0..count).map(label).collect(),
        }
    }
}

impl Dataset for Scalars {
    type Sample = (f32, i64);

    fn len(&self) -> usize {
        self.labels.len()
    }

    fn get(&self, index: usize, _clock: &mut SampleClock) -> Result<(f32, i64), SampleError> {
        match (self.features.get(index), self.labels.get(index)) {
            (Some(feature), Some(label)) => Ok((*feature, *label)),
            _ => Err(SampleError::out_of_range(index, self.len())),
        }
    }
}

/// A batch of w2: one column for each part of a sample.
#[derive(Debug)]
pub struct Columns {
    pub features: Vec<f32>,
    pub labels: Vec<i64>,
}

impl Batch for Columns {}

/// The `collate_fn` of w2.
pub fn columns(samples: Vec<(f32, i64)>) -> Result<Columns, EngineError> {
    let (features, labels) = samples.into_iter().unzip();
    Ok(Columns { features, labels })
}

/// w3: every picture of a folder as often as told, decoded and squeezed to 224×224.
pub struct Repeated {
    folder: ImageFolder,
    times: usize,
}

impl Repeated {
    pub fn open(root: &Path, times: usize) -> Result<Self, EngineError> {
        let folder = ImageFolder::open(root, 224)?;
        Ok(Self { folder, times })
    }
}

impl Dataset for Repeated {
    type Sample = Value;

    fn len(&self) -> usize {
        self.folder.len() * self.times
    }

    fn get(&self, index: usize, clock: &mut SampleClock) -> Result<Value, SampleError> {
        self.folder.get(index % self.folder.len().max(1), clock)
    }
}

/// w6: windows of tokens in a memory-mapped file of little-endian u16.
pub struct Tokens {
    map: &'static [u8],
    windows: usize,
}

impl Tokens {
    /// The first `most` windows of the file.
    pub fn open(path: &Path, most: usize) -> std::io::Result<Self> {
        let file = File::open(path)?;
        // SAFETY: the file belongs to the benchmark; nobody writes to it while it runs.
        let map: &'static Mmap = Box::leak(Box::new(unsafe { Mmap::map(&file) }?));
        Ok(Self {
            map,
            windows: most.min(map.len() / (WINDOW * 2)),
        })
    }
}

impl Dataset for Tokens {
    type Sample = &'static [u8];

    fn len(&self) -> usize {
        self.windows
    }

    fn get(&self, index: usize, _clock: &mut SampleClock) -> Result<&'static [u8], SampleError> {
        let begin = index * WINDOW * 2;
        let window = self.map.get(begin..begin + WINDOW * 2);
        window.ok_or_else(|| SampleError::out_of_range(index, self.windows))
    }
}

/// The `collate_fn` of w6: all windows, one after the other.
pub fn windows(samples: Vec<&'static [u8]>) -> Result<Vec<u8>, EngineError> {
    Ok(samples.concat())
}

/// The first token of every window of a batch of w6.
pub fn first_tokens(batch: &[u8]) -> impl Iterator<Item = u64> {
    batch
        .chunks_exact(WINDOW * 2)
        .map(|window| u64::from(u16::from_le_bytes([window[0], window[1]])))
}

/// The labels of a batch of w1 or w3, which is `[pictures, labels]`.
pub fn labels_of(batch: &Value) -> Vec<u64> {
    let labels = match batch.tensors().get(1) {
        Some(labels) => Vec::<i64>::try_from(*labels).unwrap_or_default(),
        None => Vec::new(),
    };
    labels.into_iter().map(|label| label as u64).collect()
}
