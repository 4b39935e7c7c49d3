//! Check for the end of a JPEG file.

/// Returns true if the end marker follows the image data.
///
/// Earlier markers do not count, because a preview in the header has its own end marker.
pub(super) fn is_complete(bytes: &[u8]) -> bool {
    let mut at = 2;
    while let Some(&[0xff, marker]) = bytes.get(at..at + 2) {
        match marker {
            0xff => at += 1,
            // Start of scan (SOS). The entropy-coded data after this marker cannot contain another marker of this kind.
            0xda => {
                let data = bytes.get(at..).unwrap_or_default();
                return data.windows(2).rev().any(|pair| pair == [0xff, 0xd9]);
            }
            0x01 | 0xd0..=0xd7 => at += 2,
            _ => match bytes.get(at + 2..at + 4) {
                Some(&[high, low]) => at += 2 + usize::from(u16::from_be_bytes([high, low])),
                _ => return false,
            },
        }
    }
    // The decoder accepted headers that this loop cannot parse.
    bytes.windows(2).rev().any(|pair| pair == [0xff, 0xd9])
}
