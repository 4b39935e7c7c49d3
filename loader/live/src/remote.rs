//! A program on another host, started through the user's own `ssh`.
//!
//! Nothing has to be installed there but Python and PyTorch: the probe travels in the command, into a folder that is removed at the end.
//! What the program tells comes back through a socket that `ssh` forwards, so no port is opened on either host.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::Command;
use std::str::FromStr;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use loadscope_words::say;

use crate::{PROBE, SITECUSTOMIZE};

/// The line behind a file in the script.
const END: &str = "LOADSCOPE_END_OF_FILE";

/// The variable that names another `ssh`, with arguments: `ssh -F other_config`.
pub const SSH: &str = "LOADSCOPE_SSH";

/// Where a program runs: `HOST`, `USER@HOST`, or with the folder that it is started in, `HOST:FOLDER`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remote {
    host: String,
    folder: Option<String>,
}

/// A text that names no host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoHost {
    /// Nothing stands before the colon.
    #[error("{}", say!("the host is missing: write HOST, or HOST:FOLDER"))]
    Missing,
    /// It would be read as an option of `ssh`.
    #[error("{}", say!("{0:?} is not a host: a host cannot begin with a hyphen", .0))]
    Option(String),
}

impl FromStr for Remote {
    type Err = NoHost;

    fn from_str(text: &str) -> Result<Self, NoHost> {
        // An address of IPv6 has colons of its own, and stands in brackets.
        let (host, folder) = match text.strip_prefix('[').and_then(|t| t.split_once(']')) {
            Some((address, rest)) => (address, rest.strip_prefix(':')),
            None => match text.split_once(':') {
                Some((host, folder)) => (host, Some(folder)),
                None => (text, None),
            },
        };
        if host.is_empty() {
            return Err(NoHost::Missing);
        }
        if host.starts_with('-') {
            return Err(NoHost::Option(host.to_owned()));
        }
        Ok(Self {
            host: host.to_owned(),
            folder: folder
                .filter(|folder| !folder.is_empty())
                .map(str::to_owned),
        })
    }
}

impl fmt::Display for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.host)
    }
}

/// What the program there gets told.
pub(crate) struct Told<'a> {
    /// Where we listen.
    pub socket: &'a Path,
    /// Words of the request, by their variables. What has no value is not to be set.
    pub variables: Vec<(&'static str, Option<String>)>,
    /// The variable for the address.
    pub to: &'static str,
    /// Random, of this run alone.
    pub word: &'a str,
}

impl Remote {
    /// The command that starts `command` there. `has_terminal`: the program is to have one, so that Ctrl-C reaches it.
    ///
    /// # Errors
    /// If a word of the command is no text, or the probe cannot be packed.
    pub(crate) fn command(
        &self,
        command: &[OsString],
        told: &Told<'_>,
        has_terminal: bool,
    ) -> io::Result<Command> {
        let words = command.iter().map(|word| text(word).map(quoted));
        let words = words.collect::<io::Result<Vec<_>>>()?.join(" ");
        // Only its owner can connect to it there, too: `ssh` makes it so.
        let there = format!(
            "/tmp/loadscope-{}.socket",
            told.word.get(..16).unwrap_or_default()
        );
        let script = self.script(&words, &there, told);
        let ssh = std::env::var(SSH).unwrap_or_default();
        let mut ssh = ssh.split_whitespace();
        let mut start = Command::new(ssh.next().unwrap_or("ssh"));
        start
            .args(ssh)
            .arg(if has_terminal { "-t" } else { "-T" })
            .args(["-o", "ExitOnForwardFailure=yes"])
            .arg("-R")
            .arg(format!("{there}:{}", text(told.socket.as_os_str())?))
            .arg("--")
            .arg(&self.host)
            .arg(wrapped(&script)?);
        Ok(start)
    }

    /// What is done there.
    fn script(&self, words: &str, socket: &str, told: &Told<'_>) -> String {
        let mut lines = vec![
            // The program hears the signals itself; this shell waits for it and clears up. From before there is anything to clear up.
            "d=".to_owned(),
            format!(r#"trap 'rm -rf "$d" {socket}' EXIT"#),
            "trap : HUP INT TERM".to_owned(),
            r#"d=$(mktemp -d "${TMPDIR:-/tmp}/loadscope-run-XXXXXXXXXX") || exit 2"#.to_owned(),
        ];
        for (name, text) in [
            ("loadscope_probe.py", PROBE),
            ("sitecustomize.py", SITECUSTOMIZE),
        ] {
            lines.push(format!(
                "cat > \"$d/{name}\" <<'{END}' || exit 2\n{text}{END}"
            ));
        }
        if let Some(folder) = &self.folder {
            let place = home(folder);
            lines.push(format!("cd -- {place} || exit 2"));
        }
        for (name, value) in &told.variables {
            lines.push(match value {
                Some(value) => format!("export {name}={}", quoted(value)),
                None => format!("unset {name}"),
            });
        }
        lines.push(format!("export {}=unix:{socket}", told.to));
        lines.push(r#"export PYTHONPATH="$d${PYTHONPATH:+:$PYTHONPATH}""#.to_owned());
        lines.push(words.to_owned());
        lines.join("\n")
    }
}

/// A folder as the shell there finds it: `~` is the user's home.
fn home(folder: &str) -> String {
    match folder.strip_prefix('~') {
        Some("") => "\"$HOME\"".to_owned(),
        Some(rest) if rest.starts_with('/') => format!("\"$HOME\"{}", quoted(rest)),
        _ => quoted(folder),
    }
}

fn text(word: &OsStr) -> io::Result<&str> {
    word.to_str().ok_or_else(|| {
        let shown = word.to_string_lossy();
        let why = say!("{shown:?} is not UTF-8, so ssh cannot pass it on. Rename it.");
        io::Error::new(io::ErrorKind::InvalidInput, why)
    })
}

/// A word that a shell takes as it is.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The script for any shell that the user may have there: without quotes in quotes, and with nothing in it that one of them changes.
fn wrapped(script: &str) -> io::Result<String> {
    Ok(format!(
        r#"exec /bin/sh -c 's=$(printf %s {} | base64 -d | gzip -dc) && [ -n "$s" ] || {{ echo "loadscope: base64 and gzip are needed on this host" >&2; exit 2; }}; eval "$s"'"#,
        packed(script)?
    ))
}

/// A text in letters that no shell changes.
fn packed(text: &str) -> io::Result<String> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    packer.write_all(text.as_bytes())?;
    Ok(BASE64_STANDARD.encode(packer.finish()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_and_its_folder_are_read() {
        let read = |text: &str| text.parse::<Remote>().map(|r| (r.host, r.folder));
        let host =
            |host: &str, folder: Option<&str>| Ok((host.to_owned(), folder.map(str::to_owned)));
        assert_eq!(read("gpu7"), host("gpu7", None));
        assert_eq!(read("ann@gpu7:~/job"), host("ann@gpu7", Some("~/job")));
        assert_eq!(read("gpu7:"), host("gpu7", None));
        assert_eq!(read("[::1]"), host("::1", None));
        assert_eq!(read("[::1]:/job"), host("::1", Some("/job")));
        assert_eq!(read(":/job"), Err(NoHost::Missing));
        assert_eq!(
            read("-oProxyCommand=x"),
            Err(NoHost::Option("-oProxyCommand=x".to_owned()))
        );
    }

    /// Runs the script in the shell of this host, without `ssh`.
    #[cfg(unix)]
    #[test]
    fn the_script_passes_words_on_as_they_are_and_clears_up() {
        let words = ["it's", "a b", "$HOME", "\"", "*", "\n", "é"];
        let place = tempfile::tempdir().expect("a temporary folder");
        let remote = Remote {
            host: "gpu7".to_owned(),
            folder: Some(place.path().display().to_string()),
        };
        let told = Told {
            socket: Path::new("/here"),
            variables: vec![("A", Some("it's {}".to_owned())), ("B", None)],
            to: "TO",
            word: "0123456789abcdef0123456789abcdef",
        };
        let mut shown = vec!["'printf'".to_owned(), "'%s|'".to_owned()];
        shown.extend(words.map(quoted));
        let tail = r#""$A" "${B-unset}" "$TO" "$(pwd)" "$(grep -c DataLoader "$d/loadscope_probe.py")" "$d"; exit 7"#;
        let words_and_tail = format!("{} {tail}", shown.join(" "));
        let script = remote.script(&words_and_tail, "/tmp/none.socket", &told);
        let wrapped = wrapped(&script).expect("it is packed");
        let ran = Command::new("/bin/sh")
            .arg("-c")
            .arg(wrapped)
            .env("B", "before")
            .output()
            .expect("a shell");
        assert_eq!(ran.status.code(), Some(7), "{ran:?}");
        let said = String::from_utf8(ran.stdout).expect("text");
        let mut parts: Vec<&str> = said.split('|').collect();
        assert_eq!(parts.drain(..words.len()).collect::<Vec<_>>(), words);
        let folder = place.path().canonicalize().expect("it is there");
        assert_eq!(parts[..3], ["it's {}", "unset", "unix:/tmp/none.socket"]);
        assert_eq!(parts[3], folder.display().to_string());
        assert_ne!(parts[4], "0");
        assert!(parts[5].contains("loadscope-run-"), "{said}");
        assert!(!Path::new(parts[5]).exists(), "the folder is removed");
    }

    #[test]
    fn the_command_fits_into_one_argument() {
        let remote: Remote = "gpu7".parse().expect("a host");
        let told = Told {
            socket: Path::new("/here"),
            variables: Vec::new(),
            to: "TO",
            word: "0123456789abcdef",
        };
        let wrapped = wrapped(&remote.script("'true'", "/tmp/x.socket", &told));
        // Linux takes no argument of more than 128 KiB.
        assert!(wrapped.expect("it is packed").len() < 100_000);
    }
}
