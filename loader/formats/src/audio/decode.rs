//! Decoder of sound files.

use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use loadscope_words::say;
use symphonia::core::audio::Channels;
use symphonia::core::codecs::audio::AudioDecoderOptions;
use symphonia::core::codecs::audio::well_known::CODEC_ID_VORBIS;
use symphonia::core::errors::Error;
use symphonia::core::formats::probe::Hint;
use symphonia::core::formats::{FormatOptions, FormatReader, TrackType};
use symphonia::core::io::{MediaSource, MediaSourceStream};
use symphonia::core::meta::MetadataOptions;

use super::wav::Wav;
use crate::buffer::Buffer;
use crate::error::{Fault, FormatError, Place};

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

/// Maximum number of samples of all channels of a sound: 2 GiB of float32.
const MOST_SAMPLES: u64 = 1 << 29;

/// Maximum number of channels of Ogg Vorbis. With more, uncoupled channels, the decoder mixes up the short blocks: it keeps the classes of
/// one channel where those of the next channel begin.
const MOST_OF_VORBIS: usize = 2;

/// A decoded sound in memory.
pub(super) struct Sound {
    /// One waveform per channel.
    pub(super) planes: Vec<Vec<f32>>,
    /// Frames per second.
    pub(super) rate: u32,
}

pub(super) fn damaged(place: &Place, reason: impl Into<String>) -> FormatError {
    let remedy = say!("It is truncated, damaged or of another format: copy it again, or remove it");
    FormatError::new(Fault::Damaged, place.clone(), reason, remedy)
}

fn refused(place: &Place, error: &Error, kind: Option<&str>) -> FormatError {
    let supported = |reason| {
        let remedy = say!("Convert it, for example with ffmpeg -i IN OUT.wav");
        FormatError::new(Fault::WrongType, place.clone(), reason, remedy)
    };
    match (error, kind) {
        (Error::Unsupported(_), Some(kind)) => supported(say!(
            "it is {kind}, and only PCM in WAV, FLAC and Ogg Vorbis are supported"
        )),
        (Error::Unsupported(_), None) => {
            supported(say!("it is not a supported WAV, FLAC or Ogg Vorbis file").to_owned())
        }
        (Error::IoError(_), _) => damaged(place, say!("it ends in the middle")),
        _ => damaged(place, say!("its audio data is damaged")),
    }
}

/// Returns the error for a WAV file whose header declares no samples, although some follow.
fn open_size(place: &Place) -> FormatError {
    fault!(Damaged, place.clone(), say!("its header declares 0 samples, but samples follow: a pipe or a crash left the size at 0");
        say!("Write the header again, for example with ffmpeg -i IN OUT.wav"))
}

/// Decodes a whole file.
///
/// # Errors
/// If the file is not a supported sound, is damaged or truncated, or is too long.
pub(super) fn decode(bytes: Vec<u8>, path: &Path, place: &Place) -> Result<Sound, FormatError> {
    // The decoder may panic on unexpected data. No value that it changed is used again.
    let decoded = catch_unwind(AssertUnwindSafe(|| unguarded(bytes, path, place)));
    decoded.unwrap_or_else(|_| {
        Err(damaged(
            place,
            say!("its header and its data contradict each other"),
        ))
    })
}

/// Returns a reader that splits a file into packets.
fn reader(source: impl MediaSource + 'static, path: &Path) -> Result<Box<dyn FormatReader>, Error> {
    let mut hint = Hint::new();
    if let Some(ending) = path.extension().and_then(|ending| ending.to_str()) {
        hint.with_extension(ending);
    }
    let stream = MediaSourceStream::new(Box::new(source), Default::default());
    symphonia::default::get_probe().probe(
        &hint,
        stream,
        FormatOptions::default(),
        MetadataOptions::default(),
    )
}

/// Returns the number of frames that the header declares, or `None` if it declares none or is damaged.
pub(super) fn frames(path: &Path) -> Option<u64> {
    let bytes = Buffer::map(path).ok()?;
    if let Some(frames) = Wav::read(&bytes).and_then(|wav| wav.frames(&bytes)) {
        return Some(frames);
    }
    let read = || {
        let format = reader(Cursor::new(bytes), path).ok()?;
        format.default_track(TrackType::Audio)?.num_frames
    };
    catch_unwind(AssertUnwindSafe(read)).ok().flatten()
}

/// Decodes the default track of a sound packet by packet, and compares its length with the header.
fn unguarded(bytes: Vec<u8>, path: &Path, place: &Place) -> Result<Sound, FormatError> {
    if bytes.is_empty() {
        return Err(damaged(place, say!("it is empty")));
    }
    let kind = format_name(&bytes);
    let failed = |error: Error| refused(place, &error, kind.as_deref());
    let bytes = match Wav::read(&bytes) {
        Some(Wav { left_open: 1.., .. }) => return Err(open_size(place)),
        Some(wav) => wav.normalized(bytes),
        None => bytes,
    };
    let mut format = reader(Cursor::new(bytes), path).map_err(failed)?;
    let track = format.default_track(TrackType::Audio);
    let (id, codec, frames) = track
        .and_then(|track| {
            let codec = track.codec_params.as_ref()?.audio()?.clone();
            Some((track.id, codec, track.num_frames))
        })
        .ok_or_else(|| damaged(place, say!("it contains no audio")))?;
    let rate = codec.sample_rate.filter(|rate| *rate > 0);
    let rate = rate.ok_or_else(|| damaged(place, say!("its header has no sample rate")))?;
    let channels = codec.channels.as_ref().map_or(0, Channels::count);
    if codec.codec == CODEC_ID_VORBIS && channels > MOST_OF_VORBIS {
        bail!(WrongType, place.clone(), say!("Ogg Vorbis with {channels} channels is not supported, only mono and stereo");
            say!("Save it as FLAC or WAV"));
    }
    let mut decoder = symphonia::default::get_codecs()
        .make_audio_decoder(&codec, &AudioDecoderOptions::default())
        .map_err(failed)?;
    let mut sound = Sound {
        planes: vec![Vec::new(); channels],
        rate,
    };
    let mut part: Vec<Vec<f32>> = Vec::new();
    while let Some(packet) = format.next_packet().map_err(failed)? {
        if packet.track_id != id {
            continue;
        }
        let decoded = decoder.decode(&packet).map_err(failed)?;
        decoded.copy_to_vecs_planar(&mut part);
        sound.add(&part, place)?;
    }
    let got = sound.planes.first().map_or(0, Vec::len) as u64;
    match frames {
        Some(said) if got < said => {
            Err(damaged(place, say!("it ends after {got} of {said} frames")))
        }
        _ => Ok(sound),
    }
}

impl Sound {
    /// Appends a decoded packet.
    fn add(&mut self, part: &[Vec<f32>], place: &Place) -> Result<(), FormatError> {
        if self.planes.is_empty() {
            self.planes = vec![Vec::new(); part.len()];
        }
        if part.len() != self.planes.len() {
            return Err(damaged(
                place,
                say!("it has {} channels, then {}", self.planes.len(), part.len()),
            ));
        }
        for (plane, part) in self.planes.iter_mut().zip(part) {
            plane.extend_from_slice(part);
        }
        let all: u64 = self.planes.iter().map(|plane| plane.len() as u64).sum();
        if all > MOST_SAMPLES {
            bail!(TooLarge, place.clone(), say!("it has more than {MOST_SAMPLES} samples");
                say!("Split it into shorter files"));
        }
        Ok(())
    }
}

/// Returns the format of a file that is not WAV, FLAC or Ogg Vorbis, or the coding of a WAV file. Returns `None` if it is unknown.
fn format_name(file: &[u8]) -> Option<String> {
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
