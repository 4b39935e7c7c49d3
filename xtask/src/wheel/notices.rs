//! The licenses in the wheel: those of Loadscope, and the notices of all packages that are compiled into the program.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::setup::{Ready, workspace};
use crate::steps::cargo;

/// Licenses of Loadscope, in the root of the repository.
const OWN: [&str; 2] = ["LICENSE-MIT", "LICENSE-APACHE"];

/// Name of the file with all other notices.
const OTHERS: &str = "THIRD-PARTY-NOTICES.txt";

/// Files in the program that others made, with their notices.
const ASSETS: [&str; 4] = [
    "assets/fonts/LICENSE.md",
    "assets/fonts/OFL.txt",
    "assets/digits/ATTRIBUTION.md",
    "assets/pictures/ATTRIBUTION.md",
];

/// Beginnings of names of files with notices, in lower case.
const NAMES: [&str; 6] = [
    "license",
    "licence",
    "copying",
    "copyright",
    "notice",
    "unlicense",
];

/// Returns the names of the license files in the wheel.
pub fn names() -> impl Iterator<Item = &'static str> {
    OWN.into_iter().chain([OTHERS])
}

/// Writes the license files into the wheel's folder, where its build takes them from.
pub fn write(ready: &Ready) -> Result<()> {
    let (root, wheel) = (workspace(), workspace().join("app/wheel"));
    for name in OWN {
        fs::copy(root.join(name), wheel.join(name))
            .with_context(|| format!("cannot copy {name}"))?;
    }
    let listed = cargo(ready, &["metadata", "--format-version", "1", "--locked"])
        .args(["--no-default-features", "--manifest-path"])
        .arg(root.join("app/program/Cargo.toml"))
        .output()?;
    ensure!(listed.status.success(), "cargo metadata failed");
    let metadata = serde_json::from_slice(&listed.stdout).context("cargo metadata prints JSON")?;
    let packages = packages(&metadata)?;
    let text = text(&packages, &root)?;
    let path = wheel.join(OTHERS);
    fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// Package that is compiled into the program.
#[derive(Debug, PartialEq, Eq)]
struct Package {
    name: String,
    license: String,
    folder: PathBuf,
}

/// Returns the third-party packages that are compiled into the program, without dependencies of tests and build scripts.
fn packages(metadata: &Value) -> Result<Vec<Package>> {
    let list = |value: &'_ Value, name: &str| -> Vec<Value> {
        value[name].as_array().cloned().unwrap_or_default()
    };
    let nodes: BTreeMap<String, Value> = list(&metadata["resolve"], "nodes")
        .into_iter()
        .map(|node| (id(&node["id"]), node))
        .collect();
    let mut reached = BTreeSet::new();
    let mut next = vec![id(&metadata["resolve"]["root"])];
    while let Some(one) = next.pop() {
        let Some(node) = nodes.get(&one).filter(|_| reached.insert(one.clone())) else {
            continue;
        };
        for dependency in list(node, "deps") {
            let kinds = list(&dependency, "dep_kinds");
            // The kind of a normal dependency is null.
            if kinds.is_empty() || kinds.iter().any(|kind| kind["kind"].is_null()) {
                next.push(id(&dependency["pkg"]));
            }
        }
    }
    let mut packages = Vec::new();
    for package in list(metadata, "packages") {
        if package["source"].is_null() || !reached.contains(&id(&package["id"])) {
            continue;
        }
        let manifest = PathBuf::from(id(&package["manifest_path"]));
        packages.push(Package {
            name: format!("{} {}", id(&package["name"]), id(&package["version"])),
            license: package["license"]
                .as_str()
                .unwrap_or("see below")
                .to_owned(),
            folder: manifest
                .parent()
                .context("a manifest is in a folder")?
                .to_owned(),
        });
    }
    ensure!(!packages.is_empty(), "cargo metadata lists no package");
    Ok(packages)
}

fn id(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Formats all packages with their licenses, then each notice once, with the packages that have it.
fn text(packages: &[Package], root: &Path) -> Result<String> {
    let mut out = String::from("Loadscope contains the following software of others.\n\n");
    let mut notices: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for package in packages {
        writeln!(out, "{}: {}", package.name, package.license)?;
        for notice in notices_in(&package.folder)? {
            notices.entry(notice).or_default().push(&package.name);
        }
    }
    for asset in ASSETS {
        let text =
            fs::read_to_string(root.join(asset)).with_context(|| format!("cannot read {asset}"))?;
        notices
            .entry(text.trim().to_owned())
            .or_default()
            .push(asset);
    }
    for (notice, of) in notices {
        write!(out, "\n{}\n{}\n\n{notice}\n", "=".repeat(80), of.join(", "))?;
    }
    Ok(out)
}

/// Returns the notices in a folder and in its subfolders for notices.
fn notices_in(folder: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().to_lowercase();
        if !NAMES.iter().any(|begin| name.starts_with(begin)) {
            continue;
        }
        match entry.file_type()?.is_dir() {
            true => {
                let inner = fs::read_dir(entry.path())?.flatten();
                found.extend(inner.filter_map(|one| fs::read_to_string(one.path()).ok()));
            }
            false => found.extend(fs::read_to_string(entry.path())),
        }
    }
    let mut found: Vec<String> = found
        .iter()
        .map(|text| text.trim().replace("\r\n", "\n"))
        .collect();
    found.sort();
    found.dedup();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn compiled_packages_are_listed_with_their_notices() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let at = |name: &str| folder.path().join(name);
        for (name, file, notice) in [
            ("used", "LICENSE-MIT", "(c) one"),
            ("deep", "COPYING", "(c) one\n"),
            ("tested", "LICENSE", "(c) two"),
        ] {
            fs::create_dir(at(name))?;
            fs::write(at(name).join(file), notice)?;
        }
        fs::create_dir(at("deep/licenses"))?;
        fs::write(at("deep/licenses/font.txt"), "(c) three")?;
        let package = |name: &str, source: Value| json!({"id": name, "name": name, "version": "1.0.0", "license": "MIT", "source": source, "manifest_path": at(name).join("Cargo.toml")});
        let metadata = json!({
            "packages": [package("own", Value::Null), package("used", "r".into()), package("deep", "r".into()), package("tested", "r".into())],
            "resolve": {"root": "own", "nodes": [
                {"id": "own", "deps": [{"pkg": "used", "dep_kinds": [{"kind": null}]}, {"pkg": "tested", "dep_kinds": [{"kind": "dev"}]}]},
                {"id": "used", "deps": [{"pkg": "deep", "dep_kinds": [{"kind": null}, {"kind": "build"}]}]},
                {"id": "deep", "deps": []},
                {"id": "tested", "deps": []},
            ]},
        });
        let found = packages(&metadata)?;
        let text = text(&found, &workspace())?;
        assert!(text.contains("used 1.0.0: MIT") && text.contains("deep 1.0.0: MIT"));
        assert!(!text.contains("tested") && !text.contains("(c) two"));
        assert_eq!(text.matches("(c) one").count(), 1);
        assert!(text.contains("used 1.0.0, deep 1.0.0") && text.contains("(c) three"));
        assert!(
            text.contains("SIL OPEN FONT LICENSE"),
            "the fonts have theirs"
        );
        Ok(())
    }
}
