//! Boxes, masks and keypoints of a resized image, like torchvision's `v2.Resize`.

use tch::{Kind, Tensor};

use crate::dataset::SampleError;
use crate::value::{dense_bytes, new_tensor};

/// An image that was resized to a square.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    /// Width and height in the file.
    pub size: (u32, u32),
    /// Side of the square.
    pub side: u32,
}

impl Frame {
    /// Scales the annotation field `name` to the new size.
    pub fn scaled(&self, name: &str, tensor: Tensor) -> Result<Tensor, SampleError> {
        match name {
            "boxes" => self.points(&tensor, 2),
            "keypoints" => self.points(&tensor, 3),
            "masks" | "mask" => self.mask(&tensor),
            _ => Ok(tensor),
        }
    }

    /// Scales groups of `stride` numbers that begin with x and y.
    fn points(&self, tensor: &Tensor, stride: usize) -> Result<Tensor, SampleError> {
        let side = f64::from(self.side);
        let (width, height) = self.size;
        let ratio = |size: u32| (side / f64::from(size.max(1))) as f32;
        let ratios = [ratio(width), ratio(height)];
        let source = dense_bytes(tensor).unwrap_or_default();
        let (source, _) = source.as_chunks::<4>();
        new_tensor(&tensor.size(), Kind::Float, |out| {
            let (out, _) = out.as_chunks_mut::<4>();
            for (at, (out, number)) in out.iter_mut().zip(source).enumerate() {
                let number = f32::from_ne_bytes(*number);
                let ratio = ratios.get(at % stride).copied().unwrap_or(1.0);
                *out = (number * ratio).to_ne_bytes();
            }
        })
        .map_err(|e| SampleError::new("RuntimeError", e.to_string()))
    }

    /// Resizes a mask to the nearest pixel, like `torch.nn.functional.interpolate(mode="nearest")`.
    fn mask(&self, tensor: &Tensor) -> Result<Tensor, SampleError> {
        let mut size = tensor.size();
        let count = size.len();
        let (Some(height), Some(width)) = (
            count.checked_sub(2).and_then(|at| size.get(at).copied()),
            size.last().copied(),
        ) else {
            return Ok(tensor.shallow_clone());
        };
        let (height, width) = (height.max(0) as usize, width.max(0) as usize);
        let side = self.side as usize;
        let nearest = |from: usize| -> Vec<usize> {
            let scale = from as f32 / side as f32;
            let last = from.saturating_sub(1);
            let each = (0..side).map(|at| ((at as f32 * scale).floor() as usize).min(last));
            each.collect()
        };
        let (rows, columns) = (nearest(height), nearest(width));
        if let Some(sizes) = size.get_mut(count - 2..) {
            sizes.fill(i64::from(self.side));
        }
        let source = dense_bytes(tensor).unwrap_or_default();
        new_tensor(&size, Kind::Uint8, |out| {
            let planes = source.chunks_exact((width * height).max(1));
            for (out, plane) in out.chunks_exact_mut((side * side).max(1)).zip(planes) {
                for (out, row) in out.chunks_exact_mut(side.max(1)).zip(&rows) {
                    let line = plane
                        .get(row * width..(row + 1) * width)
                        .unwrap_or_default();
                    for (out, column) in out.iter_mut().zip(&columns) {
                        *out = line.get(*column).copied().unwrap_or_default();
                    }
                }
            }
        })
        .map_err(|e| SampleError::new("RuntimeError", e.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_and_keypoints_scale_with_the_picture() {
        let frame = Frame {
            size: (40, 20),
            side: 10,
        };
        let boxes = Tensor::from_slice(&[4f32, 2.0, 40.0, 20.0]).view([1, 4]);
        let scaled = frame.scaled("boxes", boxes).unwrap();
        assert_eq!(scaled.size(), [1, 4]);
        assert_eq!(
            Vec::<f32>::try_from(scaled.flatten(0, -1)).unwrap(),
            [1.0, 1.0, 10.0, 10.0]
        );
        let points = Tensor::from_slice(&[4f32, 2.0, 2.0]).view([1, 1, 3]);
        let scaled = frame.scaled("keypoints", points).unwrap();
        assert_eq!(
            Vec::<f32>::try_from(scaled.flatten(0, -1)).unwrap(),
            [1.0, 1.0, 2.0]
        );
        let labels = Tensor::from_slice(&[7i64]);
        assert_eq!(frame.scaled("labels", labels).unwrap().int64_value(&[0]), 7);
    }

    #[test]
    fn masks_are_scaled_like_libtorch_nearest() {
        for (height, width, side) in [(7, 13, 5), (3, 2, 8), (480, 640, 224), (1, 1, 3)] {
            let frame = Frame {
                size: (width as u32, height as u32),
                side: side as u32,
            };
            let mask = Tensor::randint(255, [2, height, width], (Kind::Uint8, tch::Device::Cpu));
            let ours = frame.scaled("masks", mask.shallow_clone()).unwrap();
            let theirs = mask
                .unsqueeze(0)
                .upsample_nearest2d([side, side], None, None)
                .squeeze_dim(0);
            assert_eq!(ours, theirs, "{height} {width} {side}");
            let flat = frame.scaled("mask", mask.get(0)).unwrap();
            assert_eq!(flat, ours.get(0));
        }
    }
}
