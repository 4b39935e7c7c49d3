//! Unusual environments: temporary and data folders that are long, missing, files, or not writable.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use anyhow::Result;

use crate::faults::case::Case;
use crate::faults::sandbox::Sandbox;

type Make = fn(&Sandbox) -> Result<OsString>;

fn made(path: PathBuf) -> Result<OsString> {
    fs::create_dir_all(&path)?;
    Ok(path.into())
}

/// Values of an environment variable that names a folder.
const FOLDERS: &[(&str, Make)] = &[
    ("of 300 characters", |sandbox| {
        made(sandbox.tmp().join("x".repeat(150)).join("y".repeat(150)))
    }),
    ("with a colon", |sandbox| made(sandbox.tmp().join("a:b"))),
    ("with spaces and quotes", |sandbox| {
        made(sandbox.tmp().join("a 'b' \"c\" $d"))
    }),
    ("that is not UTF-8", |sandbox| {
        made(sandbox.tmp().join(OsStr::from_bytes(b"a\xffb")))
    }),
    ("that is missing", |sandbox| {
        Ok(sandbox.tmp().join("missing").into())
    }),
    ("that is a file", |sandbox| {
        let path = sandbox.tmp().join("file");
        fs::write(&path, "")?;
        Ok(path.into())
    }),
    ("that is not writable", |sandbox| {
        let path = sandbox.tmp().join("locked");
        fs::create_dir(&path)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o500))?;
        // Root can write to this folder, but not to `/proc/self`.
        match sandbox.shared.is_root {
            true => Ok("/proc/self".into()),
            false => Ok(path.into()),
        }
    }),
    ("that is a device", |_| Ok("/dev/null".into())),
    ("that is relative", |sandbox| {
        fs::create_dir(sandbox.at("here"))?;
        Ok("here".into())
    }),
    ("that is empty", |_| Ok(OsString::new())),
];

fn attempt(sandbox: &Sandbox, variable: &str, make: Make) -> Result<()> {
    let value = make(sandbox)?;
    let ended = sandbox
        .record(&["-o", "run.jsonl"], &sandbox.fake_program())
        .env(variable, value)
        .run()?;
    ended.code(7)?;
    sandbox.check_whole(&sandbox.at("run.jsonl"), 20)
}

/// Records without any of the variables.
fn nothing_set(sandbox: &Sandbox) -> Result<()> {
    let mut launch = sandbox.record(&["-o", "run.jsonl"], &sandbox.fake_program());
    for name in [
        "HOME",
        "TMPDIR",
        "PATH",
        "LANG",
        "XDG_DATA_HOME",
        "XDG_CONFIG_HOME",
        "XDG_CACHE_HOME",
        "XDG_RUNTIME_DIR",
    ] {
        launch = launch.without(name);
    }
    launch.run()?.code(7)?;
    sandbox.check_whole(&sandbox.at("run.jsonl"), 20)
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let holds = "a program is recorded whole, with its own exit code";
    for (k, (name, make)) in FOLDERS.iter().enumerate() {
        for variable in ["TMPDIR", "HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"] {
            let title = format!("{variable} {name}");
            let injected = format!("{variable} names a folder {name}");
            let check = move |sandbox: &Sandbox| attempt(sandbox, variable, *make);
            let case = Case::new("surroundings", title, injected, holds, check);
            cases.push(case.fast_if(variable == "TMPDIR" && k % 3 == 0));
        }
    }
    cases.push(
        Case::new(
            "surroundings",
            "no variables",
            "HOME, TMPDIR, PATH and those of XDG are not set",
            holds,
            nothing_set,
        )
        .fast(),
    );
    cases
}
