//! Saved Hugging Face datasets: folders of Arrow files, mapped to memory.

mod messages;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use crate::columns::Columns;
use crate::error::{FormatError, Place};
use crate::paths::in_folder;
use crate::slices::format_names;
use crate::table::Table;

use loadscope_words::say;
use messages::{Batch, IpcFile};

/// Maximum size of a file that describes a dataset, bytes.
const LARGEST_DESCRIPTION: u64 = 64 << 20;

/// A dataset for `datasets.load_from_disk(path)`, or an Arrow file (the file format or a stream). Sample i is a `dict` of row i: numbers,
/// texts, lists of numbers as arrays of their dtype, decoded images. The files are mapped to memory. Compressed batches are decompressed
/// on demand and cached.
pub type SavedDataset = Table<Batch>;

impl SavedDataset {
    /// Opens a folder that `save_to_disk` wrote, a folder of `.arrow` files, or a single file.
    ///
    /// # Errors
    /// If the data cannot be opened, are damaged, have several splits, or have types that no sample supports.
    pub fn open(path: &Path) -> Result<Self, FormatError> {
        let (files, features) = if path.is_dir() {
            let features = description(&path.join("dataset_info.json"))?
                .and_then(|mut info| info.get_mut("features").map(Value::take))
                .filter(Value::is_object);
            (files_of(path)?, features)
        } else {
            (vec![path.to_owned()], None)
        };
        let place = Place::file(path);
        let mut opened: Vec<Arc<IpcFile>> = Vec::with_capacity(files.len());
        let mut batches = Vec::new();
        let mut notes = Vec::new();
        for path in &files {
            let (file, ended) = IpcFile::open(path, &mut batches)?;
            if !ended {
                notes.push(format!(
                    "{}: it has no end mark. It may be cut off.",
                    file.place
                ));
            }
            if let Some(first) = opened.first()
                && first.schema.fields() != file.schema.fields()
            {
                bail!(WrongType, file.place.clone(), say!("its columns differ from those of {}", first.place);
                    say!("Open files with the same columns together"));
            }
            opened.push(file);
        }
        let Some(first) = opened.first() else {
            bail!(Missing, place, say!("there are no .arrow files in the folder");
                say!("Give a folder that save_to_disk wrote"));
        };
        let columns = Columns::new(&first.schema, features.as_ref(), &place)?;
        notes.extend(columns.notes.iter().cloned());
        Ok(Self::new(columns, batches, place, notes))
    }
}

/// Reads a JSON file, if it exists.
fn description(path: &Path) -> Result<Option<Value>, FormatError> {
    if !path.exists() {
        return Ok(None);
    }
    let text = loadscope_files::read_text(path, say!("a description"), LARGEST_DESCRIPTION)
        .map_err(|e| FormatError::reading(path, &e))?;
    let parsed = serde_json::from_str(&text).map_err(|error| {
        fault!(Damaged, Place::file(path).line(error.line() as u64).column(error.column() as u64), say!("it is not JSON");
            say!("Save the dataset again"))
    });
    parsed.map(Some)
}

/// Returns the files of a folder in order.
fn files_of(folder: &Path) -> Result<Vec<PathBuf>, FormatError> {
    let place = || Place::file(folder);
    if let Some(splits) = description(&folder.join("dataset_dict.json"))? {
        let splits = splits.get("splits").and_then(Value::as_array);
        let names: Vec<&str> = splits
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let first = names.first().copied().unwrap_or("train");
        bail!(InvalidOption, place(), say!("it contains several datasets: {}", format_names(&names));
            say!("Name one of them, such as {}", folder.join(first).display()));
    }
    let Some(state) = description(&folder.join("state.json"))? else {
        return in_folder(folder, "arrow");
    };
    let data = state.get("_data_files").and_then(Value::as_array);
    let names = data.map(|files| {
        let name = |file: &Value| {
            file.get("filename")
                .and_then(Value::as_str)
                .map(str::to_owned)
        };
        files.iter().map(name).collect::<Option<Vec<String>>>()
    });
    let Some(Some(names)) = names else {
        bail!(Damaged, Place::file(&folder.join("state.json")), say!("it names no data files");
            say!("Save the dataset again"));
    };
    // `datasets` never writes a name that leads out of the folder.
    let inside = |name: &String| Path::new(name).file_name().is_some_and(|n| *n == **name);
    match names.iter().find(|name| !inside(name)) {
        Some(name) => {
            bail!(Damaged, Place::file(&folder.join("state.json")), say!("it names '{name}', which is not a file in the folder");
                say!("Save the dataset again"))
        }
        None => Ok(names.iter().map(|name| folder.join(name)).collect()),
    }
}
