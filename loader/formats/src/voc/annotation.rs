//! XML annotation of an image.

use std::path::Path;

use loadscope_words::say;
use quick_xml::Reader;
use quick_xml::errors::{IllFormedError, SyntaxError};
use quick_xml::events::{BytesRef, Event};

use crate::error::{FormatError, Place};
use crate::file::line_and_column;

/// Maximum nesting of elements.
const MAX_DEPTH: usize = 64;

/// Object in an image.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Object {
    pub name: String,
    /// `xmin`, `ymin`, `xmax`, `ymax` of the XML.
    pub corners: [f32; 4],
    pub is_difficult: bool,
    /// Offset of the name in the file, bytes.
    pub at: usize,
}

/// Contents of an annotation.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Annotation {
    /// Name of the image file.
    pub filename: Option<String>,
    pub objects: Vec<Object>,
}

/// Object during parsing.
#[derive(Default)]
struct Partial {
    name: Option<(String, usize)>,
    corners: [Option<f32>; 4],
    is_difficult: bool,
}

const CORNERS: [&str; 4] = ["xmin", "ymin", "xmax", "ymax"];

/// Parses the annotation in `text`, the content of the file `path`.
pub(super) fn parse(text: &[u8], path: &Path) -> Result<Annotation, FormatError> {
    Parser {
        text,
        path,
        stack: Vec::new(),
        words: String::new(),
        annotation: Annotation::default(),
        partial: None,
        had_root: false,
    }
    .run()
}

struct Parser<'a> {
    text: &'a [u8],
    path: &'a Path,
    /// Names of the open elements.
    stack: Vec<Vec<u8>>,
    /// Text of the innermost element so far.
    words: String,
    annotation: Annotation,
    partial: Option<Partial>,
    had_root: bool,
}

impl Parser<'_> {
    /// Parses the XML events of the whole text, and fails if an element stays open.
    fn run(mut self) -> Result<Annotation, FormatError> {
        let mut reader = Reader::from_reader(self.text);
        loop {
            let begin = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
            let event = reader.read_event();
            match event {
                Ok(Event::Start(tag)) => self.open(tag.name().as_ref(), begin)?,
                Ok(Event::Empty(tag)) => {
                    let name = tag.name().as_ref().to_vec();
                    self.open(&name, begin)?;
                    self.close(begin)?;
                }
                Ok(Event::End(_)) => self.close(begin)?,
                Ok(Event::Text(words)) => {
                    let words = words
                        .decode()
                        .map_err(|_| self.broken(begin, say!("its text is not UTF-8")))?;
                    self.words.push_str(&words);
                }
                Ok(Event::CData(words)) => {
                    let words = words
                        .decode()
                        .map_err(|_| self.broken(begin, say!("its text is not UTF-8")))?;
                    self.words.push_str(&words);
                }
                Ok(Event::GeneralRef(reference)) => self.refer(&reference, begin)?,
                Ok(Event::Eof) => break,
                Ok(Event::Decl(_) | Event::PI(_) | Event::DocType(_) | Event::Comment(_)) => {}
                Err(error) => {
                    let at = usize::try_from(reader.error_position()).unwrap_or(begin);
                    return Err(self.broken(at, &fault(&error)));
                }
            }
        }
        if !self.stack.is_empty() || !self.had_root {
            return Err(self.broken(self.text.len(), say!("it is truncated")));
        }
        Ok(self.annotation)
    }

    fn open(&mut self, name: &[u8], at: usize) -> Result<(), FormatError> {
        if self.stack.len() >= MAX_DEPTH {
            return Err(self.broken(at, say!("its elements are nested too deeply")));
        }
        if self.stack.is_empty() {
            if name != b"annotation" {
                let name = String::from_utf8_lossy(name).into_owned();
                return Err(
                    self.broken(at, &say!("the root element is <{name}>, not <annotation>"))
                );
            }
            self.had_root = true;
        }
        if self.stack.len() == 1 && name == b"object" {
            self.partial = Some(Partial::default());
        }
        self.stack.push(name.to_vec());
        self.words.clear();
        Ok(())
    }

    /// Stores the text of the element that ends, if the annotation has a field for it.
    fn close(&mut self, at: usize) -> Result<(), FormatError> {
        let words = self.words.trim().to_owned();
        // Path of the element below the root. Names and boxes of object parts are deeper, so they do not match.
        let path: Vec<&[u8]> = self.stack.iter().skip(1).map(Vec::as_slice).collect();
        match path.as_slice() {
            [b"filename"] => self.annotation.filename = Some(words).filter(|name| !name.is_empty()),
            [b"object", b"name"] => {
                if let Some(partial) = &mut self.partial {
                    partial.name = Some((words, at));
                }
            }
            [b"object", b"difficult"] => {
                if let Some(partial) = &mut self.partial {
                    partial.is_difficult = words == "1";
                }
            }
            [b"object", b"bndbox", corner] => {
                let corner = CORNERS.iter().position(|name| name.as_bytes() == *corner);
                let value = words.parse::<f32>().ok().filter(|value| value.is_finite());
                if let (Some(corner), Some(partial)) = (corner, &mut self.partial) {
                    let Some(value) = value else {
                        let name = CORNERS.get(corner).copied().unwrap_or_default();
                        return Err(
                            self.broken(at, &say!("{name} is '{words}', which is not a number"))
                        );
                    };
                    if let Some(slot) = partial.corners.get_mut(corner) {
                        *slot = Some(value);
                    }
                }
            }
            [b"object"] => {
                if let Some(partial) = self.partial.take() {
                    let object = self.complete(partial, at)?;
                    self.annotation.objects.push(object);
                }
            }
            _ => {}
        }
        self.stack.pop();
        self.words.clear();
        Ok(())
    }

    fn complete(&self, partial: Partial, at: usize) -> Result<Object, FormatError> {
        let Some((name, named_at)) = partial.name.filter(|(name, _)| !name.is_empty()) else {
            return Err(self.broken(at, say!("an <object> has no <name>")));
        };
        let [Some(x0), Some(y0), Some(x1), Some(y1)] = partial.corners else {
            let missing = CORNERS
                .iter()
                .zip(partial.corners)
                .find(|(_, value)| value.is_none());
            let missing = missing.map_or("bndbox", |(name, _)| name);
            return Err(self.broken(at, &say!("the <object> '{name}' has no <{missing}>")));
        };
        Ok(Object {
            name,
            corners: [x0, y0, x1, y1],
            is_difficult: partial.is_difficult,
            at: named_at,
        })
    }

    /// Resolves an entity such as `&amp;` or `&#65;`.
    fn refer(&mut self, reference: &BytesRef<'_>, at: usize) -> Result<(), FormatError> {
        let character = match &**reference {
            b"amp" => Some('&'),
            b"lt" => Some('<'),
            b"gt" => Some('>'),
            b"quot" => Some('"'),
            b"apos" => Some('\''),
            _ => reference.resolve_char_ref().ok().flatten(),
        };
        match character {
            Some(character) => {
                self.words.push(character);
                Ok(())
            }
            None => {
                let name = String::from_utf8_lossy(reference).into_owned();
                Err(self.broken(at, &say!("entity &{name}; is not defined")))
            }
        }
    }

    fn broken(&self, at: usize, reason: &str) -> FormatError {
        broken(self.text, self.path, at, reason)
    }
}

/// Returns the reason of an XML error.
fn fault(error: &quick_xml::Error) -> String {
    let fault = match error {
        quick_xml::Error::IllFormed(fault) => fault,
        // The other syntax errors are an unclosed tag or comment.
        quick_xml::Error::Syntax(fault) if *fault != SyntaxError::InvalidBangMarkup => {
            return say!("it is truncated").to_owned();
        }
        _ => return say!("the XML is damaged").to_owned(),
    };
    match fault {
        IllFormedError::MismatchedEndTag { expected, found } => {
            say!("</{found}> closes <{expected}>")
        }
        IllFormedError::UnmatchedEndTag(found) => say!("</{found}> closes no element"),
        IllFormedError::MissingEndTag(name) => say!("<{name}> is not closed"),
        _ => say!("the XML is damaged").to_owned(),
    }
}

/// Returns an error at a byte of the annotation `path`.
pub(super) fn broken(text: &[u8], path: &Path, at: usize, reason: &str) -> FormatError {
    let (line, column) = line_and_column(text, at);
    fault!(Damaged, Place::file(path).line(line).column(column), reason;
        say!("Correct the XML there, or remove the image from the list"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(text: &str, part: &str) {
        let error = parse(text.as_bytes(), Path::new("a.xml"))
            .unwrap_err()
            .to_string();
        assert!(error.contains(part), "{error}");
    }

    const OBJECT: &str = "<object>\n<name>cat &amp; dog</name><difficult>1</difficult><bndbox><xmax>3</xmax>\
        <xmin>1.5</xmin><ymin>2</ymin><ymax>4</ymax></bndbox>\
        <part><name>head</name><bndbox><xmin>9</xmin><ymin>9</ymin><xmax>9</xmax><ymax>9</ymax></bndbox></part></object>";

    #[test]
    fn objects_are_read_and_parts_are_not() {
        let text = format!(
            "<?xml version='1.0'?><annotation><filename>a.jpg</filename>{OBJECT}</annotation>"
        );
        let read = parse(text.as_bytes(), Path::new("a.xml")).unwrap();
        assert_eq!(read.filename.as_deref(), Some("a.jpg"));
        let [object] = read.objects.as_slice() else {
            panic!("{read:?}");
        };
        assert_eq!(object.name, "cat & dog");
        assert_eq!(object.corners, [1.5, 2.0, 3.0, 4.0]);
        assert!(object.is_difficult);
    }

    #[test]
    fn annotation_errors_have_a_line_and_a_column() {
        says("", "a.xml, line 1, column 1: it is truncated");
        says(
            "<annotation>\n<object>\n",
            "line 3, column 1: it is truncated",
        );
        says("<annotation>\n </object></annotation>", "line 2, column 2");
        says(
            "<folder></folder>",
            "the root element is <folder>, not <annotation>",
        );
        says(
            "<annotation>\n<object><name>cat</name></object></annotation>",
            "the <object> 'cat' has no <xmin>",
        );
        says(
            "<annotation><object></object></annotation>",
            "has no <name>",
        );
        says(
            "<annotation><object><bndbox><xmin>\nx</xmin></bndbox></object></annotation>",
            "line 2, column 2: xmin is 'x', which is not a number",
        );
        says(
            "<annotation>&nothing;</annotation>",
            "entity &nothing; is not defined",
        );
        says(&"<annotation>".repeat(100), "nested too deeply");
    }
}
