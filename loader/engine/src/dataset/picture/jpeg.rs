//! The end of a JPEG file.

/// True if the end marker follows the picture data. Earlier markers do not count: a preview inside the header has an
/// end marker of its own.
pub(super) fn is_complete(bytes: &[u8]) -> bool {
    let mut at = 2;
    while let Some(&[0xff, marker]) = bytes.get(at..at + 2) {
        match marker {
            // Fill byte.
            0xff => at += 1,
            // Start of scan: no other marker of this kind can occur in the data that follows.
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
    // The decoder coped with headers that this walk does not understand.
    bytes.windows(2).rev().any(|pair| pair == [0xff, 0xd9])
}
