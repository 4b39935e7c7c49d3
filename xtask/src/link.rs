//! The link `libtorch` next to the built executables, through which they find their library.

use std::fs;
use std::io;
use std::path::Path;

use anyhow::{Context, Result, bail};

/// Points `link` to `folder`, atomically.
pub fn point(link: &Path, folder: &Path) -> Result<()> {
    if link == folder {
        return Ok(());
    }
    let sentence = || {
        format!(
            "The link {} to libtorch could not be made. Make that folder writable",
            link.display()
        )
    };
    match fs::symlink_metadata(link) {
        Ok(found) if found.is_symlink() => {
            if fs::read_link(link).is_ok_and(|to| to == folder) {
                return Ok(());
            }
        }
        Ok(_) => bail!(
            "{} has to be a link to {}, but something else lies there. Move it away and run the \
             command again.",
            link.display(),
            folder.display()
        ),
        Err(_) => {
            if let Some(parent) = link.parent() {
                fs::create_dir_all(parent).with_context(sentence)?;
            }
        }
    }
    // The link is created under another name first, so that a concurrent build always finds a link.
    let fresh = link.with_file_name(format!("libtorch.link-{}", std::process::id()));
    make(&fresh, folder).with_context(sentence)?;
    replace(&fresh, link).with_context(sentence)
}

#[cfg(unix)]
fn make(link: &Path, folder: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(folder, link)
}

#[cfg(unix)]
fn replace(fresh: &Path, link: &Path) -> io::Result<()> {
    fs::rename(fresh, link)
}

#[cfg(windows)]
fn make(link: &Path, folder: &Path) -> io::Result<()> {
    if std::os::windows::fs::symlink_dir(folder, link).is_ok() {
        return Ok(());
    }
    // Symbolic links need a privilege on Windows, junctions do not.
    let status = std::process::Command::new("cmd")
        .args(["/C", "mklink", "/J"])
        .args([link, folder])
        .stdout(std::process::Stdio::null())
        .status()?;
    if status.success() {
        Ok(())
    } else {
        Err(io::Error::other("mklink /J failed"))
    }
}

#[cfg(windows)]
fn replace(fresh: &Path, link: &Path) -> io::Result<()> {
    // Windows cannot rename over a link to a folder.
    let _ = fs::remove_dir(link);
    fs::rename(fresh, link)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn links_are_made_moved_and_never_put_over_a_folder() -> Result<()> {
        let root = tempfile::tempdir()?;
        let (first, second) = (root.path().join("one"), root.path().join("two"));
        fs::create_dir(&first)?;
        fs::create_dir(&second)?;
        let link = root.path().join("target/libtorch");
        point(&link, &first)?;
        point(&link, &first)?;
        assert_eq!(fs::read_link(&link)?, first);
        point(&link, &second)?;
        assert_eq!(fs::read_link(&link)?, second);
        assert_eq!(fs::read_dir(root.path().join("target"))?.count(), 1);
        let told = point(&first, &second).unwrap_err().to_string();
        assert!(told.contains("Move it away"), "{told}");
        Ok(())
    }
}
