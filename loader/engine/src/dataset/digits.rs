//! Built-in dataset of 1,797 handwritten digits.

use std::io::Read;
use std::sync::OnceLock;

use flate2::read::GzDecoder;
use loadscope_words::say;
use tch::Kind;

use super::{Dataset, SampleClock, SampleError};
use crate::error::LoaderError;
use crate::value::{Value, new_tensor};

const FILE: &[u8] = include_bytes!("../../../../assets/digits/digits.csv.gz");
/// Pixels of a digit.
const PIXELS: usize = 64;
/// Maximum gray value.
const WHITE: u8 = 16;

struct Digit {
    pixels: [u8; PIXELS],
    label: u8,
}

/// 8×8 gray images of the digits 0 to 9. A sample is `(float32 [1, 8, 8] in 0..=1, int)`.
pub struct Digits {
    digits: &'static [Digit],
    classes: Vec<String>,
}

impl Digits {
    /// Returns the built-in digits. The first call unpacks them.
    ///
    /// # Errors
    /// If the executable is damaged.
    pub fn new() -> Result<Self, LoaderError> {
        static DIGITS: OnceLock<Result<Vec<Digit>, String>> = OnceLock::new();
        match DIGITS.get_or_init(unpack) {
            Ok(digits) => Ok(Self {
                digits,
                classes: (0..10).map(|digit| digit.to_string()).collect(),
            }),
            Err(problem) => Err(LoaderError::Dataset(say!(
                "cannot read the built-in digits ({problem}). Reinstall Loadscope."
            ))),
        }
    }

    /// Returns the digit of each sample.
    pub fn labels(&self) -> impl Iterator<Item = u8> {
        self.digits.iter().map(|digit| digit.label)
    }
}

fn unpack() -> Result<Vec<Digit>, String> {
    let mut text = Vec::new();
    GzDecoder::new(FILE)
        .read_to_end(&mut text)
        .map_err(|e| e.to_string())?;
    csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(text.as_slice())
        .deserialize()
        .enumerate()
        .map(|(row, record)| {
            let numbers: Vec<u8> = record.map_err(|e| e.to_string())?;
            let (pixels, label) = match numbers.split_last() {
                Some((&label, pixels)) if label < 10 && pixels.iter().all(|&p| p <= WHITE) => {
                    (pixels, label)
                }
                _ => return Err(say!("row {row} is out of range")),
            };
            let pixels = pixels
                .try_into()
                .map_err(|_| say!("row {row} has {} pixels", pixels.len()))?;
            Ok(Digit { pixels, label })
        })
        .collect()
}

impl Dataset for Digits {
    type Sample = Value;

    fn len(&self) -> usize {
        self.digits.len()
    }

    fn get(&self, index: usize, clock: &mut SampleClock) -> Result<Value, SampleError> {
        let Some(digit) = self.digits.get(index) else {
            return Err(SampleError::out_of_range(index, self.len()));
        };
        let tensor = clock.stage("decode", || {
            new_tensor(&[1, 8, 8], Kind::Float, |bytes| {
                for (slot, &pixel) in bytes.chunks_exact_mut(4).zip(&digit.pixels) {
                    slot.copy_from_slice(&(f32::from(pixel) / f32::from(WHITE)).to_ne_bytes());
                }
            })
        });
        match tensor {
            Ok(tensor) => Ok((tensor, i64::from(digit.label)).into()),
            Err(e) => Err(SampleError::new("RuntimeError", e.to_string())),
        }
    }

    fn labels(&self) -> Option<Vec<u32>> {
        Some(Self::labels(self).map(u32::from).collect())
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tch::Tensor;

    #[test]
    fn digits_contain_1797_labelled_images() {
        let digits = Digits::new().unwrap();
        assert_eq!(digits.len(), 1797);
        assert_eq!(digits.classes().len(), 10);
        let mut clock = SampleClock::off();
        let mut counts = [0; 10];
        for index in 0..digits.len() {
            let Value::Tuple(items) = digits.get(index, &mut clock).unwrap() else {
                panic!("not a pair");
            };
            let [Value::Tensor(image), Value::Int(label)] = items.as_slice() else {
                panic!("not an image and a label");
            };
            assert_eq!(image.size(), [1, 8, 8]);
            counts[usize::try_from(*label).unwrap()] += 1;
            if index == 0 {
                assert_eq!(*label, 0);
                let row = Tensor::from_slice(&[0.0f32, 0.0, 5.0, 13.0, 9.0, 1.0, 0.0, 0.0]) / 16.0;
                assert!(Value::from(image.select(1, 0).select(0, 0)).same(&row.into()));
            }
        }
        assert!(counts.iter().all(|&count| count > 150), "{counts:?}");
        assert_eq!(digits.get(1797, &mut clock).unwrap_err().kind, "IndexError");
    }
}
