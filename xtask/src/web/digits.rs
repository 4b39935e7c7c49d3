//! Encoding of bytes as text in a page. Four bytes are five digits, which is 1/16 shorter than Base64. No digit has a meaning in HTML, in
//! an attribute or in JSON.

/// Digits, the same as in `page.js`.
const DIGITS: &[u8; 85] =
    b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?~,;()[]{}_%$#";

/// Encodes `bytes`, padded with zeros to a multiple of four.
pub(super) fn text(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() / 4 * 5 + 5);
    for four in bytes.chunks(4) {
        let mut padded = [0; 4];
        padded[..four.len()].copy_from_slice(four);
        let mut number = u32::from_be_bytes(padded);
        let mut five = [b'0'; 5];
        for digit in five.iter_mut().rev() {
            *digit = DIGITS[(number % 85) as usize];
            number /= 85;
        }
        text.extend(five.map(char::from));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> Vec<u8> {
        let value = |digit: &u8| {
            let at = DIGITS.iter().position(|one| one == digit);
            at.expect("a digit") as u32
        };
        let fives = text.as_bytes().chunks(5);
        fives
            .flat_map(|five| {
                let number = five
                    .iter()
                    .fold(0, |number, digit| number * 85 + value(digit));
                number.to_be_bytes()
            })
            .collect()
    }

    #[test]
    fn bytes_round_trip_as_digits() {
        let all: Vec<u8> = (0..4_000u32).map(|k| (k * k % 251) as u8).collect();
        assert_eq!(bytes(&text(&all)), all);
        assert_eq!(bytes(&text(&[255; 8])), [255; 8]);
        assert_eq!(bytes(&text(b"abcde")), b"abcde\0\0\0");
        let mut digits = DIGITS.to_vec();
        digits.sort_unstable();
        digits.dedup();
        assert_eq!(digits.len(), 85);
        assert!(!digits.iter().any(|digit| b"<>&\"'\\@ ".contains(digit)));
    }

    #[test]
    fn the_page_has_the_same_digits() {
        let script = include_str!("../../../app/web/page/page.js");
        let digits = std::str::from_utf8(DIGITS).expect("they are ASCII");
        assert!(script.contains(&format!("'{digits}'")));
    }
}
