//! Compressed and then damaged input. Random bytes are rarely a valid frame, so the target compresses them.

use std::io::Write as _;

use flate2::write::GzEncoder;

use super::{import, recording};

pub fn run(bytes: &[u8], thoroughly: bool) {
    let Some((head, text)) = bytes.split_first_chunk::<8>() else {
        return;
    };
    let [how, pieces, cut, cut_more, at, at_more, flip, twice] = *head;
    let packed_as_gzip = how & 1 == 1;
    let size = text.len() / (usize::from(pieces % 4) + 1) + 1;
    let mut packed: Vec<u8> = Vec::new();
    // Several frames in a row are one file.
    for piece in text.chunks(size) {
        let frame = match packed_as_gzip {
            true => gzip(piece),
            false => zstd::bulk::compress(piece, i32::from(how >> 6)).expect("a vector"),
        };
        packed.extend(frame);
    }
    let place = |low: u8, high: u8| usize::from(u16::from_le_bytes([low, high]));
    if how & 2 == 2 {
        let at = place(at, at_more);
        for place in [Some(at), (twice > 0).then(|| at + usize::from(twice))] {
            if let Some(byte) = place.and_then(|at| packed.get_mut(at)) {
                *byte ^= flip;
            }
        }
    }
    if how & 4 == 4 {
        packed.truncate(packed.len().saturating_sub(place(cut, cut_more)));
    }
    match packed_as_gzip {
        true => import::run(&packed, thoroughly),
        false => recording::run(&packed, thoroughly),
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(bytes).expect("a vector");
    out.finish().expect("a vector")
}
