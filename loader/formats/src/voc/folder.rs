//! Folders and image sets of PASCAL VOC.

use std::fs;
use std::path::{Path, PathBuf};

use loadscope_words::say;

use crate::error::{Fault, FormatError, Place};
use crate::file::{line_and_column, read};

/// Maximum size of an image set, bytes.
const MAX_LIST: u64 = 1 << 30;
/// Extensions of images, the most common first.
const PICTURES: [&str; 4] = ["jpg", "jpeg", "png", "JPG"];

/// Returns the folder that contains `Annotations` and `JPEGImages`: `dir` itself, or the year's folder in `dir` or `dir/VOCdevkit`.
pub(super) fn root(dir: &Path, year: Option<&str>) -> Result<PathBuf, FormatError> {
    if !dir.is_dir() {
        return Err(FormatError::no_folder(dir));
    }
    let is_root = |path: &Path| {
        ["Annotations", "SegmentationClass"]
            .iter()
            .any(|name| path.join(name).is_dir())
    };
    let kits = [dir.to_owned(), dir.join("VOCdevkit")];
    if let Some(year) = year {
        let named = kits.iter().map(|kit| kit.join(format!("VOC{year}")));
        let itself = is_root(dir).then(|| dir.to_owned());
        return named
            .into_iter()
            .find(|path| is_root(path))
            .or(itself)
            .ok_or_else(|| {
                not_found_error(
                    dir,
                    &say!("it contains no folder VOC{year} with Annotations"),
                )
            });
    }
    if is_root(dir) {
        return Ok(dir.to_owned());
    }
    let mut found: Vec<PathBuf> = kits
        .iter()
        .flat_map(|kit| fs::read_dir(kit).into_iter().flatten().flatten())
        .map(|entry| entry.path())
        .filter(|path| is_root(path))
        .collect();
    found.sort();
    match found.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(not_found_error(
            dir,
            say!("it contains no folder Annotations"),
        )),
        several => {
            let names = several.iter().filter_map(|path| path.file_name());
            let names: Vec<_> = names
                .map(|name| name.to_string_lossy().into_owned())
                .collect();
            bail!(InvalidOption, Place::file(dir), say!("it contains {}", names.join(", "));
                say!("Choose one with year=…, or give the folder itself"))
        }
    }
}

fn not_found_error(dir: &Path, reason: &str) -> FormatError {
    fault!(Missing, Place::file(dir), reason;
        say!("Give the folder that contains Annotations and JPEGImages, or VOCdevkit"))
}

/// Returns the names of the images of a set, and notes about them.
pub(super) fn names(
    root: &Path,
    set: &str,
    has_masks: bool,
) -> Result<(Vec<String>, Vec<String>), FormatError> {
    let kind = if has_masks { "Segmentation" } else { "Main" };
    let lists = root.join("ImageSets").join(kind);
    if set == "all" || !root.join("ImageSets").is_dir() {
        let mut notes = Vec::new();
        if set != "all" {
            notes.push(say!(
                "{} has no ImageSets, so all of its annotations are one set.",
                root.display()
            ));
        }
        let (folder, ending) = match has_masks {
            true => ("SegmentationClass", "png"),
            false => ("Annotations", "xml"),
        };
        return Ok((all(&root.join(folder), ending)?, notes));
    }
    let list = lists.join(format!("{set}.txt"));
    if !list.is_file() {
        let sets = all(&lists, "txt").unwrap_or_default().join(", ");
        return Err(FormatError::new(
            Fault::Missing,
            Place::file(&list),
            say!("not found"),
            match sets.as_str() {
                "" => say!("Choose set=all for all annotations").to_owned(),
                sets => say!("Choose another set: {sets}, or all"),
            },
        ));
    }
    let bytes = read(&list, MAX_LIST)?;
    let text = std::str::from_utf8(&bytes).map_err(|e| {
        let (line, column) = line_and_column(&bytes, e.valid_up_to());
        fault!(Damaged, Place::file(&list).line(line).column(column), say!("it is not text in UTF-8");
            say!("Write the names of the images there, one per line"))
    })?;
    let names = parse_names(text);
    if names.is_empty() {
        bail!(Damaged, Place::file(&list), say!("it names no image");
            say!("Write the names of the images there, one per line, or choose another set"));
    }
    Ok((names, Vec::new()))
}

/// Returns the names in a list. A list of a class (`cat_train.txt`) has a flag after each name: 1 (present), 0 (only difficult objects) or
/// -1 (absent).
fn parse_names(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let flagged = |line: &&str| {
        let (name, flag) = line.rsplit_once(char::is_whitespace)?;
        matches!(flag, "1" | "0" | "-1").then(|| (name.trim_end().to_owned(), flag == "-1"))
    };
    let flags: Option<Vec<_>> = lines.iter().map(flagged).collect();
    match flags {
        Some(flags) => (flags.into_iter())
            .filter(|(_, absent)| !absent)
            .map(|(name, _)| name)
            .collect(),
        None => lines.into_iter().map(str::to_owned).collect(),
    }
}

/// Returns the sorted names, without extension, of all files with the extension `ending`.
pub(super) fn all(folder: &Path, ending: &str) -> Result<Vec<String>, FormatError> {
    let unreadable = |e: std::io::Error| FormatError::io(folder, &e);
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = PathBuf::from(entry.map_err(unreadable)?.file_name());
        let has_ending = path
            .extension()
            .is_some_and(|found| found.eq_ignore_ascii_case(ending));
        if let (true, Some(name)) = (has_ending, path.file_stem()) {
            names.push(name.to_string_lossy().into_owned());
        }
    }
    if names.is_empty() {
        bail!(Damaged, Place::file(folder), say!("it contains no .{ending} file");
            say!("Choose another folder or another set"));
    }
    names.sort();
    Ok(names)
}

/// Returns the file of an image. The annotation may contain another extension.
pub(super) fn picture(root: &Path, name: &str, filename: Option<&str>) -> PathBuf {
    let folder = root.join("JPEGImages");
    let usual = folder.join(format!("{name}.jpg"));
    if usual.exists() {
        return usual;
    }
    let own = filename
        .and_then(|name| Path::new(name).file_name())
        .map(|name| folder.join(name));
    let others = PICTURES
        .iter()
        .map(|ending| folder.join(format!("{name}.{ending}")));
    own.into_iter()
        .chain(others)
        .find(|path| path.exists())
        .unwrap_or(usual)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_lists_skip_images_without_the_class() {
        assert_eq!(parse_names("a\n\n b \nc 1\n"), ["a", "b", "c 1"]);
        assert_eq!(parse_names("a  1\nb -1\nc  0\n"), ["a", "c"]);
        assert_eq!(parse_names("\n"), [] as [&str; 0]);
    }
}
