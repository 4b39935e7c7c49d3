//! Samples of several archives in sequence.

use std::path::Path;
use std::vec::IntoIter;

use loadscope_words::say;

use super::braces::{self, expand};
use crate::error::{Fault, FormatError, Place};
use crate::paths;
use crate::stages::Stages;
use crate::tar::{Sample, Samples};

/// Returns the archives of a pattern. All of them exist.
pub(super) fn list(urls: &str) -> Result<Vec<String>, FormatError> {
    let asked = |reason: String, remedy: &str| {
        FormatError::new(Fault::InvalidOption, Place::named(urls), reason, remedy)
    };
    let mut shards = Vec::new();
    for pattern in urls.split("::") {
        // The pattern is a folder, or has wildcards that a shell would expand.
        if Path::new(pattern).is_dir() || pattern.contains(['*', '?']) {
            let named = paths::files(pattern, "tar")?;
            shards.extend(named.iter().map(|path| path.display().to_string()));
            continue;
        }
        let named = expand(pattern, braces::MOST - shards.len());
        shards.extend(named.map_err(|e| {
            asked(
                e.to_string(),
                say!("Write shard-{{000..127}}.tar for 128 shards"),
            )
        })?);
    }
    for shard in &mut shards {
        if let Some(path) = shard.strip_prefix("file:") {
            *shard = path.strip_prefix("//").unwrap_or(path).to_owned();
        }
        if let Some((scheme, _)) = shard.split_once("://") {
            return Err(asked(
                say!("the scheme {scheme}: is not supported, only files are"),
                say!("Download the shards first"),
            ));
        }
    }
    // A missing shard is reported at the start, not after an hour of training.
    let is_missing = |shard: &&String| !Path::new(shard).exists();
    let missing = shards.iter().filter(is_missing).count();
    if let Some(first) = shards.iter().find(is_missing) {
        let others = match missing - 1 {
            0 => String::new(),
            1 => say!(", like another shard").to_owned(),
            more => say!(", like {more} other shards"),
        };
        bail!(Missing, Place::named(first),
            match others.as_str() { "" => say!("not found").to_owned(), others => say!("not found{others}"), };
            say!("Check the pattern of the shards"));
    }
    Ok(shards)
}

/// Iterator over the samples of archives.
pub(super) struct Shards {
    left: IntoIter<String>,
    current: Option<Samples>,
}

impl Shards {
    pub(super) fn new(shards: Vec<String>) -> Self {
        Self {
            left: shards.into_iter(),
            current: None,
        }
    }

    /// Returns the next sample. After an error, the next call continues with the next archive.
    pub(super) fn next(&mut self, stages: &mut dyn Stages) -> Option<Result<Sample, FormatError>> {
        loop {
            if let Some(samples) = &mut self.current {
                match samples.next(stages) {
                    Some(sample) => return Some(sample),
                    None => self.current = None,
                }
            }
            let shard = self.left.next()?;
            stages.enter("open");
            match Samples::open(Path::new(&shard)) {
                Ok(samples) => self.current = Some(samples),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}
