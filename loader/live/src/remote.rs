//! Start of a program on another host through the user's own `ssh`.
//!
//! The other host only needs Python, PyTorch, `base64` and `gzip`. The command contains the probe and writes it into a folder that is
//! removed at the end. `ssh` forwards a Unix socket for the events, so neither host opens a port.

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

/// End marker of a file in the script (heredoc).
const END: &str = "LOADSCOPE_END_OF_FILE";

/// Environment variable with another `ssh` command, including arguments: `ssh -F other_config`.
pub const SSH: &str = "LOADSCOPE_SSH";

/// Remote host and optional working folder: `HOST`, `USER@HOST` or `HOST:FOLDER`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remote {
    host: String,
    folder: Option<String>,
}

/// Error: the text is not a host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidHost {
    /// The text before the colon is empty.
    #[error("{}", say!("the host is missing: write HOST, or HOST:FOLDER"))]
    Missing,
    /// The host starts with a hyphen, so `ssh` would parse it as an option.
    #[error("{}", say!("{0:?} is not a host: a host cannot begin with a hyphen", .0))]
    Option(String),
}

impl FromStr for Remote {
    type Err = InvalidHost;

    fn from_str(text: &str) -> Result<Self, InvalidHost> {
        // An IPv6 address contains colons, so it is in brackets.
        let (host, folder) = match text.strip_prefix('[').and_then(|t| t.split_once(']')) {
            Some((address, rest)) => (address, rest.strip_prefix(':')),
            None => match text.split_once(':') {
                Some((host, folder)) => (host, Some(folder)),
                None => (text, None),
            },
        };
        if host.is_empty() {
            return Err(InvalidHost::Missing);
        }
        if host.starts_with('-') {
            return Err(InvalidHost::Option(host.to_owned()));
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

/// Settings for the remote program.
pub(crate) struct RemoteSettings<'a> {
    /// Path of the listener's socket on this host.
    pub socket: &'a Path,
    /// Environment variables of the request. A variable with `None` is unset.
    pub variables: Vec<(&'static str, Option<String>)>,
    /// Name of the variable for the address.
    pub to: &'static str,
    /// Random token of this run. Its first 16 characters name the remote socket.
    pub token: &'a str,
}

impl Remote {
    /// Returns the `ssh` command that runs `command` on the host. With `has_terminal`, the program gets a terminal, so Ctrl-C reaches it.
    ///
    /// # Errors
    /// Returns an error if a word of the command is not UTF-8, or the script cannot be compressed.
    pub(crate) fn command(
        &self,
        command: &[OsString],
        settings: &RemoteSettings<'_>,
        has_terminal: bool,
    ) -> io::Result<Command> {
        let words = command.iter().map(|word| text(word).map(quoted));
        let words = words.collect::<io::Result<Vec<_>>>()?.join(" ");
        // `ssh` creates the remote socket with access for its owner only.
        let there = format!(
            "/tmp/loadscope-{}.socket",
            settings.token.get(..16).unwrap_or_default()
        );
        let script = self.script(&words, &there, settings);
        let ssh = std::env::var(SSH).unwrap_or_default();
        let mut ssh = ssh.split_whitespace();
        let mut start = Command::new(ssh.next().unwrap_or("ssh"));
        start
            .args(ssh)
            .arg(if has_terminal { "-t" } else { "-T" })
            .args(["-o", "ExitOnForwardFailure=yes"])
            .arg("-R")
            .arg(format!("{there}:{}", text(settings.socket.as_os_str())?))
            .arg("--")
            .arg(&self.host)
            .arg(wrapped(&script)?);
        Ok(start)
    }

    /// Returns the shell script that runs on the remote host.
    fn script(&self, words: &str, socket: &str, settings: &RemoteSettings<'_>) -> String {
        let mut lines = vec![
            // The program receives signals itself. The shell catches them, waits for the program and cleans up.
            // The trap precedes the folder, so every exit cleans up.
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
        for (name, value) in &settings.variables {
            lines.push(match value {
                Some(value) => format!("export {name}={}", quoted(value)),
                None => format!("unset {name}"),
            });
        }
        lines.push(format!("export {}=unix:{socket}", settings.to));
        lines.push(r#"export PYTHONPATH="$d${PYTHONPATH:+:$PYTHONPATH}""#.to_owned());
        lines.push(words.to_owned());
        lines.join("\n")
    }
}

/// Returns the folder as a shell word. A leading `~` becomes the remote `$HOME`.
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

/// Returns the word in single quotes, which a shell passes on unchanged.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Returns a command line for the script that works in any login shell. The line has no nested single quotes and nothing that a shell
/// expands.
fn wrapped(script: &str) -> io::Result<String> {
    Ok(format!(
        r#"exec /bin/sh -c 's=$(printf %s {} | base64 -d | gzip -dc) && [ -n "$s" ] || {{ echo "loadscope: base64 and gzip are needed on this host" >&2; exit 2; }}; eval "$s"'"#,
        packed(script)?
    ))
}

/// Returns the text compressed with gzip and encoded in base64.
fn packed(text: &str) -> io::Result<String> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    packer.write_all(text.as_bytes())?;
    Ok(BASE64_STANDARD.encode(packer.finish()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_and_folder_are_parsed() {
        let read = |text: &str| text.parse::<Remote>().map(|r| (r.host, r.folder));
        let host =
            |host: &str, folder: Option<&str>| Ok((host.to_owned(), folder.map(str::to_owned)));
        assert_eq!(read("gpu7"), host("gpu7", None));
        assert_eq!(read("ann@gpu7:~/job"), host("ann@gpu7", Some("~/job")));
        assert_eq!(read("gpu7:"), host("gpu7", None));
        assert_eq!(read("[::1]"), host("::1", None));
        assert_eq!(read("[::1]:/job"), host("::1", Some("/job")));
        assert_eq!(read(":/job"), Err(InvalidHost::Missing));
        assert_eq!(
            read("-oProxyCommand=x"),
            Err(InvalidHost::Option("-oProxyCommand=x".to_owned()))
        );
    }

    /// Runs the script in the local shell, without `ssh`.
    #[cfg(unix)]
    #[test]
    fn the_script_keeps_arguments_and_removes_its_folder() {
        let words = ["it's", "a b", "$HOME", "\"", "*", "\n", "é"];
        let place = tempfile::tempdir().expect("a temporary folder");
        let remote = Remote {
            host: "gpu7".to_owned(),
            folder: Some(place.path().display().to_string()),
        };
        let settings = RemoteSettings {
            socket: Path::new("/here"),
            variables: vec![("A", Some("it's {}".to_owned())), ("B", None)],
            to: "TO",
            token: "0123456789abcdef0123456789abcdef",
        };
        let mut shown = vec!["'printf'".to_owned(), "'%s|'".to_owned()];
        shown.extend(words.map(quoted));
        let tail = r#""$A" "${B-unset}" "$TO" "$(pwd)" "$(grep -c DataLoader "$d/loadscope_probe.py")" "$d"; exit 7"#;
        let words_and_tail = format!("{} {tail}", shown.join(" "));
        let script = remote.script(&words_and_tail, "/tmp/none.socket", &settings);
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
        let settings = RemoteSettings {
            socket: Path::new("/here"),
            variables: Vec::new(),
            to: "TO",
            token: "0123456789abcdef",
        };
        let wrapped = wrapped(&remote.script("'true'", "/tmp/x.socket", &settings));
        // Linux limits one argument to 128 KiB.
        assert!(wrapped.expect("it is packed").len() < 100_000);
    }
}
