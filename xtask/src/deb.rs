//! The package for Debian and Ubuntu: the program without the embedded loader, desktop files, man pages, completions.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use clap::Args;

use crate::setup::{Ready, workspace};
use crate::{pytorch, steps};

/// Options of the package build.
#[derive(Args, Debug)]
pub struct Options {
    /// Install and start it, open a recording from the desktop entry under Xvfb, remove it again (as root)
    #[arg(long = "try")]
    tries: bool,
    /// Use this executable, built with `--no-default-features`, instead of building one
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
}

/// Linked libraries, and those that the window loads at its start.
const DEPENDS: &str = "libc6 (>= 2.31), libgcc-s1, libgl1, libegl1, libx11-6, libxcursor1, libxi6, libxrandr2, libxkbcommon0";

/// Installed files of the completions, by shell.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "usr/share/bash-completion/completions/loadscope"),
    ("zsh", "usr/share/zsh/vendor-completions/_loadscope"),
    ("fish", "usr/share/fish/vendor_completions.d/loadscope.fish"),
];

/// Builds the package, and tests it with `--try`.
pub fn run(ready: &Ready, options: &Options) -> Result<u8> {
    let program = match &options.program {
        Some(own) => own.clone(),
        None => build(ready)?,
    };
    let folder = ready.target.join("deb");
    if folder.is_dir() {
        fs::remove_dir_all(&folder)
            .with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    let package = stage(&program, &folder)?;
    let size = fs::metadata(&package)?.len();
    eprintln!("{}: {:.1} MB", package.display(), size as f64 / 1e6);
    match options.tries {
        true => attempt(&package),
        false => Ok(0),
    }
}

fn build(ready: &Ready) -> Result<PathBuf> {
    // The target folder is separate, because the program with the embedded loader has the same name.
    let target = ready.target.join("without-engine");
    let arguments = [
        "build",
        "--release",
        "--package",
        "loadscope",
        "--no-default-features",
    ];
    let mut cargo = steps::cargo(ready, &arguments);
    cargo.env("CARGO_TARGET_DIR", &target);
    if steps::finish(&mut cargo)? != 0 {
        bail!("The build of the program failed. Its errors are above.");
    }
    Ok(target.join("release/loadscope"))
}

/// Copies all files into a package tree, and packs it.
fn stage(program: &Path, folder: &Path) -> Result<PathBuf> {
    let root = folder.join("root");
    let place = |name: &str| -> Result<PathBuf> {
        let path = root.join(name);
        let parent = path.parent().context("a path in a folder")?;
        fs::create_dir_all(parent).with_context(|| format!("cannot make {}", parent.display()))?;
        Ok(path)
    };
    let binary = place("usr/bin/loadscope")?;
    fs::copy(program, &binary).with_context(|| format!("cannot copy {}", program.display()))?;
    pytorch::succeed(
        Command::new("strip").arg(&binary),
        "The program could not be stripped",
    )?;
    let assets = workspace().join("assets");
    for (from, to) in [
        (
            "desktop/loadscope.desktop",
            "usr/share/applications/loadscope.desktop",
        ),
        (
            "desktop/loadscope.xml",
            "usr/share/mime/packages/loadscope.xml",
        ),
        (
            "icon.png",
            "usr/share/icons/hicolor/256x256/apps/loadscope.png",
        ),
    ] {
        let from = assets.join(from);
        fs::copy(&from, place(to)?).with_context(|| format!("cannot copy {}", from.display()))?;
    }
    fs::write(
        place("usr/share/doc/loadscope/copyright")?,
        "Loadscope is licensed under MIT or Apache-2.0, at your choice. The digits, the photographs and the fonts have their own \
         licences, which stand beside them in the sources.\n",
    )?;
    for (shell, to) in COMPLETIONS {
        let asked = Command::new(&binary)
            .args(["completions", shell])
            .output()?;
        if !asked.status.success() {
            bail!("The program gave no completions for {shell}.");
        }
        fs::write(place(to)?, asked.stdout)?;
    }
    manual(&binary, &place("usr/share/man/man1/loadscope.1")?)?;
    fs::write(place("DEBIAN/control")?, control(&root)?)?;
    let package = folder.join(format!(
        "loadscope_{}_{}.deb",
        env!("CARGO_PKG_VERSION"),
        architecture()?
    ));
    let mut pack = Command::new("dpkg-deb");
    pack.args(["--root-owner-group", "--build"])
        .arg(&root)
        .arg(&package);
    pytorch::succeed(&mut pack, "dpkg-deb made no package")?;
    Ok(package)
}

fn manual(binary: &Path, first: &Path) -> Result<()> {
    let pages = first.parent().context("a path in a folder")?;
    let mut write = Command::new(binary);
    write.arg("manual").arg(pages);
    pytorch::succeed(&mut write, "The program wrote no man pages")?;
    let mut pack = Command::new("gzip");
    pack.args(["--best", "--no-name"]);
    for page in fs::read_dir(pages)?.flatten() {
        fs::set_permissions(page.path(), fs::Permissions::from_mode(0o644))?;
        pack.arg(page.path());
    }
    pytorch::succeed(&mut pack, "The man pages could not be packed")
}

fn architecture() -> Result<String> {
    let asked = Command::new("dpkg")
        .arg("--print-architecture")
        .output()
        .context("dpkg is missing: this needs Debian or Ubuntu")?;
    Ok(String::from_utf8_lossy(&asked.stdout).trim().to_owned())
}

fn control(root: &Path) -> Result<String> {
    let asked = Command::new("du").arg("-sk").arg(root).output()?;
    let said = String::from_utf8_lossy(&asked.stdout);
    let size = said.split_whitespace().next().unwrap_or("0");
    Ok(format!(
        "Package: loadscope\nVersion: {}\nArchitecture: {}\nMaintainer: The Loadscope authors <loadscope@example.org>\n\
         Section: devel\nPriority: optional\nInstalled-Size: {size}\nDepends: {DEPENDS}\nRecommends: python3, desktop-file-utils, \
         shared-mime-info\nDescription: see what the data loaders of a PyTorch training do\n Records a training, unchanged, says why it \
         waits for data, and shows\n every batch on its way through samplers, queues and workers.\n",
        env!("CARGO_PKG_VERSION"),
        architecture()?
    ))
}

/// Installs the package, tests it like a desktop, and removes it.
fn attempt(package: &Path) -> Result<u8> {
    let mut tried = Command::new("sh");
    tried
        .arg(workspace().join("tests/wheel/deb.sh"))
        .arg(package)
        .arg(workspace().join("assets/lessons/cases"));
    steps::finish(&mut tried)
}
