//! What PyTorch seeds NumPy with in a worker.

/// The four words that PyTorch seeds NumPy with in a worker (`_generate_state`): a hash in the style of NumPy's
/// `SeedSequence` over the worker's number and the loader's base seed.
pub fn numpy_seed_state(base_seed: u64, worker_id: u32) -> [u32; 4] {
    const SHIFT: u32 = 16;
    let mut constant: u32 = 0x43b0_d7e5;
    let mut hash = |value: u32| {
        let value = value ^ constant;
        constant = constant.wrapping_mul(0x931e_8875);
        let value = value.wrapping_mul(constant);
        value ^ (value >> SHIFT)
    };
    let mix = |x: u32, y: u32| {
        let value = 0xca01_f9dd_u32
            .wrapping_mul(x)
            .wrapping_sub(0x4973_f715_u32.wrapping_mul(y));
        value ^ (value >> SHIFT)
    };
    let mut pool = [worker_id, base_seed as u32, (base_seed >> 32) as u32, 0].map(&mut hash);
    for source in 0..4 {
        for target in 0..4 {
            if source != target {
                pool[target] = mix(pool[target], hash(pool[source]));
            }
        }
    }
    let mut constant: u32 = 0x8b51_f9dd;
    pool.map(|value| {
        let value = value ^ constant;
        constant = constant.wrapping_mul(0x58f3_8ded);
        let value = value.wrapping_mul(constant);
        value ^ (value >> SHIFT)
    })
}
