//! The corpus in the repository: one archive with a folder per target. libFuzzer needs it unpacked.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context, Result, bail};
use tempfile::NamedTempFile;

use super::fuzz_paths::{LONGEST_KEPT, files};

/// Compression level of zstd. Its archive is nearly the smallest, and packing takes a few seconds.
const LEVEL: i32 = 19;

/// Replaces the folder by the content of the archive.
pub(super) fn unpack(archive: &Path, folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let told = || {
        format!(
            "{} cannot be unpacked. Take it from the repository again",
            archive.display()
        )
    };
    let packed = File::open(archive).with_context(told)?;
    let plain = zstd::Decoder::new(packed).with_context(told)?;
    let mut entries = tar::Archive::new(plain);
    entries.set_preserve_mtime(false);
    entries.unpack(folder).with_context(told)
}

/// Packs the folder into the archive. The same files result in the same bytes on every host.
pub(super) fn pack(folder: &Path, archive: &Path) -> Result<()> {
    let beside = archive.parent().context("an archive is in a folder")?;
    let mut new = NamedTempFile::new_in(beside).with_context(|| beside.display().to_string())?;
    let mut tar = tar::Builder::new(zstd::Encoder::new(&mut new, LEVEL)?);
    for target in files(folder)? {
        for input in files(&target)? {
            let name = input.strip_prefix(folder)?.to_string_lossy();
            let bytes = fs::read(&input).with_context(|| input.display().to_string())?;
            let mut header = tar::Header::new_ustar();
            header.set_size(bytes.len() as u64);
            header.set_mode(0o644);
            header.set_mtime(0);
            // Paths in an archive have slashes on every system.
            tar.append_data(&mut header, name.replace('\\', "/"), &bytes[..])?;
        }
    }
    tar.into_inner()?.finish()?;
    new.flush()?;
    readable_for_all(new.as_file())?;
    new.persist(archive)
        .with_context(|| archive.display().to_string())?;
    Ok(())
}

/// Makes a temporary file readable for all users, like the other files of the repository.
fn readable_for_all(file: &File) -> Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        file.set_permissions(fs::Permissions::from_mode(0o644))?;
    }
    let _ = file;
    Ok(())
}

/// Adds a file to the inputs of a target, under its own name.
pub(super) fn add(folder: &Path, target: &str, path: &Path) -> Result<()> {
    let bytes = fs::read(path).with_context(|| path.display().to_string())?;
    if bytes.len() > LONGEST_KEPT {
        bail!(
            "{} has {} bytes, and the repository keeps inputs of {LONGEST_KEPT} at most. Cut it to what it shows",
            path.display(),
            bytes.len()
        );
    }
    let name = path.file_name().and_then(|name| name.to_str());
    let name = name
        .with_context(|| format!("{} has no name that can be read. Rename it", path.display()))?;
    let place = folder.join(target).join(name);
    if place.exists() && fs::read(&place)? != bytes {
        bail!(
            "{target} has another input called {name}. Rename {}",
            path.display()
        );
    }
    fs::create_dir_all(folder.join(target))?;
    fs::write(&place, bytes).with_context(|| place.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(folder: &Path) -> Result<()> {
        for (name, bytes) in [("b/2", "two"), ("a/1", "one"), ("a/0", "")] {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().context("a folder")?)?;
            fs::write(path, bytes)?;
        }
        Ok(())
    }

    #[test]
    fn a_packed_folder_unpacks_and_repacks_identically() -> Result<()> {
        let home = tempfile::tempdir()?;
        let [folder, again] = ["folder", "again"].map(|name| home.path().join(name));
        let [first, second] =
            ["first.tar.zst", "second.tar.zst"].map(|name| home.path().join(name));
        filled(&folder)?;
        pack(&folder, &first)?;
        fs::create_dir_all(again.join("old"))?;
        unpack(&first, &again)?;
        assert!(!again.join("old").exists(), "what was there is gone");
        for name in ["a/0", "a/1", "b/2"] {
            assert_eq!(fs::read(folder.join(name))?, fs::read(again.join(name))?);
        }
        pack(&again, &second)?;
        assert_eq!(fs::read(first)?, fs::read(second)?);
        Ok(())
    }

    #[test]
    fn an_input_is_added_once_and_by_its_name() -> Result<()> {
        let home = tempfile::tempdir()?;
        let folder = home.path().join("folder");
        filled(&folder)?;
        let path = home.path().join("1");
        fs::write(&path, "another")?;
        let error = add(&folder, "a", &path)
            .err()
            .context("the name is taken")?;
        assert!(
            error.to_string().contains("a has another input called 1."),
            "{error}"
        );
        add(&folder, "new", &path)?;
        add(&folder, "new", &path)?;
        assert_eq!(fs::read(folder.join("new/1"))?, b"another");
        fs::write(&path, vec![0; LONGEST_KEPT + 1])?;
        let error = add(&folder, "b", &path).err().context("it is long")?;
        assert!(error.to_string().contains("50001 bytes"), "{error}");
        Ok(())
    }

    #[test]
    fn an_invalid_archive_is_reported_with_its_path() -> Result<()> {
        let home = tempfile::tempdir()?;
        let archive = home.path().join("corpus.tar.zst");
        fs::write(&archive, "not packed")?;
        let error = unpack(&archive, &home.path().join("folder"))
            .err()
            .context("it is no archive")?;
        assert!(error.to_string().contains("corpus.tar.zst"), "{error}");
        Ok(())
    }
}
