//! A folder of images, like torchvision's `ImageFolder`.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use loadscope_files::is_on_virtual_filesystem;
use loadscope_words::{path_error, say};

use super::picture::{self, MAX_SIDE};
use super::{Dataset, SampleClock, SampleError};
use crate::error::LoaderError;
use crate::limits::grouped;
use crate::value::Value;

/// Extensions of images in torchvision.
const EXTENSIONS: [&str; 9] = [
    ".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp",
];
/// Maximum number of files and folders. The largest collections of images have fewer.
const MAX_ENTRIES: usize = 20_000_000;
/// Maximum number of files and folders before the first image.
const MAX_NON_IMAGES: usize = 1_000_000;
/// Maximum total length of all paths, bytes.
const MAX_PATH_BYTES: usize = 4_000_000_000;
/// Maximum depth of folders. Deeper folders are a mistake, such as a link cycle.
const MAX_DEPTH: usize = 64;

/// Images in one subfolder per class.
///
/// A sample is `(uint8 [3, size, size], int)`. The tensor is the whole image as RGB, resized to a square like
/// `Resize((size, size), antialias=True)`. The int is the class number.
///
/// Classes are the subfolders that contain images at any depth, sorted by name. Images are sorted as in
/// torchvision. A subfolder without images is skipped, whereas torchvision raises an error. A folder that
/// contains the images itself is one class.
#[derive(Debug)]
pub struct ImageFolder {
    root: PathBuf,
    size: u32,
    classes: Vec<String>,
    files: Vec<(PathBuf, u32)>,
    notes: Vec<String>,
}

impl ImageFolder {
    /// Scans `root`. Images are resized to `size`×`size`.
    ///
    /// # Errors
    /// If the folder is missing, cannot be read or contains no image.
    pub fn open(root: &Path, size: u32) -> Result<Self, LoaderError> {
        if size == 0 || size > MAX_SIDE {
            return Err(LoaderError::Dataset(say!(
                "images cannot be resized to {size}×{size}. Choose an image size from 1 to {MAX_SIDE}."
            )));
        }
        if !root.is_dir() {
            return Err(LoaderError::Dataset(if root.exists() {
                say!(
                    "{} is a file, not a folder. Name the folder that contains the images.",
                    root.display()
                )
            } else {
                path_error(root, &io::ErrorKind::NotFound.into())
            }));
        }
        if is_on_virtual_filesystem(root) {
            return Err(LoaderError::Dataset(say!(
                "{} contains system information, not files. Name the folder that contains the images.",
                root.display()
            )));
        }
        let mut scan = Scan::new(root);
        let (subfolders, own_files) = scan.list(root)?;
        let mut folder = Self {
            root: root.to_owned(),
            size,
            classes: Vec::new(),
            files: Vec::new(),
            notes: Vec::new(),
        };
        let mut empty = 0;
        for name in subfolders {
            let files = scan.pictures_below(&root.join(&name))?;
            if files.is_empty() {
                empty += 1;
                continue;
            }
            folder.add_class(name.to_string_lossy().into_owned(), files);
        }
        let direct = Scan::pictures_among(root, own_files);
        if folder.classes.is_empty() && !direct.is_empty() {
            let name = root.canonicalize().unwrap_or_else(|_| root.to_owned());
            let name = name.file_name().map_or("pictures".into(), OsString::from);
            folder.add_class(name.to_string_lossy().into_owned(), direct);
        } else if !direct.is_empty() {
            folder.notes.push(format!(
                "skipped {} directly in {}, because its subfolders are the classes",
                count(direct.len(), "image", "images"),
                root.display()
            ));
        } else if empty > 0 && !folder.classes.is_empty() {
            folder.notes.push(format!(
                "skipped {} without images in {}. torchvision refuses them.",
                count(empty, "subfolder", "subfolders"),
                root.display()
            ));
        }
        if folder.files.is_empty() {
            return Err(LoaderError::Dataset(say!(
                "no images in {} or its subfolders. Expected files ending in {}, in one subfolder per class.",
                root.display(),
                EXTENSIONS.join(", ")
            )));
        }
        Ok(folder)
    }

    fn add_class(&mut self, name: String, files: Vec<PathBuf>) {
        let label = self.classes.len() as u32;
        self.classes.push(name);
        self.files
            .extend(files.into_iter().map(|file| (file, label)));
    }

    /// Returns the folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the path and class of every sample.
    pub fn files(&self) -> &[(PathBuf, u32)] {
        &self.files
    }
}

impl Dataset for ImageFolder {
    type Sample = Value;

    fn len(&self) -> usize {
        self.files.len()
    }

    fn get(&self, index: usize, clock: &mut SampleClock) -> Result<Value, SampleError> {
        let Some((path, label)) = self.files.get(index) else {
            return Err(SampleError::out_of_range(index, self.len()));
        };
        let image = picture::load(path, self.size, clock)?;
        Ok((image, i64::from(*label)).into())
    }

    fn labels(&self) -> Option<Vec<u32>> {
        Some(self.files().iter().map(|(_, class)| *class).collect())
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }
}

/// Counters of the search for images.
struct Scan<'a> {
    root: &'a Path,
    /// Number of files and folders.
    entries: usize,
    /// Number of images, and total length of all paths in bytes.
    pictures: usize,
    bytes: usize,
}

impl<'a> Scan<'a> {
    fn new(root: &'a Path) -> Self {
        Self {
            root,
            entries: 0,
            pictures: 0,
            bytes: 0,
        }
    }

    /// Returns all images in a class folder in the order of `sorted(os.walk(folder, followlinks=True))`.
    ///
    /// That order is by folder path as text, then by file name.
    fn pictures_below(&mut self, folder: &Path) -> Result<Vec<PathBuf>, LoaderError> {
        let mut found = Vec::new();
        // The list contains each folder with its real ancestors. A link to an ancestor is a cycle.
        let mut todo = vec![(folder.to_owned(), vec![], 0)];
        while let Some((folder, ancestors, depth)) = todo.pop() {
            let real = folder.canonicalize().unwrap_or_else(|_| folder.clone());
            if depth > MAX_DEPTH || ancestors.contains(&real) {
                continue;
            }
            if is_on_virtual_filesystem(&folder) {
                continue;
            }
            let (subfolders, files) = self.list(&folder)?;
            let mut chain: Vec<PathBuf> = ancestors;
            chain.push(real);
            for name in subfolders {
                todo.push((folder.join(name), chain.clone(), depth + 1));
            }
            let pictures = Self::pictures_among(&folder, files);
            if !pictures.is_empty() {
                found.push((folder.into_os_string(), pictures));
            }
        }
        // Paths are compared as text. `Path` compares by component, but "a-b" comes before "a/b".
        found.sort_by(|(a, _), (b, _)| a.as_encoded_bytes().cmp(b.as_encoded_bytes()));
        Ok(found.into_iter().flat_map(|(_, files)| files).collect())
    }

    fn pictures_among(folder: &Path, names: Vec<OsString>) -> Vec<PathBuf> {
        let pictures = names.into_iter().filter(|name| is_picture(name));
        pictures.map(|name| folder.join(name)).collect()
    }

    /// Returns the names of subfolders and of other entries, each sorted. Links count as their targets.
    fn list(&mut self, folder: &Path) -> Result<(Vec<OsString>, Vec<OsString>), LoaderError> {
        let unreadable = |e: io::Error| LoaderError::Dataset(path_error(folder, &e));
        let length = folder.as_os_str().len();
        let (mut folders, mut files) = (Vec::new(), Vec::new());
        for entry in fs::read_dir(folder).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let (kind, name) = (entry.file_type().map_err(unreadable)?, entry.file_name());
            let is_folder = kind.is_dir() || (kind.is_symlink() && entry.path().is_dir());
            let is_picture = !is_folder && is_picture(&name);
            self.count_entry(is_picture, length + name.len())?;
            let names = if is_folder { &mut folders } else { &mut files };
            names.push(name);
        }
        let by_bytes = |a: &OsString, b: &OsString| a.as_encoded_bytes().cmp(b.as_encoded_bytes());
        folders.sort_by(by_bytes);
        files.sort_by(by_bytes);
        Ok((folders, files))
    }

    /// Counts an entry and enforces the limits.
    fn count_entry(&mut self, is_picture: bool, length: usize) -> Result<(), LoaderError> {
        let root = self.root.display();
        self.entries += 1;
        self.pictures += usize::from(is_picture);
        self.bytes += length;
        if self.pictures == 0 && self.entries > MAX_NON_IMAGES {
            return Err(LoaderError::Dataset(say!(
                "the first {} files and folders in {root} contain no image. Name the folder that contains the images.",
                grouped(MAX_NON_IMAGES as u64)
            )));
        }
        if self.entries > MAX_ENTRIES || self.bytes > MAX_PATH_BYTES {
            return Err(LoaderError::Dataset(say!(
                "{root} contains more than {} files and folders, or their names take more than {} MB. Name a smaller folder.",
                grouped(MAX_ENTRIES as u64),
                grouped(MAX_PATH_BYTES as u64 / 1_000_000)
            )));
        }
        Ok(())
    }
}

fn is_picture(name: &OsStr) -> bool {
    let lower = name.to_string_lossy().to_lowercase();
    EXTENSIONS.iter().any(|ending| lower.ends_with(ending))
}

fn count(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

#[cfg(test)]
mod tests;
