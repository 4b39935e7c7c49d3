//! Normally distributed numbers.

use std::f64::consts::PI;

use super::Generator;

impl Generator {
    /// `torch.randn(count)` in float32. It agrees with PyTorch to about 1e-5, since PyTorch's vectorized log and cos differ by CPU.
    pub fn randn_f32(&mut self, count: usize) -> Vec<f32> {
        if count < 16 {
            return (0..count).map(|_| self.normal() as f32).collect();
        }
        let mut out: Vec<f32> = (0..count).map(|_| self.rand_f32()).collect();
        let box_muller = |a: f32, b: f32| {
            let radius = (-2.0 * (1.0 - a).ln()).sqrt();
            let theta = 2.0 * std::f32::consts::PI * b;
            (radius * theta.cos(), radius * theta.sin())
        };
        self.fill_normal(&mut out, Self::rand_f32, box_muller);
        out
    }

    /// `torch.randn(count, dtype=torch.float64)`. It agrees with PyTorch to about 1e-12.
    pub fn randn_f64(&mut self, count: usize) -> Vec<f64> {
        if count < 16 {
            return (0..count).map(|_| self.normal()).collect();
        }
        let mut out: Vec<f64> = (0..count).map(|_| self.rand_f64()).collect();
        let box_muller = |a: f64, b: f64| {
            let radius = (-2.0 * (1.0 - a).ln()).sqrt();
            let theta = 2.0 * PI * b;
            (radius * theta.cos(), radius * theta.sin())
        };
        self.fill_normal(&mut out, Self::rand_f64, box_muller);
        out
    }

    /// PyTorch's method for fewer than 16 elements: pairs in f64. The generator keeps the second value.
    fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare_normal.take() {
            return spare;
        }
        let u1 = self.rand_f64();
        let u2 = self.rand_f64();
        let radius = (-2.0 * (-u2).ln_1p()).sqrt();
        let theta = 2.0 * PI * u1;
        self.spare_normal = Some(radius * theta.sin());
        radius * theta.cos()
    }

    /// PyTorch's method for 16 and more elements: blocks of 16 uniform numbers become 8 pairs. If the last block is incomplete, the last
    /// 16 elements are drawn again.
    fn fill_normal<T: Copy>(
        &mut self,
        out: &mut [T],
        uniform: impl Fn(&mut Self) -> T,
        box_muller: impl Fn(T, T) -> (T, T),
    ) {
        let block = |values: &mut [T]| {
            for j in 0..8 {
                (values[j], values[j + 8]) = box_muller(values[j], values[j + 8]);
            }
        };
        let ragged = !out.len().is_multiple_of(16);
        out.chunks_exact_mut(16).for_each(block);
        if ragged {
            let start = out.len() - 16;
            out[start..].fill_with(|| uniform(self));
            block(&mut out[start..]);
        }
    }
}
