//! Tokens of a line.

use crate::Nanos;
use crate::event::StageTiming;

/// Remaining text of a line.
pub(super) struct Tokens<'a> {
    pub rest: &'a [u8],
}

impl<'a> Tokens<'a> {
    /// Skips white space and returns the next byte without consuming it.
    #[inline]
    pub fn peek(&mut self) -> Option<u8> {
        loop {
            match *self.rest.first()? {
                b' ' | b'\t' => self.rest = &self.rest[1..],
                byte => return Some(byte),
            }
        }
    }

    /// Returns the next byte after white space.
    #[inline]
    pub fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.rest = &self.rest[1..];
        Some(byte)
    }

    #[inline]
    pub fn expect_byte(&mut self, byte: u8) -> Option<()> {
        (self.next()? == byte).then_some(())
    }

    /// Consumes exactly these bytes. White space is not skipped.
    #[inline]
    pub fn expect_bytes(&mut self, bytes: &[u8]) -> Option<()> {
        self.rest = self.rest.strip_prefix(bytes)?;
        Some(())
    }

    pub fn expect_word(&mut self, word: &[u8]) -> Option<()> {
        self.peek()?;
        self.rest = self.rest.strip_prefix(word)?;
        Some(())
    }

    /// Reads a string of lower-case letters and underscores, like all names of the format.
    #[inline]
    pub fn word(&mut self) -> Option<&'a [u8]> {
        self.expect_byte(b'"')?;
        let plain = |byte: &u8| byte.is_ascii_lowercase() || *byte == b'_';
        let length = self.rest.iter().position(|byte| !plain(byte))?;
        let (word, rest) = self.rest.split_at(length);
        self.rest = rest.strip_prefix(b"\"")?;
        Some(word)
    }

    /// Reads an integer of at most 18 digits, which always fits.
    #[inline]
    pub fn int(&mut self) -> Option<i64> {
        if self.peek()? != b'-' {
            return self.digits();
        }
        self.rest = &self.rest[1..];
        // `-0` is left to the serde parser.
        self.digits()
            .filter(|value| *value != 0)
            .map(|value| -value)
    }

    /// Reads an unsigned integer without white space before it.
    #[inline]
    pub fn digits(&mut self) -> Option<i64> {
        let mut value = 0;
        let mut length = 0;
        // The loop checks eight digits at a time.
        while let Some(eight) = self.rest.get(length..length + 8) {
            let eight = u64::from_le_bytes(eight.try_into().ok()?);
            let count = digits_of(eight);
            if length + count > 18 {
                return None;
            }
            if count < 8 {
                value = value * POWERS[count] + number_of(eight, count);
                return self.finish_digits(value, length + count);
            }
            value = value * 100_000_000 + number_of(eight, 8);
            length += 8;
        }
        while let Some(digit) = self.rest.get(length).map(|b| b.wrapping_sub(b'0'))
            && digit < 10
        {
            if length == 18 {
                return None;
            }
            value = value * 10 + u64::from(digit);
            length += 1;
        }
        self.finish_digits(value, length)
    }

    /// Consumes `length` digits with this `value`. Returns `None` for leading zeros, fractions, exponents or too many digits.
    #[inline]
    pub fn finish_digits(&mut self, value: u64, length: usize) -> Option<i64> {
        let zeros = length > 1 && self.rest.first() == Some(&b'0');
        let goes_on = matches!(self.rest.get(length), Some(b'.' | b'e' | b'E'));
        if length == 0 || length > 18 || zeros || goes_on {
            return None;
        }
        self.rest = &self.rest[length..];
        Some(value as i64)
    }

    pub fn bool(&mut self) -> Option<bool> {
        let value = self.peek()? == b't';
        self.expect_word(if value { b"true" } else { b"false" })?;
        Some(value)
    }

    /// Reads a list of integers.
    pub fn numbers(&mut self, numbers: &mut Vec<i64>) -> Option<()> {
        numbers.clear();
        self.parse_list(|text| {
            numbers.push(text.int()?);
            Some(())
        })
    }

    /// Calls `entry` for each entry of a list.
    #[inline]
    pub fn parse_list(&mut self, mut entry: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.expect_byte(b'[')?;
        if self.peek()? == b']' {
            self.rest = &self.rest[1..];
            return Some(());
        }
        loop {
            entry(self)?;
            match self.next()? {
                b',' => {}
                b']' => return Some(()),
                _ => return None,
            }
        }
    }

    /// Reads `["decode",[1,2,3]]`, with one time per sample.
    pub fn stage(&mut self, count: usize) -> Option<StageTiming> {
        self.expect_byte(b'[')?;
        let name = std::str::from_utf8(self.word()?).ok()?.to_owned();
        self.expect_byte(b',')?;
        let mut walls = Vec::with_capacity(count);
        self.parse_list(|text| {
            walls.push(Nanos(text.int()?));
            Some(())
        })?;
        self.expect_byte(b']')?;
        (walls.len() == count).then_some(StageTiming { name, walls })
    }
}

const POWERS: [u64; 8] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000];

/// Returns the number of leading digits among eight characters. The first character is the lowest byte.
#[inline]
fn digits_of(eight: u64) -> usize {
    // A digit is 0x30 to 0x39. Its upper half is 3, also after adding 6.
    let other = (eight ^ REPEATED_ZERO) | (eight.wrapping_add(6 * ONES) ^ REPEATED_ZERO);
    ((other & (0xF0 * ONES)).trailing_zeros() / 8) as usize
}

const ONES: u64 = 0x0101_0101_0101_0101;
const REPEATED_ZERO: u64 = 0x30 * ONES;

/// Returns the number in the first `count` of eight characters (0 for none). The calculation combines two, four, then eight digits at a
/// time.
#[inline]
fn number_of(eight: u64, count: usize) -> u64 {
    if count == 0 {
        return 0;
    }
    let digits = (eight << (64 - 8 * count)) & (0x0F * ONES);
    let pairs = (digits.wrapping_mul(10 * 256 + 1) >> 8) & 0x00FF_00FF_00FF_00FF;
    let fours = (pairs.wrapping_mul(100 * 65_536 + 1) >> 16) & 0x0000_FFFF_0000_FFFF;
    fours.wrapping_mul(10_000 * (1 << 32) + 1) >> 32
}
