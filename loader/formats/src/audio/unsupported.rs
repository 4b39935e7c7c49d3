//! Names of unsupported sound formats.

use loadscope_words::say;

use super::wav::Wav;

/// Magic numbers of other formats: offset, bytes, name.
const KINDS: [(usize, &[u8], &str); 14] = [
    (0, b"ID3", "MP3"),
    (4, b"ftyp", "MP4 or M4A"),
    (8, b"AIFF", "AIFF"),
    (8, b"AIFC", "AIFF-C"),
    (8, b"AVI ", "AVI"),
    (28, b"OpusHead", "Ogg Opus"),
    (0, b".snd", "AU"),
    (0, b"caff", "CAF"),
    (0, b"#!AMR", "AMR"),
    (0, b"\x1a\x45\xdf\xa3", "WebM or Matroska"),
    (0, b"\x30\x26\xb2\x75", "WMA"),
    (0, b"wvpk", "WavPack"),
    (0, b"NIST_1A", "NIST SPHERE"),
    (0, b"riff\x2e\x91\xcf\x11", "Wave64"),
];

/// WAV codings by format tag.
const CODINGS: [(u16, &str); 6] = [
    (0x0002, "Microsoft ADPCM"),
    (0x0011, "IMA ADPCM"),
    (0x0031, "GSM 6.10"),
    (0x0050, "MPEG"),
    (0x0055, "MP3"),
    (0x00ff, "AAC"),
];

/// Returns the format of a file that is not WAV, FLAC or Ogg Vorbis, or the coding of a WAV file. Returns `None` if it is unknown.
pub(super) fn format_name(file: &[u8]) -> Option<String> {
    if let Some(tag) = Wav::read(file).and_then(|wav| wav.tag(file)) {
        let coding = CODINGS.iter().find(|(known, _)| *known == tag);
        return Some(match coding {
            Some((_, name)) => say!("WAV with {name}"),
            None => say!("WAV with the format tag {tag:#06x}"),
        });
    }
    // A frame of MPEG audio begins with eleven ones. Only AAC has the layer 0.
    if let [0xff, second, ..] = file
        && (0xe0..0xfe).contains(second)
    {
        let layer = second >> 1 & 3;
        return Some(if layer == 0 { "AAC" } else { "MP3" }.to_owned());
    }
    let is = |at: usize, magic: &[u8]| file.get(at..).is_some_and(|rest| rest.starts_with(magic));
    let found = KINDS.iter().find(|(at, magic, _)| is(*at, magic));
    found.map(|(.., name)| (*name).to_owned())
}
