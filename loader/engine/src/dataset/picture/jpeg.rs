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

/// Resizes to a square with a triangle filter as wide as the reduction, which is what torchvision calls bilinear with
/// antialiasing.
fn resize<'a>(
    rgb: &'a [u8],
    width: u32,
    height: u32,
    side: u32,
    resized: &'a mut Vec<u8>,
    resizer: &mut Resizer,
) -> Result<&'a [u8], Fault> {
    if width == side && height == side {
        return Ok(rgb);
    }
    let damaged = |what: String| Fault::Damaged(what);
    resized.resize(side as usize * side as usize * 3, 0);
    let source = ImageRef::new(width, height, rgb, PixelType::U8x3)
        .map_err(|e| damaged(say!("its pixels do not match its size: {e}")))?;
    let mut target = Image::from_slice_u8(side, side, resized, PixelType::U8x3)
        .map_err(|e| damaged(say!("it cannot be resized: {e}")))?;
    let options = ResizeOptions::new().resize_alg(ResizeAlg::Convolution(FilterType::Bilinear));
    resizer
        .resize(&source, &mut target, &options)
        .map_err(|e| damaged(say!("it cannot be resized: {e}")))?;
    Ok(resized)
}

/// Interleaved RGB to a tensor of three planes.
fn planes(rgb: &[u8], width: u32, height: u32) -> Result<Tensor, Fault> {
    let size = [3, i64::from(height), i64::from(width)];
    new_tensor(&size, Kind::Uint8, |bytes| {
        let plane = bytes.len() / 3;
        let (red, rest) = bytes.split_at_mut(plane);
        let (green, blue) = rest.split_at_mut(plane);
        // One plane after the other: each loop reads and writes in one direction only.
        let (pixels, _) = rgb.as_chunks::<3>();
        red.iter_mut()
            .zip(pixels)
            .for_each(|(to, [r, _, _])| *to = *r);
        green
            .iter_mut()
            .zip(pixels)
            .for_each(|(to, [_, g, _])| *to = *g);
        blue.iter_mut()
            .zip(pixels)
            .for_each(|(to, [_, _, b])| *to = *b);
    })
    .map_err(|e| Fault::Torch(e.to_string()))
}
