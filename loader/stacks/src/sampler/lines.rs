//! Line tables of functions.

use super::layout::TableForm;

/// Line of a code location without a line in a table of Python 3.10.
const NO_LINE: i8 = -128;

/// Lines of the bytecode of a function.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Lines(Vec<(u32, u32)>);

impl Lines {
    /// Decodes a table. `first` is the line of the definition.
    pub fn decode(form: TableForm, first: u32, table: &[u8]) -> Self {
        let mut lines = Self(Vec::new());
        match form {
            TableForm::Increments => lines.add_increments(first, table),
            TableForm::Ranges => lines.add_ranges(first, table),
            TableForm::Locations => lines.add_locations(first, table),
        }
        lines
    }

    /// Returns the line at an offset of the bytecode. A location without a line has the line before it.
    pub fn at(&self, offset: u32) -> Option<u32> {
        let after = self.0.partition_point(|(start, _)| *start <= offset);
        let found = self.0.get(after.saturating_sub(1))?;
        Some(found.1)
    }

    fn add(&mut self, start: u32, line: i64) {
        let line = u32::try_from(line).unwrap_or(0);
        match self.0.last_mut() {
            Some(last) if last.1 == line => {}
            Some(last) if last.0 == start => last.1 = line,
            _ => self.0.push((start, line)),
        }
    }

    /// Each pair is the distance in bytes and in lines to the next line.
    fn add_increments(&mut self, first: u32, table: &[u8]) {
        let (mut start, mut line) = (0_u32, i64::from(first));
        self.add(start, line);
        for (bytes, lines) in pairs(table) {
            start = start.saturating_add(bytes.into());
            line += i64::from(lines);
            self.add(start, line);
        }
    }

    /// Each pair is the length of a range in bytes, and the distance in lines from the range before.
    fn add_ranges(&mut self, first: u32, table: &[u8]) {
        let (mut start, mut line) = (0_u32, i64::from(first));
        for (bytes, lines) in pairs(table) {
            if lines != NO_LINE {
                line += i64::from(lines);
                if bytes > 0 {
                    self.add(start, line);
                }
            }
            start = start.saturating_add(bytes.into());
        }
    }

    /// Each entry has its form, its length in instructions, and a distance in lines and columns.
    fn add_locations(&mut self, first: u32, table: &[u8]) {
        let (mut start, mut line) = (0_u32, i64::from(first));
        let mut bytes = table.iter().copied();
        while let Some(head) = bytes.next() {
            let form = (head >> 3) & 15;
            let (distance, columns) = match form {
                15 => (None, 0),
                14 => {
                    let distance = signed(&mut bytes);
                    for _ in 0..3 {
                        number(&mut bytes);
                    }
                    (Some(distance), 0)
                }
                13 => (Some(signed(&mut bytes)), 0),
                10..=12 => (Some(i64::from(form) - 10), 2),
                _ => (Some(0), 1),
            };
            for _ in 0..columns {
                bytes.next();
            }
            if let Some(distance) = distance {
                line = line.saturating_add(distance);
                self.add(start, line);
            }
            start = start.saturating_add((u32::from(head & 7) + 1) * 2);
        }
    }
}

/// Returns pairs of an unsigned and a signed byte.
fn pairs(table: &[u8]) -> impl Iterator<Item = (u8, i8)> {
    let pairs = table.as_chunks::<2>().0.iter();
    pairs.map(|[bytes, lines]| (*bytes, lines.cast_signed()))
}

/// Reads a number in groups of six bits, the lowest first.
fn number(bytes: &mut impl Iterator<Item = u8>) -> u64 {
    let mut value = 0;
    let mut shift = 0;
    for byte in bytes {
        if shift < 60 {
            value |= u64::from(byte & 63) << shift;
        }
        shift += 6;
        if byte & 64 == 0 {
            break;
        }
    }
    value
}

/// Reads a number whose lowest bit is the sign.
fn signed(bytes: &mut impl Iterator<Item = u8>) -> i64 {
    let value = number(bytes);
    let distance = i64::try_from(value >> 1).unwrap_or(0);
    if value & 1 == 0 { distance } else { -distance }
}

#[cfg(test)]
mod tests {
    use super::super::layout::Layout;
    use super::*;

    /// Output of `tests/program/line_tables.py` with each version of Python.
    const TABLES: &str = include_str!("line_tables.txt");

    #[test]
    fn the_tables_of_each_version_have_the_lines_of_dis() {
        for text in TABLES.lines() {
            let mut words = text.split(' ');
            let mut number = || words.next().and_then(|word| word.parse::<u32>().ok());
            let (minor, first) = (number().expect("a version"), number().expect("a line"));
            let form = Layout::of(minor.into()).expect("a layout").table_form;
            let table = words.next().expect("a table");
            let byte = |at| u8::from_str_radix(&table[at..at + 2], 16).expect("a byte");
            let table: Vec<u8> = (0..table.len()).step_by(2).map(byte).collect();
            let pairs = words.map(|word| {
                let (start, line) = word.split_once(':').expect("a pair");
                (
                    start.parse().expect("an offset"),
                    line.parse().expect("a line"),
                )
            });
            let wanted: Vec<(u32, u32)> = pairs.collect();
            assert!(wanted.len() > 30);
            let lines = Lines::decode(form, first, &table);
            let end = wanted.last().map_or(0, |last| last.0 + 10);
            for offset in wanted[0].0..end {
                let before = wanted.iter().rfind(|(start, _)| *start <= offset);
                let line = before.map(|(_, line)| *line);
                assert_eq!(lines.at(offset), line, "3.{minor}, offset {offset}");
            }
        }
    }

    #[test]
    fn a_damaged_table_is_no_error() {
        let forms = [
            TableForm::Increments,
            TableForm::Ranges,
            TableForm::Locations,
        ];
        for form in forms {
            assert_eq!(Lines::default().at(3), None);
            for byte in 0..=255 {
                for length in 0..40 {
                    let lines = Lines::decode(form, u32::MAX, &vec![byte; length]);
                    lines.at(7);
                }
            }
        }
    }
}
