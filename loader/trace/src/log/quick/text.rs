//! What stands in a line, word by word and number by number.

use crate::Nanos;
use crate::event::StageTiming;

/// What is still to be read.
pub(super) struct Text<'a> {
    pub rest: &'a [u8],
}

impl<'a> Text<'a> {
    /// The next byte that is no white space, which stays.
    #[inline]
    pub fn peek(&mut self) -> Option<u8> {
        loop {
            match *self.rest.first()? {
                b' ' | b'\t' => self.rest = &self.rest[1..],
                byte => return Some(byte),
            }
        }
    }

    /// The next byte that is no white space.
    #[inline]
    pub fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.rest = &self.rest[1..];
        Some(byte)
    }

    #[inline]
    pub fn take(&mut self, byte: u8) -> Option<()> {
        (self.next()? == byte).then_some(())
    }

    /// Goes past exactly these bytes, white space included.
    #[inline]
    pub fn is(&mut self, bytes: &[u8]) -> Option<()> {
        self.rest = self.rest.strip_prefix(bytes)?;
        Some(())
    }

    pub fn exactly(&mut self, word: &[u8]) -> Option<()> {
        self.peek()?;
        self.rest = self.rest.strip_prefix(word)?;
        Some(())
    }

    /// A string of lower-case letters and underscores, as all names of the format are.
    #[inline]
    pub fn word(&mut self) -> Option<&'a [u8]> {
        self.take(b'"')?;
        let plain = |byte: &u8| byte.is_ascii_lowercase() || *byte == b'_';
        let length = self.rest.iter().position(|byte| !plain(byte))?;
        let (word, rest) = self.rest.split_at(length);
        self.rest = rest.strip_prefix(b"\"")?;
        Some(word)
    }

    /// A whole number of at most 18 digits: more might not fit.
    #[inline]
    pub fn int(&mut self) -> Option<i64> {
        if self.peek()? != b'-' {
            return self.digits();
        }
        self.rest = &self.rest[1..];
        // There is no other zero than 0.
        self.digits()
            .filter(|value| *value != 0)
            .map(|value| -value)
    }

    /// The same without a sign and without white space before it.
    #[inline]
    pub fn digits(&mut self) -> Option<i64> {
        let mut value = 0;
        let mut length = 0;
        // Eight at a time.
        while let Some(eight) = self.rest.get(length..length + 8) {
            let eight = u64::from_le_bytes(eight.try_into().ok()?);
            let count = digits_of(eight);
            if length + count > 18 {
                return None;
            }
            if count < 8 {
                value = value * POWERS[count] + number_of(eight, count);
                return self.after(value, length + count);
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
        self.after(value, length)
    }

    /// The number of `length` digits that comes is `value`, unless it is written as it should not be, or goes on.
    #[inline]
    pub fn after(&mut self, value: u64, length: usize) -> Option<i64> {
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
        self.exactly(if value { b"true" } else { b"false" })?;
        Some(value)
    }

    /// A list of whole numbers.
    pub fn numbers(&mut self, numbers: &mut Vec<i64>) -> Option<()> {
        numbers.clear();
        self.each(|text| {
            numbers.push(text.int()?);
            Some(())
        })
    }

    /// Every entry of a list.
    #[inline]
    pub fn each(&mut self, mut entry: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.take(b'[')?;
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

    /// `["decode",[1,2,3]]`, with one time a sample.
    pub fn stage(&mut self, count: usize) -> Option<StageTiming> {
        self.take(b'[')?;
        let name = std::str::from_utf8(self.word()?).ok()?.to_owned();
        self.take(b',')?;
        let mut walls = Vec::with_capacity(count);
        self.each(|text| {
            walls.push(Nanos(text.int()?));
            Some(())
        })?;
        self.take(b']')?;
        (walls.len() == count).then_some(StageTiming { name, walls })
    }
}

/// Powers of ten.
const POWERS: [u64; 8] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000];

/// How many of eight characters are digits, from the first (the lowest byte) on.
#[inline]
fn digits_of(eight: u64) -> usize {
    // A digit is 0x30 to 0x39: its upper half is 3, and still is when 6 is added.
    let other = (eight ^ REPEATED_ZERO) | (eight.wrapping_add(6 * ONES) ^ REPEATED_ZERO);
    ((other & (0xF0 * ONES)).trailing_zeros() / 8) as usize
}

const ONES: u64 = 0x0101_0101_0101_0101;
const REPEATED_ZERO: u64 = 0x30 * ONES;

/// The number that the first `count` (1 to 8; of none it is 0) of eight characters say, two, four, eight digits at a time.
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
