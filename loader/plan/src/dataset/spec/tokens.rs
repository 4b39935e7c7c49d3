//! Text form of a token dataset: `tokens:PATH,block=1024,stride=512,dtype=uint16`.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use crate::error::LoaderError;
use crate::keyvalue::{KeyValue, whole};
use loadscope_words::say;

/// Default number of tokens per window.
const BLOCK: usize = 1024;

/// dtype of the tensors of a token dataset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TokenDtype {
    /// `torch.int64`, which embeddings require. It takes four times the bytes of the file.
    #[default]
    Int64,
    /// `torch.uint16`, as in the file. The program converts it where it is used, ideally on the GPU.
    UInt16,
}

/// File of tokens, and its division into windows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenSpec {
    /// Path of the file.
    pub path: PathBuf,
    /// Tokens per window (default 1024).
    pub block: usize,
    /// Distance between the starts of two windows, tokens (default `block`).
    pub stride: usize,
    /// dtype of the tensors (default int64).
    pub dtype: TokenDtype,
}

/// Options follow the path and are parsed from the end, since a path may contain commas.
impl FromStr for TokenSpec {
    type Err = LoaderError;

    fn from_str(text: &str) -> Result<Self, LoaderError> {
        let fail = |what: &str| LoaderError::Spec(say!("tokens:{text}: {what}"));
        let count = |key: &'static str, value: &str| {
            let given = KeyValue { key, value };
            let count = whole(value, 1..=usize::MAX);
            count.map_err(|wrong| fail(&given.error(wrong).to_string()))
        };
        let (mut path, mut block, mut stride, mut dtype) = (text, None, None, None);
        while let Some((front, option)) = path.rsplit_once(',') {
            match option.split_once('=') {
                Some(("block", value)) if block.is_none() => block = Some(count("block", value)?),
                Some(("stride", value)) if stride.is_none() => {
                    stride = Some(count("stride", value)?);
                }
                Some(("dtype", "int64")) if dtype.is_none() => dtype = Some(TokenDtype::Int64),
                Some(("dtype", "uint16")) if dtype.is_none() => dtype = Some(TokenDtype::UInt16),
                Some(("dtype", _)) if dtype.is_none() => {
                    return Err(fail(say!("dtype must be int64 or uint16")));
                }
                _ => break,
            }
            path = front;
        }
        if path.is_empty() {
            return Err(fail(say!(
                "needs the path of a file of 16-bit tokens, for example tokens:/data/train.bin,block=1024"
            )));
        }
        let block = block.unwrap_or(BLOCK);
        Ok(Self {
            path: path.into(),
            block,
            stride: stride.unwrap_or(block),
            dtype: dtype.unwrap_or_default(),
        })
    }
}

impl fmt::Display for TokenSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},block={}", self.path.display(), self.block)?;
        // A path may end like an option. Writing all options after it keeps the text unambiguous.
        let odd = self.path.to_string_lossy().contains(',');
        if odd || self.stride != self.block {
            write!(f, ",stride={}", self.stride)?;
        }
        match self.dtype {
            TokenDtype::UInt16 => f.write_str(",dtype=uint16"),
            TokenDtype::Int64 if odd => f.write_str(",dtype=int64"),
            TokenDtype::Int64 => Ok(()),
        }
    }
}
