//! Recognition of files by their content.

use std::io::{self, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use loadscope_words::{Text, say, text};

use crate::input::open;
use crate::{ImportError, Kind, lotus};

/// Maximum number of bytes that are read from a file.
const HEAD: usize = 64 << 10;

/// Magic numbers of unsupported formats, each with the end of the error message.
#[rustfmt::skip]
const SIGNATURES: &[(&[u8], Text)] = &[
    (b"\x89PNG", text!("is a PNG image")),
    (b"\xFF\xD8\xFF", text!("is a JPEG image")),
    (b"GIF8", text!("is a GIF image")),
    (b"%PDF", text!("is a PDF document")),
    (b"PK\x03\x04", text!("is a ZIP archive (the format of saved PyTorch models): unpack it first")),
    (b"PAR1", text!("is a Parquet table")),
    (b"ARROW1", text!("is an Arrow file")),
    (b"\x89HDF", text!("is an HDF5 file")),
    (b"\x7FELF", text!("is a program")),
    (b"MZ", text!("is a program")),
    (b"BZh", text!("is compressed with bzip2: unpack it first")),
    (b"\xFD7zXZ", text!("is compressed with xz: unpack it first")),
    (b"\x80\x02", text!("is a Python pickle, which Loadscope does not open because it can run code")),
    (b"\x80\x03", text!("is a Python pickle, which Loadscope does not open because it can run code")),
    (b"\x80\x04", text!("is a Python pickle, which Loadscope does not open because it can run code")),
    (b"\x80\x05", text!("is a Python pickle, which Loadscope does not open because it can run code")),
    (b"\x93NUMPY", text!("is a NumPy array")),
    (b"<!DOCTYPE html", text!("is a web page: open it in a browser")),
    (b"<html", text!("is a web page: open it in a browser")),
    (b"<?xml", text!("is an XML file")),
];

impl Kind {
    /// Recognizes the input at `path`.
    ///
    /// # Errors
    /// If the input cannot be read, or its format is not supported.
    pub fn of(path: &Path) -> Result<Self, ImportError> {
        let failed = |cause| ImportError::Open {
            path: path.to_owned(),
            cause,
        };
        let metadata = std::fs::metadata(path).map_err(failed)?;
        if metadata.is_dir() {
            return match lotus::is_folder(path).map_err(failed)? {
                true => Ok(Self::Lotus),
                false => Err(ImportError::Foreign {
                    is_folder: true,
                    what: say!("contains no LotusTrace logs").to_owned(),
                }),
            };
        }
        let head = head(open(path)?).map_err(failed)?;
        Self::of_head(&head)
    }

    fn of_head(head: &[u8]) -> Result<Self, ImportError> {
        if head.starts_with(&[0x28, 0xB5, 0x2F, 0xFD]) {
            return Ok(Self::Log);
        }
        if head.starts_with(b"SQLite format 3\0") {
            return Ok(Self::Spdl);
        }
        if head.starts_with(&[0x1F, 0x8B]) {
            let mut text = Vec::new();
            // Damage after the beginning is reported when the file is read.
            let _ = MultiGzDecoder::new(head)
                .take(HEAD as u64)
                .read_to_end(&mut text);
            return match Self::of_text(&text) {
                Some(Self::Profiler) => Ok(Self::Profiler),
                Some(Self::Log) => Err(ImportError::foreign(say!(
                    "is a recording compressed with gzip: unpack it, or compress it with zstd instead"
                ))),
                _ => Err(ImportError::foreign(say!(
                    "is compressed with gzip and contains no torch.profiler trace"
                ))),
            };
        }
        if head.trim_ascii().is_empty() {
            return Err(ImportError::Empty);
        }
        if let Some(kind) = Self::of_text(head) {
            return Ok(kind);
        }
        let sign = SIGNATURES.iter().find(|(sign, _)| head.starts_with(sign));
        if let Some((_, what)) = sign {
            return Err(ImportError::foreign(what.say()));
        }
        let is_text = !head.contains(&0) && valid_beginning(head);
        Err(ImportError::foreign(
            match (is_text, head.trim_ascii_start().first()) {
                (true, Some(b'{' | b'[')) => {
                    say!("is JSON, but neither a recording nor a torch.profiler trace")
                }
                (true, _) => say!("is a text file, not a recording"),
                (false, _) => say!("is a binary file"),
            },
        ))
    }

    fn of_text(text: &[u8]) -> Option<Self> {
        let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
        let text = text.trim_ascii_start();
        let first = text.split(|b| *b == b'\n').next().unwrap_or_default();
        match text.first()? {
            b'{' if contains(first, b"\"loadscope\"") => Some(Self::Log),
            b'{' if contains(text, b"\"traceEvents\"") || contains(text, b"\"schemaVersion\"") => {
                Some(Self::Profiler)
            }
            b'{' if contains(text, b"\"deviceProperties\"") => Some(Self::Profiler),
            b'[' if contains(text, b"\"ph\"") => Some(Self::Profiler),
            b'S' if lotus::is_line(first) => Some(Self::Lotus),
            _ => None,
        }
    }
}

/// Returns the first bytes of a file.
pub(crate) fn head(input: impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    input.take(HEAD as u64).read_to_end(&mut head)?;
    Ok(head)
}

fn contains(text: &[u8], what: &[u8]) -> bool {
    text.windows(what.len()).any(|w| w == what)
}

/// Returns true if `text` is valid UTF-8, apart from a truncated last character.
fn valid_beginning(text: &[u8]) -> bool {
    std::str::from_utf8(text).map_or_else(|e| e.error_len().is_none(), |_| true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(head: &[u8]) -> String {
        match Kind::of_head(head) {
            Ok(kind) => format!("{kind:?}"),
            Err(e) => e.to_string(),
        }
    }

    #[test]
    fn file_formats_are_recognized_by_content() {
        assert_eq!(said(b"{\"loadscope\":1}\n"), "Log");
        assert_eq!(said(b"\n{ \"schemaVersion\": 1,"), "Profiler");
        assert_eq!(said(b"\xEF\xBB\xBF[{\"ph\": \"X\""), "Profiler");
        assert_eq!(said(b"SBatchWait_0,5,1000\n"), "Lotus");
        assert_eq!(said(b"SQLite format 3\0"), "Spdl");
        for (head, word) in [
            (&b"\x89PNG\r\n"[..], "PNG"),
            (b"{\"a\": 1}", "JSON"),
            (b"Some day,1,2", "text"),
            (b"\0\0\0", "binary"),
            (b"\x80\x04\x95", "pickle"),
            (b"\x1F\x8Bnothing", "gzip"),
        ] {
            let text = said(head);
            assert!(text.contains(word) && text.contains("SPDL"), "{text}");
        }
        for head in [&b""[..], b"  \n"] {
            assert!(matches!(Kind::of_head(head), Err(ImportError::Empty)));
        }
    }
}
