//! Plain messages for system errors, with a remedy and without error numbers.

use std::io::{Error, ErrorKind};
use std::path::Path;

use crate::{Text, say, text};

/// Formats a path and the error of accessing it: `a.csv: not found. Check the path.`
pub fn path_error(path: &Path, error: &Error) -> String {
    say!("{}: {}", path.display(), explain(error))
}

/// Returns the cause of an error, with a remedy if there is one: `not found. Check the path.`
pub fn explain(error: &Error) -> String {
    match known(error) {
        Some((cause, remedy)) => say!("{cause}. {remedy}"),
        None => unknown(error),
    }
}

/// Returns the cause of an error as a clause, for messages with their own remedy: `permission denied`
pub fn cause(error: &Error) -> String {
    match known(error) {
        Some((cause, _)) => cause.to_string(),
        None => unknown(error),
    }
}

/// Formats a path as a shell word, in quotes if needed.
pub fn shell_quoted(path: &Path) -> String {
    let shown = path.display().to_string();
    let is_plain = |c: char| c.is_alphanumeric() || "._-+/:\\".contains(c);
    match !shown.is_empty() && shown.chars().all(is_plain) {
        true => shown,
        false => format!("'{}'", shown.replace('\'', r"'\''")),
    }
}

/// Start of an error number in texts of libraries: `No such file or directory (os error 2)`.
const BEGIN: &str = " (os error ";

/// Removes error numbers such as `(os error 2)` from a text of a library.
pub fn strip_os_error_codes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(BEGIN) {
        out.push_str(before);
        match after.split_once(')') {
            Some((number, behind)) if number.bytes().all(|b| b == b'-' || b.is_ascii_digit()) => {
                rest = behind;
            }
            _ => {
                out.push_str(BEGIN);
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

/// Returns cause and remedy of common errors. Returns `None` for other errors, and for errors with their own text.
fn known(error: &Error) -> Option<(Text, Text)> {
    if error.get_ref().is_some() {
        return known(&tempfile_cause(error)?);
    }
    Some(match error.kind() {
        ErrorKind::NotFound => (text!("not found"), text!("Check the path.")),
        ErrorKind::PermissionDenied => (
            text!("permission denied"),
            text!("Check the owner and the permissions."),
        ),
        ErrorKind::IsADirectory => (text!("it is a folder"), text!("Give the name of a file.")),
        ErrorKind::NotADirectory => (
            text!("a part of the path is a file, not a folder"),
            text!("Check the path."),
        ),
        ErrorKind::InvalidFilename => (
            text!("the name is too long or invalid"),
            text!("Choose another name."),
        ),
        ErrorKind::StorageFull => (
            text!("no space left on the disk"),
            text!("Free some space, or choose another folder."),
        ),
        ErrorKind::QuotaExceeded => (
            text!("the disk quota of this user is used up"),
            text!("Free some space, or choose another folder."),
        ),
        ErrorKind::ReadOnlyFilesystem => (
            text!("the disk is read-only"),
            text!("Choose another folder."),
        ),
        ErrorKind::FileTooLarge => (
            text!("the limit for file sizes is reached"),
            text!("Raise it with `ulimit -f unlimited`."),
        ),
        ErrorKind::UnexpectedEof => (text!("it is truncated"), text!("Copy it again.")),
        ErrorKind::InvalidData => (text!("it is not UTF-8 text"), text!("Save it as UTF-8.")),
        ErrorKind::OutOfMemory => (
            text!("the memory is used up"),
            text!("Close other programs and try again."),
        ),
        ErrorKind::AddrInUse => (
            text!("another program uses this address"),
            text!("Choose another one."),
        ),
        ErrorKind::ConnectionRefused => (
            text!("the connection was refused"),
            text!("Check that the server is running."),
        ),
        _ => return by_number(error.raw_os_error()?),
    })
}

/// Extracts the system error from an error of the crate `tempfile`: `Permission denied (os error 13) at path
/// "/data/.run.jsonl.x7k2aq.part"`.
/// The type of that error is private, and its source is not the system error. Callers name the file, because users do not know the
/// temporary one.
fn tempfile_cause(error: &Error) -> Option<Error> {
    let text = error.get_ref()?.to_string();
    let (_, rest) = text.split_once(BEGIN)?;
    let (number, _) = rest.split_once(')')?;
    let system = Error::from_raw_os_error(number.parse().ok()?);
    let is_whole = system.kind() == error.kind() && text.starts_with(&system.to_string());
    is_whole.then_some(system)
}

/// Returns cause and remedy of Unix errors without an [`ErrorKind`].
fn by_number(number: i32) -> Option<(Text, Text)> {
    /// I/O error of a device.
    const EIO: i32 = 5;
    /// Too many open files on the host.
    const ENFILE: i32 = 23;
    /// Too many open files in the process.
    const EMFILE: i32 = 24;
    match number {
        EIO if cfg!(unix) => Some((
            text!("the disk reports an error"),
            text!("Check the disk, or use a copy on another one."),
        )),
        ENFILE | EMFILE if cfg!(unix) => Some((
            text!("too many files are open"),
            text!("Raise the limit with `ulimit -n 65536`."),
        )),
        _ => None,
    }
}

/// Returns the text of an error as a clause.
fn unknown(error: &Error) -> String {
    let text = strip_os_error_codes(&error.to_string());
    // System messages start with a capital letter, which clauses do not. Abbreviations keep it.
    let is_message = error.get_ref().is_none();
    let mut letters = text.chars();
    match (letters.next(), letters.next()) {
        (Some(first), Some(second)) if is_message && second.is_lowercase() => {
            let rest = &text[first.len_utf8()..];
            format!("{}{rest}", first.to_lowercase())
        }
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_errors_do_not_show_their_number() {
        for number in 1..200 {
            let error = Error::from_raw_os_error(number);
            for text in [
                cause(&error),
                explain(&error),
                path_error(Path::new("a"), &error),
            ] {
                assert!(!text.contains("os error") && !text.is_empty(), "{text}");
            }
        }
    }

    #[test]
    fn common_system_errors_have_a_remedy() {
        let missing = Error::from(ErrorKind::NotFound);
        assert_eq!(
            path_error(Path::new("/no/such"), &missing),
            "/no/such: not found. Check the path."
        );
        assert_eq!(cause(&missing), "not found");
        for kind in [
            ErrorKind::PermissionDenied,
            ErrorKind::IsADirectory,
            ErrorKind::NotADirectory,
            ErrorKind::StorageFull,
            ErrorKind::QuotaExceeded,
            ErrorKind::ReadOnlyFilesystem,
            ErrorKind::FileTooLarge,
        ] {
            let text = explain(&Error::from(kind));
            assert!(text.contains(". ") && text.ends_with('.'), "{text}");
        }
    }

    #[test]
    fn paths_are_quoted_as_shell_words() {
        for (path, word) in [
            ("a/run-2.jsonl.zst", "a/run-2.jsonl.zst"),
            ("my run.jsonl", "'my run.jsonl'"),
            ("it's", r"'it'\''s'"),
            ("$(x)", "'$(x)'"),
        ] {
            assert_eq!(shell_quoted(Path::new(path)), word);
        }
    }

    #[test]
    fn an_error_with_a_temporary_path_is_explained() {
        // ENOENT has the same number on all systems.
        let system = Error::from_raw_os_error(2);
        let text = format!("{system} at path \"/data/.run.jsonl.x7k2aq.part\"");
        let wrapped = Error::new(system.kind(), text.clone());
        assert_eq!(explain(&wrapped), "not found. Check the path.");
        // The kind does not belong to the number, so the text is about another error.
        let other = Error::new(ErrorKind::PermissionDenied, text);
        assert!(explain(&other).contains(" at path "), "{other}");
    }

    #[test]
    fn an_error_with_its_own_text_is_not_changed() {
        let own = Error::new(ErrorKind::NotFound, "No data for 10 s");
        assert_eq!(explain(&own), "No data for 10 s");
        let full = "the run is larger than 2 GB, the limit of the journal";
        assert_eq!(explain(&Error::new(ErrorKind::FileTooLarge, full)), full);
        let nested = Error::other("parts/1: Bad address (os error 14), and (os error x)");
        assert_eq!(cause(&nested), "parts/1: Bad address, and (os error x)");
        assert_eq!(
            strip_os_error_codes("a (os error -3)b (os error 2"),
            "ab (os error 2"
        );
    }
}
