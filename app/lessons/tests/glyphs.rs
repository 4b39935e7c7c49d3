//! Every character of both languages has a glyph in the fonts that come with the program.

#![allow(clippy::expect_used, reason = "a test ends with what went wrong")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use skrifa::{FontRef, MetadataProvider as _};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn texts(folder: &Path, into: &mut String) {
    for entry in fs::read_dir(folder).expect("the folder is there").flatten() {
        let path = entry.path();
        let ending = path
            .extension()
            .and_then(|e| e.to_str())
            .unwrap_or_default();
        if path.is_dir() {
            texts(&path, into);
        } else if ["toml", "py", "out", "rs"].contains(&ending) {
            into.push_str(&fs::read_to_string(&path).expect("it is text"));
        }
    }
}

#[test]
fn every_character_has_a_glyph() {
    let mut all = String::new();
    texts(&root().join("assets/lessons"), &mut all);
    texts(&root().join("app/lessons/src"), &mut all);
    texts(&root().join("app/ui/src/panels/learn"), &mut all);
    // The catalogs of all texts.
    let mut catalogs = 0;
    for side in ["app", "loader"] {
        let crates = fs::read_dir(root().join(side)).expect("the folder is there");
        let words = crates.flatten().map(|one| one.path().join("words"));
        for folder in words.filter(|folder| folder.join("zh.toml").is_file()) {
            texts(&folder, &mut all);
            catalogs += 1;
        }
    }
    assert!(catalogs > 5, "only {catalogs} catalogs were found");
    let names = [
        "Inter-Regular.otf",
        "JetBrainsMono-Regular.ttf",
        "NotoSansSC-subset.otf",
    ];
    let fonts =
        names.map(|name| fs::read(root().join("assets/fonts").join(name)).expect("it is there"));
    let maps = fonts
        .each_ref()
        .map(|font| FontRef::new(font).expect("it is a font").charmap());
    let characters: BTreeSet<char> = all.chars().filter(|c| !c.is_control()).collect();
    assert!(
        characters.len() > 400,
        "only {} characters were found",
        characters.len()
    );
    let missing: Vec<char> = characters
        .into_iter()
        .filter(|c| maps.iter().all(|map| map.map(*c).is_none()))
        .collect();
    assert!(
        missing.is_empty(),
        "no font has {missing:?}: run assets/fonts/make_cjk.py"
    );
}

#[test]
fn the_chinese_font_is_small() {
    let size = fs::metadata(root().join("assets/fonts/NotoSansSC-subset.otf"))
        .expect("it is there")
        .len();
    assert!(size <= 700_000, "{size} bytes");
}
