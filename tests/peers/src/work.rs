//! Datasets and collators, with the same values as in the other programs.

use std::cell::RefCell;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use dataloader_rs::error::Result;
use dataloader_rs::{Collator, Dataset};
use fast_image_resize::images::{Image, ImageRef};
use fast_image_resize::{FilterType, PixelType, ResizeAlg, ResizeOptions, Resizer};
use memmap2::Mmap;

/// Bytes per image, 3×224×224.
pub const PICTURE: usize = 3 * 224 * 224;
/// Tokens per window.
pub const WINDOW: usize = 1024;
const SIDE: u32 = 224;

/// w1: images in memory, leaked so that samples can borrow them.
pub struct Pictures(&'static [u8]);

impl Pictures {
    pub fn new(count: usize) -> Self {
        let mut bytes = Vec::with_capacity(count * PICTURE);
        for picture in 0..count {
            bytes.extend((0..PICTURE).map(|at| (picture * 7 + at * 13) as u8));
        }
        Self(bytes.leak())
    }
}

impl Dataset for Pictures {
    type Item = (&'static [u8], i64);

    fn get(&self, index: usize) -> Result<Self::Item> {
        let begin = index * PICTURE;
        let bytes = self.0.get(begin..begin + PICTURE);
        Ok((bytes.ok_or("beyond the end")?, label(index)))
    }

    fn len(&self) -> usize {
        self.0.len() / PICTURE
    }
}

fn label(index: usize) -> i64 {
    (index % 1000) as i64
}

/// Collator that stacks images to `[n, 3, 224, 224]`, with their labels.
pub struct Planes;

impl<B: AsRef<[u8]> + Send + 'static> Collator<(B, i64)> for Planes {
    type Batch = (Vec<u8>, Vec<i64>);

    fn collate(&self, items: Vec<(B, i64)>) -> Result<Self::Batch> {
        let mut pictures = Vec::with_capacity(items.len() * PICTURE);
        let mut labels = Vec::with_capacity(items.len());
        for (picture, label) in items {
            pictures.extend_from_slice(picture.as_ref());
            labels.push(label);
        }
        Ok((pictures, labels))
    }
}

/// w2: pairs of numbers.
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
    type Item = (f32, i64);

    fn get(&self, index: usize) -> Result<Self::Item> {
        match (self.features.get(index), self.labels.get(index)) {
            (Some(feature), Some(label)) => Ok((*feature, *label)),
            _ => Err("beyond the end".into()),
        }
    }

    fn len(&self) -> usize {
        self.labels.len()
    }
}

pub type Columns = (Vec<f32>, Vec<i64>);

/// Collator that makes one column of each part of a sample.
pub struct FirstColumns;

impl Collator<(f32, i64)> for FirstColumns {
    type Batch = Columns;

    fn collate(&self, items: Vec<(f32, i64)>) -> Result<Columns> {
        Ok(items.into_iter().unzip())
    }
}

/// w3: image files of a folder of classes, repeated.
pub struct Repeated {
    files: Vec<(PathBuf, i64)>,
    times: usize,
}

impl Repeated {
    pub fn open(root: &Path, times: usize) -> Result<Self> {
        let mut files = Vec::new();
        for (label, class) in sorted(root)?.into_iter().enumerate() {
            files.extend(sorted(&class)?.into_iter().map(|file| (file, label as i64)));
        }
        if files.is_empty() {
            return Err(format!("there are no pictures in {}", root.display()).into());
        }
        Ok(Self { files, times })
    }
}

fn sorted(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut paths = fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

thread_local! {
    static RESIZER: RefCell<Resizer> = RefCell::default();
}

impl Dataset for Repeated {
    type Item = (Vec<u8>, i64);

    fn get(&self, index: usize) -> Result<Self::Item> {
        let (path, label) = &self.files[index % self.files.len()];
        let decoded = image::load_from_memory(&fs::read(path)?)?.into_rgb8();
        let (width, height) = decoded.dimensions();
        let source = ImageRef::new(width, height, decoded.as_raw(), PixelType::U8x3)?;
        let mut target = Image::new(SIDE, SIDE, PixelType::U8x3);
        let bilinear =
            ResizeOptions::new().resize_alg(ResizeAlg::Convolution(FilterType::Bilinear));
        RESIZER.with_borrow_mut(|resizer| resizer.resize(&source, &mut target, &bilinear))?;
        let mut planes = vec![0; PICTURE];
        let (red, rest) = planes.split_at_mut(PICTURE / 3);
        let (green, blue) = rest.split_at_mut(PICTURE / 3);
        let pixels = target.buffer().chunks_exact(3);
        for (((pixel, r), g), b) in pixels.zip(red).zip(green).zip(blue) {
            (*r, *g, *b) = (pixel[0], pixel[1], pixel[2]);
        }
        Ok((planes, *label))
    }

    fn len(&self) -> usize {
        self.files.len() * self.times
    }
}

/// w6: token windows in a memory-mapped file of little-endian u16.
pub struct Tokens {
    map: &'static [u8],
    windows: usize,
}

impl Tokens {
    pub fn open(path: &Path, most: usize) -> Result<Self> {
        let file = File::open(path)?;
        // SAFETY: the file belongs to the benchmark, and nothing writes to it while the benchmark runs.
        let map: &'static Mmap = Box::leak(Box::new(unsafe { Mmap::map(&file) }?));
        let windows = most.min(map.len() / (WINDOW * 2));
        Ok(Self { map, windows })
    }
}

impl Dataset for Tokens {
    type Item = &'static [u8];

    fn get(&self, index: usize) -> Result<Self::Item> {
        let begin = index * WINDOW * 2;
        let window = self.map.get(begin..begin + WINDOW * 2);
        Ok(window.ok_or("beyond the end")?)
    }

    fn len(&self) -> usize {
        self.windows
    }
}

/// Collator that concatenates all windows.
pub struct Windows;

impl Collator<&'static [u8]> for Windows {
    type Batch = Vec<u8>;

    fn collate(&self, items: Vec<&'static [u8]>) -> Result<Vec<u8>> {
        Ok(items.concat())
    }
}
