//! Links between documents. Links to chapters stay, images are copied, and other links become plain text.

use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context as _, Result};

use super::chapters;
use crate::setup::workspace;

/// Folder of pages that are not checked, because they contain recordings and no links.
const RECORDINGS: &str = "recordings";

/// Adapts the links in the text of the chapter `file`, and copies its images to `folder`, the source of the site.
pub fn rewrite_links(text: &str, file: &str, folder: &Path) -> Result<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("](") {
        let (before, after) = rest.split_at(at);
        let Some(end) = after.find(')') else { break };
        let target = &after[2..end];
        match target_of(target, file) {
            Target::Elsewhere => out += &rest[..at + end + 1],
            Target::Chapter => {
                out += before;
                let (path, place) = target.split_once('#').unwrap_or((target, ""));
                let mark = if place.is_empty() { "" } else { "#" };
                out += &format!("]({}{mark}{place})", chapters::placed(path));
            }
            Target::Picture(path) => {
                let to = folder.join(&path);
                if let Some(parent) = to.parent() {
                    fs::create_dir_all(parent)?;
                }
                let from = workspace().join(&path);
                fs::copy(&from, &to).with_context(|| format!("cannot copy {}", from.display()))?;
                out += &rest[..at + end + 1];
            }
            Target::Source => {
                // `[text](file)` becomes `text`.
                let open = before.rfind('[').unwrap_or(before.len());
                out += &before[..open];
                out += before.get(open + 1..).unwrap_or_default();
            }
        }
        rest = &after[end + 1..];
    }
    out += rest;
    Ok(out)
}

enum Target {
    /// Another site, or an anchor in the same document.
    Elsewhere,
    Chapter,
    Picture(PathBuf),
    /// File of the repository outside of the site.
    Source,
}

fn target_of(target: &str, file: &str) -> Target {
    if target.starts_with('#') || target.contains("://") || target.starts_with("mailto:") {
        return Target::Elsewhere;
    }
    let path = target.split('#').next().unwrap_or_default();
    let path = resolved(Path::new(file).parent().unwrap_or(Path::new("")), path);
    let name = path.to_string_lossy();
    let is_picture = ["png", "webp", "jpg", "svg"]
        .iter()
        .any(|ending| path.extension().is_some_and(|e| e == *ending));
    if chapters::has(&name) {
        Target::Chapter
    } else if is_picture && workspace().join(&path).is_file() {
        Target::Picture(path)
    } else {
        Target::Source
    }
}

/// Resolves a path relative to the root of the repository, without `..`.
pub(super) fn resolved(from: &Path, path: &str) -> PathBuf {
    let mut out = PathBuf::new();
    for part in from.join(path).components() {
        match part {
            Component::ParentDir => {
                out.pop();
            }
            Component::Normal(name) => out.push(name),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    out
}

/// Returns the broken links of the finished site, one line per link.
pub fn broken(site: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let mut folders = vec![site.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)?.flatten() {
            let path = entry.path();
            if path.is_dir() {
                if path != site.join(RECORDINGS) {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|e| e == "html") {
                let text = fs::read_to_string(&path)?;
                let place = path
                    .strip_prefix(site)
                    .unwrap_or(&path)
                    .display()
                    .to_string();
                for target in targets(&text) {
                    let file = target.split(['#', '?']).next().unwrap_or_default();
                    if file.is_empty() || file.contains(':') {
                        continue;
                    }
                    let parent = path.parent().unwrap_or(site);
                    if !parent.join(file).exists() {
                        found.push(format!("{place}: {target} leads nowhere"));
                    }
                }
            }
        }
    }
    Ok(found)
}

/// Returns the values of `href` and `src`.
fn targets(html: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for name in [" href=\"", " src=\""] {
        let mut rest = html;
        while let Some(at) = rest.find(name) {
            rest = &rest[at + name.len()..];
            let end = rest.find('"').unwrap_or(rest.len());
            found.push(&rest[..end]);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_kept_copied_or_replaced_by_text() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let text = "[a](ARCHITECTURE.md#x) [w](app/wheel/README.md) [b](https://x.org) [c](LICENSE-MIT) [d](#here) ![e](screenshots/diagnose.png)";
        let out = rewrite_links(text, "README.md", folder.path()).expect("they are read");
        let expected = "[a](ARCHITECTURE.md#x) [w](app/wheel/index.md) [b](https://x.org) c [d](#here) ![e](screenshots/diagnose.png)";
        assert_eq!(out, expected);
        assert!(folder.path().join("screenshots/diagnose.png").is_file());
    }

    #[test]
    fn broken_links_are_named() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let page =
            r##"<a href="b.html#x">b</a> <a href="https://x.org">x</a> <img src="none.png">"##;
        fs::write(folder.path().join("a.html"), page).expect("there is room");
        fs::write(folder.path().join("b.html"), "").expect("there is room");
        let found = broken(folder.path()).expect("it is read");
        assert_eq!(found, ["a.html: none.png leads nowhere"]);
    }
}
