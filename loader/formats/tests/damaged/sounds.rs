//! Sounds and lines of words.

use super::{Damaged, all};
use crate::common::damage::{endure, usual};
use crate::common::{Options, open};

/// Creates a WAV file with the given header fields.
fn wav(tag: u16, channels: u16, rate: u32, bits: u16, size: u32, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"RIFF".to_vec();
    bytes.extend((36 + data.len() as u32).to_le_bytes());
    bytes.extend(b"WAVEfmt ");
    bytes.extend(16u32.to_le_bytes());
    bytes.extend(tag.to_le_bytes());
    bytes.extend(channels.to_le_bytes());
    bytes.extend(rate.to_le_bytes());
    let block = channels.wrapping_mul(bits / 8);
    bytes.extend(rate.wrapping_mul(u32::from(block)).to_le_bytes());
    bytes.extend(block.to_le_bytes());
    bytes.extend(bits.to_le_bytes());
    bytes.extend(b"data");
    bytes.extend(size.to_le_bytes());
    bytes.extend(data);
    bytes
}

/// Creates a hundred frames of two channels.
pub fn right() -> Vec<u8> {
    wav(1, 2, 8000, 16, 400, &[1u8; 400])
}

#[test]
fn damaged_wav_files_never_panic() {
    let data = [1u8; 400];
    let right = wav(1, 2, 8000, 16, 400, &data);
    let damaged = vec![
        Damaged::refused("no channels", wav(1, 0, 8000, 16, 400, &data)),
        Damaged::refused("no rate", wav(1, 2, 0, 16, 400, &data)),
        Damaged::refused("no bits", wav(1, 2, 8000, 0, 400, &data)),
        Damaged::refused("7 bits", wav(1, 2, 8000, 7, 400, &data)),
        Damaged::refused("unknown coding", wav(0x1234, 2, 8000, 16, 400, &data)),
        Damaged::refused("more data than there is", wav(1, 2, 8000, 16, 4000, &data)),
        Damaged::survived("a pipe", wav(1, 2, 8000, 16, 0x7fff_0000, &data)),
        Damaged::refused("no size of a pipe", wav(1, 2, 8000, 16, 0, &data)),
        Damaged::refused("only RIFF", b"RIFF".to_vec()),
        Damaged::refused(
            "a form that is none",
            b"RIFF\x10\0\0\0AVI LIST\0\0\0\0".to_vec(),
        ),
        Damaged::refused("text", b"hello, this is no sound\n".repeat(50)),
        Damaged::survived("all channels", wav(1, u16::MAX, 8000, 16, 400, &data)),
        Damaged::survived("the highest rate", wav(1, 2, u32::MAX, 16, 400, &data)),
        Damaged::survived("no size", wav(1, 2, 8000, 16, u32::MAX, &data)),
    ];
    all("audio", "a.wav", damaged, &right, 35);
}

/// Noise of 0.02 s, from soundfile.
pub const FLAC: &[u8] = include_bytes!("../data/noise.flac");
pub const OGG: &[u8] = include_bytes!("../data/noise.ogg");
/// Ogg Vorbis with three channels.
const THREE: &[u8] = include_bytes!("../data/three.ogg");

#[test]
fn damaged_flac_files_never_panic() {
    let mut damaged = Vec::new();
    for at in 0..60 {
        let mut bytes = FLAC.to_vec();
        bytes[at] = 0xff;
        damaged.push(Damaged::survived(format!("byte {at}"), bytes));
    }
    damaged.push(Damaged::refused("only a header", FLAC[..42].to_vec()));
    all("audio", "a.flac", damaged, FLAC, 40);
}

#[test]
fn damaged_ogg_files_never_panic() {
    let mut damaged = Vec::new();
    for at in (0..OGG.len()).step_by(OGG.len() / 150) {
        let mut bytes = OGG.to_vec();
        bytes[at] ^= 0x55;
        damaged.push(Damaged::survived(format!("byte {at}"), bytes));
    }
    damaged.push(Damaged::refused("three channels", THREE.to_vec()));
    all("audio", "a.ogg", damaged, OGG, 60);
}

#[test]
fn damaged_text_files_never_panic() {
    let dir = tempfile::tempdir().expect("a folder");
    let words = dir.path().join("words.txt");
    crate::common::write(&words, b"<pad>\na\nb\n");
    let right = b"a b a\nb\n\na\n".repeat(20);
    let mut damaged = vec![
        Damaged::refused("an unknown word", b"a\nb x\n".to_vec()),
        Damaged::refused("no UTF-8", b"a\n\xff\n".to_vec()),
        Damaged::refused(
            "UTF-16",
            "a b".encode_utf16().flat_map(u16::to_le_bytes).collect(),
        ),
        Damaged::refused("zeros", vec![0; 1000]),
        Damaged::survived("ends of lines", b"\n".repeat(100_000)),
        Damaged::survived("a line of a megabyte", b"a ".repeat(1 << 19)),
    ];
    damaged.extend(usual(&right));
    let count = damaged.len();
    let refused = endure("a.txt", damaged, move |path| {
        let options = Options {
            vocabulary: Some(words.clone()),
            ..Options::default()
        };
        open("text", &[path.to_owned()], &options)
    });
    eprintln!("text: {count} damaged files, {refused} refused");
    assert!(refused >= 40, "{refused}");
}
