//! Datasets of the benchmarks. The values are the same in every compared program.

use std::path::Path;

use loadscope_engine::LoaderError;
use loadscope_engine::dataset::{
    Dataset, ImageFolder, SampleClock, SampleError, TensorDataset, TokenDtype, TokenWindows,
};
use loadscope_engine::value::Value;
use tch::{Device, Kind, Tensor};

/// Bytes of an image of w1 and w3, `[3, 224, 224]`.
pub const PICTURE: usize = 3 * 224 * 224;
/// Tokens per window of w6.
pub const WINDOW: usize = 1024;

/// Returns w1 as PyTorch users write it: two tensors, from which batches are gathered at once.
pub fn pictures(count: usize) -> Result<TensorDataset, LoaderError> {
    let mut pixels = Vec::with_capacity(count * PICTURE);
    for picture in 0..count {
        pixels.extend((0..PICTURE).map(|at| (picture * 7 + at * 13) as u8));
    }
    let labels: Vec<i64> = (0..count).map(label).collect();
    let pixels = Tensor::from_slice(&pixels).view([count as i64, 3, 224, 224]);
    TensorDataset::new(vec![pixels, Tensor::from_slice(&labels)])
}

/// w1 as a custom dataset: images in memory. A sample is `(uint8 [3, 224, 224], int)`.
pub struct Pictures {
    bytes: &'static [u8],
}

impl Pictures {
    /// Creates the images and leaks them, so that samples can be views.
    pub fn new(count: usize) -> Self {
        let mut bytes = Vec::with_capacity(count * PICTURE);
        for picture in 0..count {
            bytes.extend((0..PICTURE).map(|at| (picture * 7 + at * 13) as u8));
        }
        Self {
            bytes: bytes.leak(),
        }
    }

    /// Returns the bytes of an image.
    pub fn row(&self, index: usize) -> Option<&'static [u8]> {
        let begin = index * PICTURE;
        self.bytes.get(begin..begin + PICTURE)
    }
}

impl Dataset for Pictures {
    type Sample = Value;

    fn len(&self) -> usize {
        self.bytes.len() / PICTURE
    }

    #[expect(unsafe_code, reason = "a tensor that looks at bytes of ours")]
    fn get(&self, index: usize, _clock: &mut SampleClock) -> Result<Value, SampleError> {
        let bytes = self.row(index);
        let bytes = bytes.ok_or_else(|| SampleError::out_of_range(index, self.len()))?;
        let (size, strides) = ([3, 224, 224], [224 * 224, 224, 1]);
        // SAFETY: the bytes are never freed, and a loader only reads its samples.
        let view =
            unsafe { Tensor::from_blob(bytes.as_ptr(), &size, &strides, Kind::Uint8, Device::Cpu) };
        Ok((view, label(index)).into())
    }
}

/// Returns the label of a sample in w1 and w2.
fn label(index: usize) -> i64 {
    (index % 1000) as i64
}

/// Returns the columns of w2: `float32 [count]` and `int64 [count]`.
fn columns(count: usize) -> (Vec<f32>, Vec<i64>) {
    let features = (0..count).map(|index| index as f32 * 0.5);
    (features.collect(), (0..count).map(label).collect())
}

/// Returns w2 as PyTorch users write it: two tensors, from which batches are gathered at once.
pub fn tensors(count: usize) -> Result<TensorDataset, LoaderError> {
    let (features, labels) = columns(count);
    TensorDataset::new(vec![
        Tensor::from_slice(&features),
        Tensor::from_slice(&labels),
    ])
}

/// w2 as a custom dataset, sample by sample: `(f32, i64)`.
pub struct Pairs {
    features: Vec<f32>,
    labels: Vec<i64>,
}

impl Pairs {
    pub fn new(count: usize) -> Self {
        let (features, labels) = columns(count);
        Self { features, labels }
    }
}

impl Dataset for Pairs {
    type Sample = (f32, i64);

    fn len(&self) -> usize {
        self.labels.len()
    }

    #[inline]
    fn get(&self, index: usize, _clock: &mut SampleClock) -> Result<(f32, i64), SampleError> {
        match (self.features.get(index), self.labels.get(index)) {
            (Some(feature), Some(label)) => Ok((*feature, *label)),
            _ => Err(SampleError::out_of_range(index, self.len())),
        }
    }
}

/// Returns the batch of [`Pairs`]: a tensor of features and one of labels.
pub fn stack_pairs(samples: Vec<(f32, i64)>) -> Result<Value, LoaderError> {
    let (features, labels): (Vec<f32>, Vec<i64>) = samples.into_iter().unzip();
    let columns = [Tensor::from_slice(&features), Tensor::from_slice(&labels)];
    Ok(Value::List(columns.map(Value::from).into()))
}

/// w3: every image of a folder `times` times, decoded and resized to 224×224.
pub struct Repeated {
    folder: ImageFolder,
    times: usize,
}

impl Repeated {
    pub fn open(root: &Path, times: usize) -> Result<Self, LoaderError> {
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

/// Returns w6: windows of tokens in a memory-mapped file, in the file's type: no program converts them.
pub fn tokens(path: &Path) -> Result<TokenWindows, LoaderError> {
    TokenWindows::open(path, WINDOW, None, TokenDtype::UInt16)
}

/// Returns the first token of every window in a batch of w6.
pub fn first_tokens(batch: &Value) -> Vec<u64> {
    let Some(tokens) = batch.tensors().first().map(|tokens| tokens.select(1, 0)) else {
        return Vec::new();
    };
    numbers(&tokens.to_kind(Kind::Int64))
}

/// Returns the labels of a batch, which is `[data, labels]`.
pub fn labels_of(batch: &Value) -> Vec<u64> {
    let tensors = batch.tensors();
    tensors
        .get(1)
        .map_or_else(Vec::new, |labels| numbers(labels))
}

/// Returns the numbers of an int64 tensor.
pub fn numbers(tensor: &Tensor) -> Vec<u64> {
    let numbers = Vec::<i64>::try_from(tensor).unwrap_or_default();
    numbers.into_iter().map(|number| number as u64).collect()
}
