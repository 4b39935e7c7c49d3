//! Windows of a long tokenized text.

use std::path::Path;

use loadscope_files::{ReadError, open_regular};
use loadscope_words::{explain, path_error, say};
use memmap2::Mmap;
use tch::{Kind, Tensor};

use super::rows::fill_rows;
use super::{Dataset, Gather, SampleClock, SampleError, TokenDtype};
use crate::error::LoaderError;
use crate::value::{DType, Value, new_tensor};

/// Size of a token in the file, bytes.
const TOKEN: usize = 2;

/// Windows of a token file, for language models. Sample i is `tokens[i·stride .. i·stride + block]`, a tensor `[block]`.
///
/// The file contains only 16-bit unsigned integers, little-endian, as `numpy.ndarray.tofile` writes them. The file is
/// memory-mapped: only the used pages are loaded, once for all workers. The file must not be truncated meanwhile,
/// because the operating system kills programs that read beyond its end.
pub struct TokenWindows {
    map: Mmap,
    block: usize,
    stride: usize,
    dtype: TokenDtype,
    len: usize,
}

impl TokenWindows {
    /// Opens windows of `block` tokens, one every `stride` tokens (`None`: adjacent windows).
    ///
    /// # Errors
    /// If the file cannot be opened, contains half a token, or contains less than one window.
    #[expect(unsafe_code, reason = "a file that is mapped to memory")]
    pub fn open(
        path: &Path,
        block: usize,
        stride: Option<usize>,
        dtype: TokenDtype,
    ) -> Result<Self, LoaderError> {
        let fail =
            |what: String| LoaderError::Dataset(say!("token file {} {what}", path.display()));
        let stride = stride.unwrap_or(block);
        if block == 0 || stride == 0 {
            return Err(fail(
                say!("needs block and stride of at least 1").to_owned(),
            ));
        }
        let file = open_regular(path).map_err(|e| match e {
            ReadError::NotAFile { what, .. } => fail(say!(
                "is {what}, not a regular file. Give the name of a file."
            )),
            other => LoaderError::Dataset(other.to_string()),
        })?;
        let about = file
            .metadata()
            .map_err(|e| LoaderError::Dataset(path_error(path, &e)))?;
        if !about.len().is_multiple_of(TOKEN as u64) {
            return Err(fail(say!(
                "has {} bytes, but 16-bit tokens take two bytes each. It may be truncated, or not a token file.",
                about.len()
            )));
        }
        let tokens = usize::try_from(about.len()).unwrap_or(usize::MAX) / TOKEN;
        let Some(room) = tokens.checked_sub(block) else {
            return Err(fail(say!(
                "has {tokens} tokens, fewer than a window of {block}. Choose a smaller block."
            )));
        };
        // SAFETY: the map is only read, and only as bytes, for which every bit pattern is valid. The documentation
        // requires users not to truncate the file.
        let map = unsafe { Mmap::map(&file) };
        let map =
            map.map_err(|e| fail(say!("cannot be mapped to memory: {e}", e = explain(&e))))?;
        if map.starts_with(b"\x93NUMPY") {
            return Err(fail(say!(
                "is a NumPy array, not a file of plain tokens. Write npy:{},window={block} instead.",
                path.display()
            )));
        }
        Ok(Self {
            map,
            block,
            stride,
            dtype,
            len: room / stride + 1,
        })
    }

    /// Returns the number of tokens per window.
    pub fn block(&self) -> usize {
        self.block
    }

    /// Returns the bytes of window `index`: `2 · block` bytes, little-endian.
    pub fn window(&self, index: usize) -> Option<&[u8]> {
        if index >= self.len {
            return None;
        }
        let start = index * self.stride * TOKEN;
        self.map.get(start..start + self.block * TOKEN)
    }

    /// Returns one tensor `[rows, block]`, or `[block]` for a single window.
    fn tensor(&self, size: &[i64], indices: &[usize]) -> Result<Tensor, SampleError> {
        if let Some(&index) = indices.iter().find(|&&index| index >= self.len) {
            return Err(SampleError::out_of_range(index, self.len));
        }
        let tensor = match self.dtype {
            TokenDtype::Int64 => new_tensor(size, Kind::Int64, |out| {
                fill_rows(indices, out, self.block * 8, |at| self.window(at), widen);
            }),
            TokenDtype::UInt16 => new_tensor(size, DType::UInt16, |out| {
                fill_rows(
                    indices,
                    out,
                    self.block * TOKEN,
                    |at| self.window(at),
                    narrow,
                );
            }),
        };
        tensor.map_err(|e| SampleError::new("RuntimeError", e.to_string()))
    }
}

/// Converts 16-bit little-endian to 64-bit native integers. Arrays of fixed size let the compiler vectorize.
fn widen(tokens: &[u8], out: &mut [u8]) {
    let (tokens, _) = tokens.as_chunks::<TOKEN>();
    let (out, _) = out.as_chunks_mut::<8>();
    for (out, token) in out.iter_mut().zip(tokens) {
        *out = i64::from(u16::from_le_bytes(*token)).to_ne_bytes();
    }
}

/// Converts 16-bit little-endian to 16-bit native integers, which is a copy on little-endian hosts.
fn narrow(tokens: &[u8], out: &mut [u8]) {
    if cfg!(target_endian = "little") && tokens.len() == out.len() {
        out.copy_from_slice(tokens);
        return;
    }
    let (tokens, _) = tokens.as_chunks::<TOKEN>();
    let (out, _) = out.as_chunks_mut::<TOKEN>();
    for (out, token) in out.iter_mut().zip(tokens) {
        *out = u16::from_le_bytes(*token).to_ne_bytes();
    }
}

impl Dataset for TokenWindows {
    type Sample = Value;

    fn len(&self) -> usize {
        self.len
    }

    fn get(&self, index: usize, clock: &mut SampleClock) -> Result<Value, SampleError> {
        let size = [self.block as i64];
        clock.stage("read", || self.tensor(&size, &[index]).map(Value::from))
    }

    /// Reads all windows into one tensor. Each sample is a row of this tensor.
    fn get_batch(
        &self,
        indices: &[usize],
        clock: &mut SampleClock,
    ) -> Option<Result<Vec<Value>, SampleError>> {
        for _ in indices {
            clock.begin_sample();
        }
        let size = [indices.len() as i64, self.block as i64];
        let batch = match clock.stage("read", || self.tensor(&size, indices)) {
            Ok(batch) => batch,
            Err(error) => return Some(Err(error)),
        };
        let rows = (0..indices.len() as i64).map(|row| match batch.f_select(0, row) {
            Ok(row) => Ok(row.into()),
            Err(e) => Err(SampleError::new("RuntimeError", e.to_string())),
        });
        Some(rows.collect())
    }
}

impl Gather for TokenWindows {
    type Batch = Value;

    /// Returns a tensor `[len(indices), block]`.
    fn gather(&self, indices: &[usize], _clock: &mut SampleClock) -> Result<Value, SampleError> {
        let size = [indices.len() as i64, self.block as i64];
        self.tensor(&size, indices).map(Value::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collate::{CollateSite, default_collate};
    use proptest::prelude::*;
    use std::io::Write as _;

    fn file(bytes: &[u8]) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    #[test]
    fn a_numpy_file_is_refused_as_tokens() {
        let file = file(b"\x93NUMPY\x01\x00and so on, which is even");
        let refused = TokenWindows::open(file.path(), 4, None, TokenDtype::Int64);
        let said = refused.err().expect("it is refused").to_string();
        assert!(said.contains("Write npy:"), "{said}");
    }

    proptest! {
        #[test]
        fn windows_are_slices_of_the_file(
            tokens in prop::collection::vec(any::<u16>(), 1..200), block in 1usize..20, stride in prop::option::of(1usize..25),
        ) {
            let bytes: Vec<u8> = tokens.iter().flat_map(|t| t.to_le_bytes()).collect();
            let file = file(&bytes);
            for dtype in [TokenDtype::Int64, TokenDtype::UInt16] {
                let data = TokenWindows::open(file.path(), block, stride, dtype);
                if tokens.len() < block {
                    prop_assert!(data.is_err());
                    continue;
                }
                let data = data.unwrap();
                let stride = stride.unwrap_or(block);
                let expected: Vec<&[u16]> = tokens.windows(block).step_by(stride).collect();
                prop_assert_eq!(data.len(), expected.len());
                let mut clock = SampleClock::off();
                let all: Vec<usize> = (0..data.len()).rev().collect();
                for (i, window) in expected.into_iter().enumerate() {
                    let sample = data.get(i, &mut clock).unwrap();
                    let numbers = Vec::<i64>::try_from(sample.tensors()[0].to_kind(Kind::Int64)).unwrap();
                    prop_assert!(numbers.into_iter().eq(window.iter().map(|&t| i64::from(t))));
                }
                let gathered = data.gather(&all, &mut clock).unwrap();
                let batch = data.get_batch(&all, &mut clock).unwrap().unwrap();
                let single = all.iter().map(|&i| data.get(i, &mut clock).unwrap()).collect();
                for samples in [batch, single] {
                    let collated = default_collate(samples, CollateSite::Worker).unwrap();
                    prop_assert!(collated.same(&gathered));
                }
                prop_assert_eq!(data.get(data.len(), &mut clock).unwrap_err().kind, "IndexError");
            }
        }
    }

    #[test]
    fn unusable_token_files_are_named_with_the_reason() {
        let says = |path: &Path, block, part: &str| {
            let data = TokenWindows::open(path, block, None, TokenDtype::default());
            let error = data.err().unwrap().to_string();
            assert!(error.contains(part), "{error}");
        };
        says(Path::new("/no/such/file"), 4, "/no/such/file: not found");
        says(&std::env::temp_dir(), 4, "is a folder, not a regular file");
        #[cfg(unix)]
        says(Path::new("/dev/zero"), 4, "is a device, not a regular file");
        says(file(&[1, 2, 3]).path(), 1, "has 3 bytes");
        says(
            file(&[1, 2]).path(),
            2,
            "has 1 tokens, fewer than a window of 2",
        );
        says(file(&[]).path(), 1, "has 0 tokens");
        says(file(&[1, 2]).path(), 0, "at least 1");
    }
}
