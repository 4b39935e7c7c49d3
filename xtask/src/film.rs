//! Animated images of the window for the README. A test draws the frames, and `python/film.py` encodes them.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::pytorch;
use crate::setup::Ready;
use crate::steps::{cargo_test, finish, prepare_pictures};

/// Draws the frames, and writes `screenshots/NAME.webp` for each folder of frames.
pub fn film(ready: &Ready, workspace: &Path) -> Result<u8> {
    let frames = tempfile::tempdir().context("no room for the frames")?;
    let mut command = cargo_test(ready, &["--workspace", "--exclude", "xtask"])?;
    command
        .args(["--test", "all", "--", "--ignored", "--exact"])
        .arg("film::readme_films_are_drawn")
        .env("LOADSCOPE_FILM", frames.path());
    prepare_pictures(&mut command, ready)?;
    let code = finish(&mut command)?;
    if code != 0 {
        return Ok(code);
    }
    let python = pytorch::environment(&ready.target.join("film"), "PIL", "pillow")?;
    let mut encode = Command::new(python);
    encode.arg(workspace.join("xtask/python/film.py"));
    encode.arg(frames.path()).arg(workspace.join("screenshots"));
    finish(&mut encode)
}
