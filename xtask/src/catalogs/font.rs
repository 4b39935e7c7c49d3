//! The Chinese font, which contains only the characters that texts use.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use skrifa::{FontRef, MetadataProvider as _};

use crate::pytorch;

const FONTS: &str = "assets/fonts";
/// Fonts of the program. The Chinese one is last.
const NAMES: [&str; 3] = [
    "Inter-Regular.otf",
    "JetBrainsMono-Regular.ttf",
    "NotoSansSC-subset.otf",
];
/// Complete font in Debian and Ubuntu.
const WHOLE: &str = "/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc";

/// Returns the characters of the program's texts that no font contains.
///
/// # Errors
/// If a text or a font cannot be read.
pub fn missing(workspace: &Path) -> Result<Vec<char>> {
    let fonts = NAMES.map(|name| fs::read(workspace.join(FONTS).join(name)).context(name));
    let mut maps = Vec::new();
    for font in &fonts {
        let bytes = font.as_ref().map_err(|e| anyhow::anyhow!("{e:#}"))?;
        maps.push(FontRef::new(bytes)?.charmap());
    }
    let lacks = |c: &char| maps.iter().all(|map| map.map(*c).is_none());
    Ok(characters(workspace)?.into_iter().filter(lacks).collect())
}

/// Subsets the Chinese font again if a text uses a character that no font contains.
///
/// # Errors
/// If the complete font is not installed, or fonttools cannot be installed.
pub fn fix(workspace: &Path, target: &Path) -> Result<()> {
    let missing = missing(workspace)?;
    if missing.is_empty() {
        return Ok(());
    }
    ensure!(
        Path::new(WHOLE).is_file(),
        "The Chinese font lacks {}, and {WHOLE} does not exist. Install it: apt-get install fonts-noto-cjk",
        String::from_iter(missing)
    );
    let python = pytorch::environment(&target.join("fonts"), "fontTools", "fonttools")?;
    let list = target.join("fonts/characters.txt");
    fs::write(&list, String::from_iter(characters(workspace)?))?;
    let script = workspace.join(FONTS).join("make_cjk.py");
    let status = Command::new(python)
        .arg(script)
        .arg(WHOLE)
        .arg(&list)
        .status()?;
    if !status.success() {
        bail!("make_cjk.py failed");
    }
    Ok(())
}

/// Returns the characters of the lessons, the catalogs and the sources of the lessons.
fn characters(workspace: &Path) -> Result<BTreeSet<char>> {
    let mut folders = vec![
        workspace.join("assets/lessons"),
        workspace.join("app/lessons/src"),
        workspace.join("app/ui/src/panels/learn"),
    ];
    folders.extend(super::CRATES.map(|name| workspace.join(name).join("words")));
    let mut all = BTreeSet::new();
    for folder in folders {
        add(&folder, &mut all)?;
    }
    Ok(all.into_iter().filter(|c| !c.is_control()).collect())
}

fn add(folder: &Path, into: &mut BTreeSet<char>) -> Result<()> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let paths: Vec<PathBuf> = entries.map(|e| Ok(e?.path())).collect::<Result<_>>()?;
    for path in paths {
        let ending = path.extension().and_then(|e| e.to_str());
        if path.is_dir() {
            add(&path, into)?;
        } else if ending.is_some_and(|e| ["toml", "py", "out", "rs"].contains(&e)) {
            let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
            into.extend(text.chars());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workspace() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
    }

    #[test]
    fn every_character_has_a_glyph() -> Result<()> {
        let missing = missing(&workspace())?;
        assert!(
            missing.is_empty(),
            "no font has {missing:?}: run `cargo xtask fix`"
        );
        assert!(characters(&workspace())?.len() > 800);
        Ok(())
    }

    #[test]
    fn the_chinese_font_is_small() -> Result<()> {
        let size = fs::metadata(workspace().join(FONTS).join(NAMES[2]))?.len();
        assert!(size <= 700_000, "{size} bytes");
        Ok(())
    }
}
