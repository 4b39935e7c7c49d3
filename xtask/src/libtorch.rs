//! Choice and installation of libtorch.
//!
//! The installation itself is in `python/libtorch.py`.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::exit::{AlreadyReported, SETUP_FAILED};
use crate::python;
use crate::version::{VERSION, require_version};

/// File with the size of every library. `python/libtorch.py` writes it last.
const STAMP: &str = "setup-stamp";
const STAMP_VERSION: &str = "setup 1";

/// Inputs of the choice of libtorch.
pub struct BuildEnvironment {
    libtorch: Option<PathBuf>,
    pub use_pytorch: bool,
    by_default: PathBuf,
    cached: PathBuf,
}

/// Source of libtorch.
#[derive(Debug, PartialEq)]
pub enum Choice {
    /// Folder of the user.
    Own(PathBuf),
    /// PyTorch of the user's Python.
    Pytorch,
    /// Wheels, unpacked into this folder. The folder may not exist yet.
    Wheels(PathBuf),
}

impl BuildEnvironment {
    /// Reads the environment.
    pub fn of_this_process(workspace: &Path) -> Result<Self> {
        let get = |name: &str| env::var_os(name);
        let cache = cache()?;
        let platform = platform(env::consts::OS, env::consts::ARCH);
        Ok(Self {
            libtorch: get("LIBTORCH").map(PathBuf::from),
            // torch-sys checks only that the variable is set, not its value.
            use_pytorch: get("LIBTORCH_USE_PYTORCH").is_some(),
            by_default: workspace.join("target").join("libtorch"),
            cached: cache.join(format!("libtorch-{VERSION}-{platform}")),
        })
    }

    /// Returns true if the user set LIBTORCH. Cargo also sets it, to the value in `.cargo/config.toml`.
    pub fn own_libtorch_set(&self) -> bool {
        self.libtorch
            .as_ref()
            .is_some_and(|path| !path.as_os_str().is_empty() && *path != self.by_default)
    }

    /// Chooses the user's LIBTORCH, then the user's PyTorch, then a libtorch in `target`, then wheels.
    pub fn choose(&self) -> Choice {
        match &self.libtorch {
            // CI sets LIBTORCH to the folder that xtask made.
            Some(path) if self.own_libtorch_set() && *path != self.cached => {
                Choice::Own(path.clone())
            }
            _ if self.use_pytorch => Choice::Pytorch,
            // A folder is from the user. xtask would have made a link.
            _ if !self.by_default.is_symlink() && looks_like_libtorch(&self.by_default) => {
                Choice::Own(self.by_default.clone())
            }
            _ => Choice::Wheels(self.cached.clone()),
        }
    }
}

/// Returns the user's folder for files that can be downloaded again.
pub fn cache() -> Result<PathBuf> {
    cache_folder(env::consts::OS, |name| env::var_os(name)).context(
        "No folder for libtorch: neither LOADSCOPE_CACHE nor HOME is set. Set LOADSCOPE_CACHE to a \
         folder with 1 GB of free space.",
    )
}

/// Returns the same folder for any system and environment.
fn cache_folder(os: &str, get: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let folder = |name: &str| {
        get(name)
            .map(PathBuf::from)
            // The XDG specification requires that relative paths are ignored.
            .filter(|path| path.is_absolute())
    };
    if let Some(own) = get("LOADSCOPE_CACHE").filter(|value| !value.is_empty()) {
        return std::path::absolute(own).ok();
    }
    let base = match os {
        "windows" => folder("LOCALAPPDATA"),
        "macos" => folder("HOME").map(|home| home.join("Library").join("Caches")),
        _ => folder("XDG_CACHE_HOME").or_else(|| folder("HOME").map(|home| home.join(".cache"))),
    };
    base.map(|base| base.join("loadscope"))
}

fn platform(os: &str, arch: &str) -> String {
    format!("{os}-{arch}")
}

/// Returns true if a folder has the two subfolders of every libtorch.
fn looks_like_libtorch(folder: &Path) -> bool {
    folder.join("lib").is_dir() && folder.join("include").is_dir()
}

/// Fails with an explanation if the user's libtorch cannot be used.
pub fn require_usable(folder: &Path) -> Result<()> {
    let remedy = format!(
        "Point LIBTORCH at an unpacked libtorch {VERSION}, or unset it to have one put together."
    );
    let shown = folder.display();
    if folder.is_relative() {
        bail!("LIBTORCH is the relative path {shown}. Set an absolute path. {remedy}");
    }
    if !looks_like_libtorch(folder) {
        bail!("LIBTORCH is {shown}, which has no `lib` and `include` folders. {remedy}");
    }
    let version = fs::read_to_string(folder.join("build-version")).unwrap_or_default();
    require_version(&version, &format!("the libtorch in {shown}"), &remedy)
}

/// Returns true if the installation is complete and the libraries have their recorded sizes.
pub fn is_complete(folder: &Path) -> bool {
    let Ok(stamp) = fs::read_to_string(folder.join(STAMP)) else {
        return false;
    };
    let mut lines = stamp.lines();
    let whole = |line: &str| {
        let (file, size) = line.rsplit_once(' ')?;
        let found = fs::metadata(folder.join(file)).ok()?;
        (found.len() == size.parse::<u64>().ok()?).then_some(())
    };
    lines.next() == Some(STAMP_VERSION) && lines.all(|line| whole(line).is_some())
}

/// Downloads the wheels and installs libtorch in `folder`.
pub fn assemble(folder: &Path, workspace: &Path) -> Result<()> {
    let (os, arch) = (env::consts::OS, env::consts::ARCH);
    let platform = platform(os, arch);
    if ![
        "linux-x86_64",
        "linux-aarch64",
        "macos-aarch64",
        "windows-x86_64",
    ]
    .contains(&platform.as_str())
    {
        bail!(
            "There is no wheel of libtorch {VERSION} for {os} on {arch}. Build libtorch {VERSION} \
             from PyTorch's sources and set LIBTORCH to its folder."
        );
    }
    eprintln!(
        "Putting libtorch {VERSION} together in {} (540 MB to download, once per user).",
        folder.display()
    );
    let status = Command::new(python::find()?)
        .arg("-B")
        .arg(workspace.join("xtask/python/libtorch.py"))
        .args(["--platform", &platform, "--into"])
        .arg(folder)
        .status()
        .context("Python could not be started to put libtorch together")?;
    match status.code() {
        Some(0) => {}
        Some(130) => return Err(AlreadyReported(130).into()),
        _ => return Err(AlreadyReported(SETUP_FAILED).into()),
    }
    if !is_complete(folder) {
        bail!(
            "libtorch in {} is still not complete. Remove that folder and run the command again.",
            folder.display()
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn surroundings(libtorch: Option<&str>, use_pytorch: bool) -> BuildEnvironment {
        BuildEnvironment {
            libtorch: libtorch.map(PathBuf::from),
            use_pytorch,
            by_default: "/src/target/libtorch".into(),
            cached: "/cache/libtorch".into(),
        }
    }

    #[test]
    fn the_users_libtorch_has_precedence_over_cargos_default() {
        let wheels = Choice::Wheels("/cache/libtorch".into());
        let own = Choice::Own("/opt/libtorch".into());
        assert_eq!(surroundings(Some("/opt/libtorch"), true).choose(), own);
        assert_eq!(surroundings(None, true).choose(), Choice::Pytorch);
        for value in [None, Some(""), Some("/src/target/libtorch")] {
            assert_eq!(surroundings(value, false).choose(), wheels);
            assert!(!surroundings(value, false).own_libtorch_set());
        }
    }

    #[test]
    fn a_missing_exported_folder_is_assembled_from_wheels() {
        let ci = surroundings(Some("/cache/libtorch"), false);
        assert_eq!(ci.choose(), Choice::Wheels("/cache/libtorch".into()));
        assert!(ci.own_libtorch_set(), "cargo has to see the same value");
    }

    #[test]
    fn a_library_put_into_target_by_hand_is_kept() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let mut found = surroundings(None, false);
        found.by_default = folder.path().to_path_buf();
        fs::create_dir(folder.path().join("lib"))?;
        fs::create_dir(folder.path().join("include"))?;
        assert_eq!(found.choose(), Choice::Own(folder.path().into()));
        Ok(())
    }

    #[cfg(unix)]
    #[test]
    fn the_cache_folder_follows_the_system_conventions() {
        let chosen = |os: &str, set: &[(&str, &str)]| {
            cache_folder(os, |name| {
                set.iter()
                    .find(|(key, _)| *key == name)
                    .map(|(_, value)| OsString::from(value))
            })
        };
        let home = ("HOME", "/home/ada");
        let is = |path: &str| Some(PathBuf::from(path));
        assert_eq!(chosen("linux", &[home]), is("/home/ada/.cache/loadscope"));
        assert_eq!(
            chosen("linux", &[home, ("XDG_CACHE_HOME", "/fast")]),
            is("/fast/loadscope")
        );
        assert_eq!(
            chosen("linux", &[home, ("XDG_CACHE_HOME", "not/absolute")]),
            is("/home/ada/.cache/loadscope")
        );
        assert_eq!(
            chosen("macos", &[home]),
            is("/home/ada/Library/Caches/loadscope")
        );
        assert_eq!(
            chosen("linux", &[home, ("LOADSCOPE_CACHE", "/own")]),
            is("/own")
        );
        assert_eq!(chosen("linux", &[]), None);
    }

    #[test]
    fn only_a_finished_setup_is_complete() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let root = folder.path();
        assert!(!is_complete(root));
        fs::create_dir(root.join("lib"))?;
        fs::write(root.join("lib/a.so"), "four")?;
        fs::write(root.join(STAMP), "setup 1\nlib/a.so 4\n")?;
        assert!(is_complete(root));
        fs::write(root.join("lib/a.so"), "three")?;
        assert!(!is_complete(root), "a library was cut or replaced");
        fs::write(root.join(STAMP), "setup 0\n")?;
        assert!(!is_complete(root), "made by an older xtask");
        Ok(())
    }

    #[test]
    fn an_unusable_libtorch_is_refused_with_a_remedy() {
        let told = require_usable(Path::new("/nonexistent/libtorch")).unwrap_err();
        let told = told.to_string();
        assert!(
            told.contains("/nonexistent/libtorch") && told.contains("unset it"),
            "{told}"
        );
        assert!(require_version("2.13.0+cpu\n", "it", "").is_ok());
        assert!(require_version("2.12.1", "it", "").is_err());
    }
}
