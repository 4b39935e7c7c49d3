//! Lines of words, as ids of a vocabulary.

use std::collections::HashMap;
use std::path::Path;

use loadscope_words::say;

use crate::array::Array;
use crate::buffer::Buffer;
use crate::cell::Cell;
use crate::error::{FormatError, Place};
use crate::index::{Lines, RowIndex};
use crate::rows::Rows;
use crate::slices::out_of_range;
use crate::stages::Stages;

/// Unlike in other formats, a blank line is a sample.
const LINES: Lines = Lines { skip_blank: false };

/// Maximum size of a vocabulary, bytes.
const LARGEST_VOCABULARY: u64 = 256 << 20;

/// Maximum length of a line, bytes.
const LONGEST: usize = 256 << 20;

/// Common entries for unknown words in a vocabulary.
const UNKNOWN: [&str; 5] = ["<unk>", "[UNK]", "<UNK>", "[unk]", "unk"];

/// Lines of a text file. Sample i is line i as a `str`. With a vocabulary, it is an int64 array,
/// `[vocabulary[word] for word in line.split()]`. Lines end with `\n` or `\r\n`.
#[derive(Debug)]
pub struct Text {
    file: Buffer,
    index: RowIndex,
    vocabulary: Option<Vocabulary>,
    place: Place,
}

#[derive(Debug)]
struct Vocabulary {
    ids: HashMap<Box<str>, i64>,
    unknown: Option<i64>,
    place: Place,
}

impl Text {
    /// Opens a text. A vocabulary has one word per line, numbered from 0, or is a `.json` object from words to numbers.
    ///
    /// # Errors
    /// If a file cannot be opened, or the vocabulary is invalid.
    pub fn open(path: &Path, vocabulary: Option<&Path>) -> Result<Self, FormatError> {
        let file = Buffer::map(path).map_err(|e| FormatError::reading(path, &e))?;
        let vocabulary = vocabulary.map(Vocabulary::open).transpose()?;
        let (index, _) = RowIndex::build(&file, 0, &LINES)?;
        Ok(Self {
            file,
            index,
            vocabulary,
            place: Place::file(path),
        })
    }

    /// Returns the place of the line at offset `at`.
    fn at(&self, at: usize, row: usize) -> Place {
        let line = self.index.line(&self.file, at);
        self.place.clone().line(line).row(row as u64)
    }
}

impl Vocabulary {
    fn open(path: &Path) -> Result<Self, FormatError> {
        let place = Place::file(path);
        let text = loadscope_files::read_text(path, say!("a vocabulary"), LARGEST_VOCABULARY)
            .map_err(|e| FormatError::reading(path, &e))?;
        let ids: HashMap<Box<str>, i64> = if path.extension().is_some_and(|ending| ending == "json")
        {
            serde_json::from_str(&text).map_err(|error| {
                fault!(Damaged, place.clone().line(error.line() as u64).column(error.column() as u64),
                    say!("it is not a JSON object that maps each word to an integer");
                    say!("Correct it, or write one word per line into a file that does not end in .json"))
            })?
        } else {
            // A repeated word has its first number.
            let mut ids = HashMap::new();
            for (id, word) in (0..).zip(text.lines()) {
                ids.entry(word.trim_end().into()).or_insert(id);
            }
            ids
        };
        if ids.is_empty() {
            bail!(Damaged, place, say!("it contains no words"); say!("Write one word per line into it"));
        }
        let unknown = UNKNOWN.iter().find_map(|word| ids.get(*word).copied());
        Ok(Self {
            ids,
            unknown,
            place,
        })
    }

    /// Returns the ids of the words of a line. The error is the first unknown word and its offset.
    fn ids<'a>(&self, line: &'a str) -> Result<Vec<i64>, (&'a str, usize)> {
        let words = line.split(is_space).filter(|word| !word.is_empty());
        let id = |word: &'a str| {
            let id = self.ids.get(word).copied().or(self.unknown);
            id.ok_or_else(|| (word, word.as_ptr().addr() - line.as_ptr().addr()))
        };
        words.map(id).collect()
    }
}

/// Returns true for the separators of Python's `split`.
fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\x1c'..='\x1f').contains(&c)
}

impl Rows for Text {
    fn len(&self) -> usize {
        self.index.len()
    }

    fn row(&self, index: usize, stages: &mut dyn Stages) -> Result<Cell, FormatError> {
        stages.enter("read");
        let Some((line, at)) = LINES.row(&self.file, &self.index, index) else {
            return Err(out_of_range(&self.place, index, self.len()));
        };
        if line.len() > LONGEST {
            bail!(TooLarge, self.at(at, index), say!("the line has more than {} MB", LONGEST >> 20);
                say!("Write shorter lines"));
        }
        stages.enter("decode");
        let line = std::str::from_utf8(line).map_err(|error| {
            let before = line.get(..error.valid_up_to()).unwrap_or_default();
            let column = String::from_utf8_lossy(before).chars().count() as u64 + 1;
            fault!(Damaged, self.at(at, index).column(column), say!("it is not UTF-8");
                say!("Save the file in UTF-8"))
        })?;
        let Some(vocabulary) = &self.vocabulary else {
            return Ok(line.into());
        };
        match vocabulary.ids(line) {
            Ok(ids) => Ok(Array::of(&ids).into()),
            Err((word, begin)) => {
                let before = line.get(..begin).unwrap_or_default().chars().count() as u64;
                let shown: String = word.chars().take(40).collect();
                bail!(NoSuchKey, self.at(at, index).column(before + 1),
                    say!("the word '{}' is not in {}", shown.escape_debug(), vocabulary.place);
                    say!("Add it, or a word <unk> for all unknown words"))
            }
        }
    }

    /// Returns the number of words of each line. A line that is not UTF-8 has length 0.
    fn lengths(&self) -> Option<Vec<u64>> {
        let words = |row| {
            let (line, _) = LINES.row(&self.file, &self.index, row)?;
            let line = std::str::from_utf8(line).unwrap_or_default();
            Some(line.split(is_space).filter(|word| !word.is_empty()).count() as u64)
        };
        (0..self.len()).map(words).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stages::Untimed;

    fn open(text: &[u8], name: &str, words: &str) -> Result<Text, FormatError> {
        let dir = tempfile::tempdir().unwrap();
        let paths = [dir.path().join("a.txt"), dir.path().join(name)];
        #[allow(clippy::disallowed_methods, reason = "files of a test")]
        for (path, bytes) in paths.iter().zip([text, words.as_bytes()]) {
            std::fs::write(path, bytes).unwrap();
        }
        Text::open(&paths[0], (!name.is_empty()).then_some(paths[1].as_path()))
    }

    #[test]
    fn words_become_vocabulary_numbers() {
        let text = "b  a\ta\r\n\nä a".as_bytes();
        let row = |text: &Text, row| text.row(row, &mut Untimed);
        let known = open(text, "v.txt", "a\nb\r\nä\na\n").unwrap();
        assert_eq!(known.len(), 3);
        assert_eq!(known.lengths(), Some(vec![3, 0, 2]));
        assert_eq!(row(&known, 0), Ok(Array::of(&[1i64, 0, 0]).into()));
        assert_eq!(row(&known, 1), Ok(Array::of::<i64>(&[]).into()));
        assert_eq!(row(&known, 2), Ok(Array::of(&[2i64, 0]).into()));
        let json = open(text, "v.json", r#"{"a": 7, "<unk>": 3}"#).unwrap();
        assert_eq!(row(&json, 2), Ok(Array::of(&[3i64, 7]).into()));
        let plain = Text::open(Path::new(file!()).file_name().unwrap().as_ref(), None);
        assert!(plain.is_err());
    }

    #[test]
    fn errors_name_the_broken_line_or_vocabulary() {
        let says = |text: &str, name: &str, words: &str| match open(text.as_bytes(), name, words) {
            Ok(text) => text.row(1, &mut Untimed).unwrap_err().to_string(),
            Err(error) => error.to_string(),
        };
        let missing = says("a\nä b\n", "v.txt", "a\nä\n");
        assert!(
            missing.contains("a.txt, line 2, column 3, row 1: the word 'b' is not in"),
            "{missing}"
        );
        assert!(says("a\n", "v.txt", "a\n").contains("beyond its 1 rows"));
        assert!(says("a\n", "v.txt", "").contains("v.txt: it contains no words"));
        assert!(says("a\n", "v.json", "{\"a\": 1.5}").contains("v.json, line 1, column 9"));
        let bytes = open(b"a\n\xc3\xa4\xff\n", "v.txt", "a").unwrap();
        let error = bytes.row(1, &mut Untimed).unwrap_err().to_string();
        assert!(
            error.contains("line 2, column 2, row 1: it is not UTF-8"),
            "{error}"
        );
    }
}
