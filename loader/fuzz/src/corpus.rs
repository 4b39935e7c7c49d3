//! Stored inputs in one archive, which avoids two thousand small files in a clone.
//! `cargo xtask fuzz` writes it.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// An input of the corpus.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// Name of the target.
    pub target: String,
    /// Name of the input: digits of its hash, or a description.
    pub name: String,
    /// Bytes for the target.
    pub bytes: Vec<u8>,
}

fn archive() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus.tar.zst")
}

/// Returns all inputs, unpacked in memory, by target and name.
///
/// # Errors
/// If the archive cannot be read, or contains other paths than `target/name`.
pub fn corpus() -> io::Result<Vec<Input>> {
    let path = archive();
    let told = |why: io::Error| {
        let text = format!(
            "{}: {why}. Take it from the repository again",
            path.display()
        );
        io::Error::new(why.kind(), text)
    };
    File::open(&path).and_then(read).map_err(told)
}

fn read(packed: impl io::Read) -> io::Result<Vec<Input>> {
    let mut archive = tar::Archive::new(zstd::Decoder::new(packed)?);
    let mut inputs = Vec::new();
    for entry in archive.entries()? {
        let mut entry = entry?;
        let path = entry.path()?.into_owned();
        let Some((target, name)) = path.to_str().and_then(|path| path.split_once('/')) else {
            let why = format!("{} is not the input of a target", path.display());
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        };
        let (target, name) = (target.to_owned(), name.to_owned());
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes)?;
        inputs.push(Input {
            target,
            name,
            bytes,
        });
    }
    inputs.sort_by(|a, b| (&a.target, &a.name).cmp(&(&b.target, &b.name)));
    Ok(inputs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(entries: &[(&str, &[u8])]) -> Vec<u8> {
        let out = zstd::Encoder::new(Vec::new(), 1).expect("a vector");
        let mut tar = tar::Builder::new(out);
        for (path, bytes) in entries {
            let mut header = tar::Header::new_ustar();
            header.set_size(bytes.len() as u64);
            tar.append_data(&mut header, path, *bytes)
                .expect("a vector");
        }
        let out = tar.into_inner().expect("a vector");
        out.finish().expect("a vector")
    }

    #[test]
    fn inputs_are_sorted_by_target_and_name() {
        let packed = packed(&[("wire/2", b"two"), ("wire/1", b""), ("door/9", b"nine")]);
        let inputs = read(&packed[..]).expect("an archive");
        let input = |target: &str, name: &str, bytes: &[u8]| Input {
            target: target.to_owned(),
            name: name.to_owned(),
            bytes: bytes.to_vec(),
        };
        let wanted = [
            input("door", "9", b"nine"),
            input("wire", "1", b""),
            input("wire", "2", b"two"),
        ];
        assert_eq!(inputs, wanted);
    }

    #[test]
    fn an_input_without_a_target_is_refused() {
        let error = read(&packed(&[("stray", b"x")])[..]).expect_err("no target");
        assert_eq!(error.to_string(), "stray is not the input of a target");
        assert!(read(&b"not an archive"[..]).is_err());
    }
}
