//! System packages on Linux: finds missing ones, and installs them or prints the command.
//!
//! The checks look for the files themselves, so they work on every distribution and with every driver.

use std::collections::HashSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Result, bail};

/// Purpose of the packages. Each level includes the previous ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Compilation of the workspace.
    Building,
    /// Opening a window.
    Window,
    /// Drawing images and opening windows without a screen.
    Tests,
}

/// Reaction to missing packages that cannot be installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// Prints a warning and continues, unless compilation needs them.
    Warns,
    /// Prints an error and stops.
    Fails,
}

#[derive(Debug, PartialEq)]
enum Probe {
    /// Shared library in the list of `ldconfig`.
    Library(&'static str),
    /// Program in the PATH.
    Program(&'static str),
    /// File in one of these folders whose name contains the text.
    File(&'static [&'static str], &'static str),
}

#[derive(Debug)]
struct Requirement {
    level: Level,
    probe: Probe,
    /// Package name in Debian and Ubuntu.
    package: &'static str,
    what: &'static str,
}

const fn library(name: &'static str, package: &'static str) -> Requirement {
    Requirement {
        level: Level::Window,
        probe: Probe::Library(name),
        package,
        what: name,
    }
}

const VULKAN_DRIVERS: &[&str] = &[
    "/usr/share/vulkan/icd.d",
    "/etc/vulkan/icd.d",
    "/usr/local/share/vulkan/icd.d",
];
const GL_DRIVERS: &[&str] = &[
    "/usr/share/glvnd/egl_vendor.d",
    "/etc/glvnd/egl_vendor.d",
    "/usr/lib/dri",
    "/usr/lib64/dri",
];

#[rustfmt::skip]
const REQUIREMENTS: &[Requirement] = &[
    Requirement { level: Level::Building, probe: Probe::Program("c++"), package: "g++", what: "a C++ compiler" },
    library("libGL.so.1", "libgl1"),
    library("libEGL.so.1", "libegl1"),
    Requirement { level: Level::Window, probe: Probe::File(GL_DRIVERS, ""), package: "libgl1-mesa-dri", what: "an OpenGL driver" },
    library("libX11.so.6", "libx11-6"),
    library("libX11-xcb.so.1", "libx11-xcb1"),
    library("libXcursor.so.1", "libxcursor1"),
    library("libXi.so.6", "libxi6"),
    library("libXrandr.so.2", "libxrandr2"),
    library("libxkbcommon.so.0", "libxkbcommon0"),
    library("libxkbcommon-x11.so.0", "libxkbcommon-x11-0"),
    library("libwayland-client.so.0", "libwayland-client0"),
    Requirement { level: Level::Tests, probe: Probe::Program("Xvfb"), package: "xvfb", what: "Xvfb, an X server without a screen" },
    Requirement { level: Level::Tests, probe: Probe::Library("libvulkan.so.1"), package: "libvulkan1", what: "libvulkan.so.1" },
    Requirement { level: Level::Tests, probe: Probe::File(VULKAN_DRIVERS, "lvp_icd"), package: "mesa-vulkan-drivers",
        what: "lavapipe, the Vulkan driver that draws without a graphics card" },
];

/// Installs the missing packages for `level` if possible. Otherwise warns or fails.
pub fn require(level: Level, if_missing: Missing) -> Result<()> {
    if env::consts::OS != "linux" {
        return Ok(());
    }
    // Without ldconfig (NixOS, musl), libraries cannot be checked.
    let Some(system) = System::detect() else {
        return Ok(());
    };
    let mut missing = missing_of(level, |probe| system.has(probe));
    if missing.is_empty() {
        return Ok(());
    }
    let has_apt = system.has(&Probe::Program("apt-get"));
    if has_apt && is_root() {
        install(&packages_of(&missing));
        let now = System::detect().unwrap_or(system);
        missing.retain(|need| !now.has(&need.probe));
        if missing.is_empty() {
            return Ok(());
        }
    }
    let text = advice(&missing, has_apt, is_root());
    if if_missing == Missing::Fails || missing.iter().any(|need| need.level == Level::Building) {
        bail!(text);
    }
    eprintln!("warning: {text}");
    Ok(())
}

/// Returns the driver file of lavapipe. Its images are equal on every host.
pub fn lavapipe() -> Option<PathBuf> {
    let files = VULKAN_DRIVERS
        .iter()
        .filter_map(|folder| fs::read_dir(folder).ok())
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()));
    // Debian installs one driver file per architecture.
    let mut found: Vec<_> = files
        .filter(|path| path.to_string_lossy().contains("lvp_icd"))
        .collect();
    found.sort_by_key(|path| !path.to_string_lossy().contains(env::consts::ARCH));
    found.into_iter().next()
}

fn missing_of(level: Level, has: impl Fn(&Probe) -> bool) -> Vec<&'static Requirement> {
    REQUIREMENTS
        .iter()
        .filter(|need| need.level <= level && !has(&need.probe))
        .collect()
}

fn packages_of(needs: &[&Requirement]) -> Vec<&'static str> {
    needs.iter().map(|need| need.package).collect()
}

fn advice(missing: &[&Requirement], has_apt: bool, root: bool) -> String {
    let whats: Vec<_> = missing.iter().map(|need| need.what).collect();
    let packages = packages_of(missing).join(" ");
    let remedy = if has_apt {
        let sudo = if root { "" } else { "sudo " };
        format!("Install it with: {sudo}apt-get install {packages}")
    } else {
        format!(
            "Install it with your system's package manager, where the names may differ from \
             Debian's: {packages}"
        )
    };
    format!("This system lacks {}. {remedy}", whats.join(", "))
}

/// Tries to install packages. The caller checks afterwards which are still missing.
fn install(packages: &[&str]) {
    eprintln!("Installing system packages: {}", packages.join(" "));
    let apt = |arguments: &[&str]| {
        Command::new("apt-get")
            .args(arguments)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .stdin(Stdio::null())
            // Standard output is reserved for `setup --print`.
            .stdout(std::io::stderr())
            .status()
            .is_ok_and(|status| status.success())
    };
    let mut command = vec!["install", "-y", "-q", "--no-install-recommends"];
    command.extend(packages);
    // Old lists may name packages that the server no longer has. Then the lists are updated.
    let installed = (has_lists() && apt(&command)) || (apt(&["update", "-q"]) && apt(&command));
    if !installed {
        eprintln!(
            "`apt-get {}` failed (see above). Check the network and /etc/apt/sources.list.",
            command.join(" ")
        );
    }
}

fn has_lists() -> bool {
    fs::read_dir("/var/lib/apt/lists").is_ok_and(|entries| {
        entries
            .flatten()
            .any(|entry| entry.file_name().to_string_lossy().contains("_Packages"))
    })
}

#[cfg(target_os = "linux")]
fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

#[cfg(not(target_os = "linux"))]
fn is_root() -> bool {
    false
}

/// Installed libraries, and the PATH.
struct System {
    libraries: HashSet<String>,
    path: Vec<PathBuf>,
}

impl System {
    fn detect() -> Option<Self> {
        // The PATH of users other than root often lacks /sbin.
        let output = ["/sbin/ldconfig", "/usr/sbin/ldconfig", "ldconfig"]
            .iter()
            .find_map(|program| Command::new(program).arg("-p").output().ok())?;
        Some(Self {
            libraries: libraries_in(&String::from_utf8_lossy(&output.stdout)),
            path: env::split_paths(&env::var_os("PATH")?).collect(),
        })
    }

    fn has(&self, probe: &Probe) -> bool {
        match probe {
            // The cc crate takes the compiler from CXX.
            Probe::Program("c++") if env::var_os("CXX").is_some() => true,
            Probe::Program(name) => self.path.iter().any(|folder| folder.join(name).is_file()),
            Probe::Library(name) => self.libraries.contains(*name),
            Probe::File(folders, part) => folders.iter().any(|folder| {
                fs::read_dir(Path::new(folder)).is_ok_and(|mut entries| {
                    entries.any(|entry| {
                        entry.is_ok_and(|entry| entry.file_name().to_string_lossy().contains(part))
                    })
                })
            }),
        }
    }
}

/// Parses the library names in the output of `ldconfig -p`.
fn libraries_in(listing: &str) -> HashSet<String> {
    listing
        .lines()
        .filter(|line| line.contains("=>"))
        .filter_map(|line| Some(line.split_whitespace().next()?.to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_level_includes_the_packages_below() {
        let bare = |level| packages_of(&missing_of(level, |_| false));
        assert_eq!(bare(Level::Building), ["g++"]);
        assert!(bare(Level::Window).contains(&"libgl1-mesa-dri"));
        assert!(!bare(Level::Window).contains(&"xvfb"));
        assert!(bare(Level::Tests).starts_with(&bare(Level::Window)));
        assert!(bare(Level::Tests).ends_with(&["xvfb", "libvulkan1", "mesa-vulkan-drivers"]));
    }

    #[test]
    fn only_absent_packages_are_missing() {
        let missing = missing_of(Level::Tests, |probe| *probe != Probe::Program("Xvfb"));
        assert_eq!(packages_of(&missing), ["xvfb"]);
        assert!(missing_of(Level::Tests, |_| true).is_empty());
    }

    #[test]
    fn the_advice_names_the_package_and_the_command() {
        let missing = missing_of(Level::Tests, |probe| *probe != Probe::Program("Xvfb"));
        assert_eq!(
            advice(&missing, true, false),
            "This system lacks Xvfb, an X server without a screen. Install it with: sudo apt-get \
             install xvfb"
        );
        assert!(advice(&missing, false, false).contains("package manager"));
    }

    #[test]
    fn ldconfig_output_is_parsed() {
        let listing = "2 libs found in cache `/etc/ld.so.cache'\n\
                       \tlibGL.so.1 (libc6,x86-64) => /lib/x86_64-linux-gnu/libGL.so.1\n\
                       \tlibEGL.so.1 (libc6,x86-64) => /lib/x86_64-linux-gnu/libEGL.so.1\n";
        let found = libraries_in(listing);
        assert_eq!(found.len(), 2);
        assert!(found.contains("libGL.so.1"));
    }
}
