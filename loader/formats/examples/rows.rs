//! Samples per second of each format and of its Python counterpart, in random order on one core.
//!
//! `cargo run --release -p loadscope-formats --example rows -- FOLDER [SECONDS]`
//!
//! The example first writes about 600 MB of data to FOLDER. `LOADSCOPE_FORMATS_PYTHON` names a Python that has the packages.
#![allow(clippy::print_stdout, reason = "it prints a table")]

use std::error::Error;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use loadscope_formats::{Opened, Rows, Untimed, open};
use loadscope_plan::dataset::DatasetSpec;

/// Opens the data of a format in `folder`.
fn rows(folder: &Path, format: &str) -> Result<Box<dyn Rows>, Box<dyn Error>> {
    let dataset = match format {
        "arrow" => "arrow:DIR/saved",
        "npy" => "npy:DIR/a.npy,window=256",
        "text" => "text:DIR/a.txt,vocab=DIR/words.txt",
        "csv" | "parquet" | "jsonl" | "npz" | "safetensors" => &format!("{format}:DIR/a.{format}"),
        sounds => &format!("audio:DIR/{sounds}"),
    };
    let dataset = dataset.replace("DIR", &folder.display().to_string());
    let DatasetSpec::Data(data) = dataset.parse::<DatasetSpec>()? else {
        return Err("it has no format".into());
    };
    match open(&data)? {
        Opened::Rows(rows) => Ok(rows),
        Opened::Stream(_) => Err("it has no rows".into()),
    }
}

/// Returns the samples per second and the seconds until the first sample.
fn measure(folder: &Path, format: &str, seconds: f64) -> Result<(f64, f64), Box<dyn Error>> {
    let start = Instant::now();
    let data = rows(folder, format)?;
    black_box(data.row(0, &mut Untimed)?);
    let first = start.elapsed().as_secs_f64();
    // A step without a common divisor with the number of rows visits all rows in distant jumps.
    let step = (data.len() * 61 / 100) | 1;
    let (mut row, mut done) = (0, 0);
    let start = Instant::now();
    while start.elapsed().as_secs_f64() < seconds {
        for _ in 0..20 {
            row = (row + step) % data.len();
            black_box(data.row(row, &mut Untimed)?);
        }
        done += 20;
    }
    Ok((f64::from(done) / start.elapsed().as_secs_f64(), first))
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or("name a folder for the data")?);
    let seconds = arguments.next().unwrap_or_else(|| "2".to_owned());
    let python = std::env::var("LOADSCOPE_FORMATS_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/measure.py");
    let output = Command::new(python)
        .arg(script)
        .arg(&folder)
        .arg(&seconds)
        .env_remove("LD_LIBRARY_PATH")
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    println!("| format | first sample (ms) | samples/s | Python | times |\n|---|---|---|---|---|");
    for line in String::from_utf8(output.stdout)?.lines() {
        let said: serde_json::Value = serde_json::from_str(line)?;
        let format = said["format"].as_str().ok_or("a format")?;
        let theirs = said["rate"].as_f64().ok_or("a rate")?;
        let (ours, first) = measure(&folder, format, seconds.parse()?)?;
        println!(
            "| {format} | {:.1} | {ours:.0} | {theirs:.0} | {:.1} |",
            first * 1e3,
            ours / theirs
        );
    }
    Ok(())
}
