//! Streaming input of a file.

use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::Path;

use loadscope_files::{Input, open_input};
use loadscope_words::{json_error, say};
use serde::de::DeserializeOwned;

use crate::error::LoaderError;
use crate::limits::SAMPLER_BYTES;

/// File being read.
pub(super) struct Text<'a> {
    pub path: &'a str,
    pub input: BufReader<Input>,
    /// Newlines before the first non-blank byte. These bytes and `first` are already consumed.
    pub skipped: usize,
    pub first: Option<u8>,
}

impl<'a> Text<'a> {
    pub fn open(path: &'a str, what: &'static str) -> Result<Self, LoaderError> {
        let input = open_input(Path::new(path), what, SAMPLER_BYTES);
        let input = input.map_err(|e| LoaderError::Spec(e.to_string()))?;
        let mut text = Self {
            path,
            input: BufReader::with_capacity(1 << 16, input),
            skipped: 0,
            first: None,
        };
        text.skip_blanks().map_err(|e| text.failed(e))?;
        Ok(text)
    }

    fn skip_blanks(&mut self) -> io::Result<()> {
        loop {
            let Some(byte) = self.input.fill_buf()?.first().copied() else {
                return Ok(());
            };
            self.input.consume(1);
            if !byte.is_ascii_whitespace() {
                self.first = Some(byte);
                return Ok(());
            }
            self.skipped += usize::from(byte == b'\n');
        }
    }

    pub fn json<T: DeserializeOwned>(mut self) -> Result<T, LoaderError> {
        let text = self.first.as_slice().chain(&mut self.input);
        serde_json::from_reader(text).map_err(|e| match e.is_io() {
            true => self.failed(e.into()),
            false => LoaderError::Spec(say!(
                "cannot parse {}: {e}",
                self.path,
                e = json_error(&e.to_string())
            )),
        })
    }

    pub fn failed(&self, cause: io::Error) -> LoaderError {
        LoaderError::Spec(self.input.get_ref().error(cause).to_string())
    }
}
