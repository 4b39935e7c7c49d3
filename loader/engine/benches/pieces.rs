//! Parts of a worker's time: gathering rows and windows, decoding, collating, describing a batch.

#![allow(clippy::expect_used, reason = "it ends with what went wrong")]

use std::hint::black_box;
use std::io::Write as _;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use image::codecs::jpeg::JpegEncoder;
use loadscope_engine::collate::{CollateSite, StackCollate, default_collate};
use loadscope_engine::content::{ContentLimits, describe};
use loadscope_engine::dataset::{
    Dataset, Gather, ImageFolder, SampleClock, TensorDataset, TokenDtype, TokenWindows,
};
use loadscope_engine::fetch::Collate;
use loadscope_engine::rng::Generator;
use loadscope_engine::value::Value;
use loadscope_trace::BatchId;
use tch::{Device, Kind, Tensor};

/// Samples per batch of small ones.
const SMALL: usize = 256;
/// Images per batch.
const PICTURES: usize = 64;
/// Tokens per window.
const WINDOW: usize = 1024;

fn collating(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("collate");
    group.throughput(Throughput::Elements(SMALL as u64));
    let samples: Vec<(f32, i64)> = (0..SMALL as i64).map(|i| (i as f32, i)).collect();
    group.bench_function("(f32, i64), 256 a batch", |bencher| {
        bencher.iter(|| {
            StackCollate
                .collate(black_box(samples.clone()), CollateSite::Worker)
                .expect("a batch")
        });
    });
    let images: Vec<Tensor> = (0..PICTURES as i64)
        .map(|i| Tensor::full([3, 224, 224], i, (Kind::Uint8, Device::Cpu)))
        .collect();
    group.throughput(Throughput::Bytes((PICTURES * 3 * 224 * 224) as u64));
    group.bench_function("uint8 [3, 224, 224], 64 a batch", |bencher| {
        bencher.iter(|| {
            let samples = images.iter().map(|t| (t.shallow_clone(), 1i64).into());
            default_collate(samples.collect(), CollateSite::Worker).expect("a batch")
        });
    });
    let bytes = vec![1u8; PICTURES * 3 * 224 * 224];
    let mut target = bytes.clone();
    group.bench_function("as many bytes, copied", |bencher| {
        bencher.iter(|| black_box(&mut target).copy_from_slice(black_box(&bytes)));
    });
    group.finish();
}

fn gathering(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("gather");
    let n = 1 << 16;
    let numbers = Tensor::arange(n, (Kind::Int64, Device::Cpu));
    let data = TensorDataset::new(vec![numbers.to_kind(Kind::Float), numbers]).expect("rows");
    let order: Vec<usize> = (0..n as usize).collect();
    let mut clock = SampleClock::off();
    group.throughput(Throughput::Elements(n as u64));
    group.bench_function("rows (f32, i64), 256 a batch", |bencher| {
        bencher.iter(|| {
            for batch in order.chunks(SMALL) {
                black_box(data.gather(batch, &mut clock).expect("rows"));
            }
        });
    });
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(&vec![7u8; 16 << 20]).expect("tokens");
    let order = Generator::new(0).randperm(8 << 10).expect("an order");
    let order: Vec<usize> = order.iter().collect();
    group.throughput(Throughput::Elements(order.len() as u64));
    for dtype in [TokenDtype::Int64, TokenDtype::UInt16] {
        let data = TokenWindows::open(file.path(), WINDOW, None, dtype).expect("windows");
        group.bench_function(format!("windows as {dtype:?}, 32 a batch"), |bencher| {
            bencher.iter(|| {
                for batch in order.chunks(32) {
                    black_box(data.gather(batch, &mut clock).expect("windows"));
                }
            });
        });
    }
    group.finish();
}

fn decoding(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder");
    let class = folder.path().join("gradient");
    std::fs::create_dir(&class).expect("a class");
    let picture = image::RgbImage::from_fn(640, 427, |x, y| {
        image::Rgb([x as u8, y as u8, (x ^ y) as u8])
    });
    let mut bytes = Vec::new();
    let encoder = JpegEncoder::new_with_quality(&mut bytes, 90);
    picture.write_with_encoder(encoder).expect("a picture");
    let mut file = std::fs::File::create_new(class.join("0.jpg")).expect("a file");
    file.write_all(&bytes).expect("a picture");
    let data = ImageFolder::open(folder.path(), 224).expect("a folder of pictures");
    let mut clock = SampleClock::off();
    let mut group = criterion.benchmark_group("decode");
    group.throughput(Throughput::Elements(1));
    group.bench_function("JPEG of 640 by 427, to 224", |bencher| {
        bencher.iter(|| data.get(0, &mut clock).expect("a picture"));
    });
    group.finish();
}

fn describing(criterion: &mut Criterion) {
    let batch = Value::List(vec![
        Tensor::randint(255, [64, 3, 224, 224], (Kind::Uint8, Device::Cpu)).into(),
        Tensor::from_slice(&[1i64; 64]).into(),
    ]);
    criterion.bench_function("describe uint8 [64, 3, 224, 224]", |bencher| {
        bencher.iter(|| {
            describe(
                BatchId::default(),
                black_box(&batch),
                &ContentLimits::default(),
            )
        });
    });
}

criterion_group!(pieces, collating, gathering, decoding, describing);
criterion_main!(pieces);
