//! Test data of any size in each format that this test can write.

use std::error::Error;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use loadscope_formats::{Opened, open};
use loadscope_plan::dataset::DatasetSpec;

type Made = Result<(), Box<dyn Error>>;

/// A format and its test data.
pub struct Format {
    /// Dataset in the folder `DIR`.
    pub dataset: &'static str,
    /// True for formats with many files instead of many rows per file.
    pub has_files: bool,
    /// Writes data to an empty folder.
    pub make: fn(&Path, usize) -> Made,
}

/// Lists formats, one per line: the dataset, true for many files, and the function that writes the data.
macro_rules! formats {
    ($($dataset:literal, $has_files:literal, $make:ident;)+) => {
        &[$(Format { dataset: $dataset, has_files: $has_files, make: $make }),+]
    };
}

/// All formats.
pub const FORMATS: &[Format] = formats! {
    "npy:DIR/a.npy", false, npy;
    "csv:DIR/a.csv", false, csv;
    "jsonl:DIR/a.jsonl", false, jsonl;
    "text:DIR/a.txt", false, text;
    "parquet:DIR/a.parquet", false, parquet;
    "arrow:DIR", false, arrow;
    "sql:sqlite:DIR/a.sqlite,query=SELECT * FROM items,index=id", false, sqlite;
    "voc:DIR", true, annotated;
    "coco:DIR,DIR/a.json", true, instances;
    "audio:DIR", true, sounds;
    "webdataset:DIR/{000..099}.tar", true, shards;
};

impl Format {
    /// Opens the data in `folder`.
    pub fn open(&self, folder: &Path) -> Result<Opened, Box<dyn Error>> {
        let dataset = self.dataset.replace("DIR", &folder.display().to_string());
        match dataset.parse::<DatasetSpec>()? {
            DatasetSpec::Data(data) => Ok(open(&data)?),
            other => Err(format!("{other} has no format").into()),
        }
    }
}

fn file(folder: &Path, name: &str) -> std::io::Result<BufWriter<File>> {
    #[allow(clippy::disallowed_methods, reason = "a new file in an empty folder")]
    Ok(BufWriter::new(File::create(folder.join(name))?))
}

fn name(row: usize) -> String {
    format!("name {}", row % 1000)
}

fn npy(folder: &Path, count: usize) -> Made {
    let mut out = file(folder, "a.npy")?;
    let header = format!("{{'descr': '<i4', 'fortran_order': False, 'shape': ({count}, 8), }}\n");
    out.write_all(b"\x93NUMPY\x01\x00")?;
    out.write_all(&(header.len() as u16).to_le_bytes())?;
    out.write_all(header.as_bytes())?;
    for row in 0..count as u32 {
        out.write_all(&[row.to_le_bytes(); 8].concat())?;
    }
    Ok(out.flush()?)
}

fn csv(folder: &Path, count: usize) -> Made {
    let mut out = file(folder, "a.csv")?;
    writeln!(out, "id,x,name")?;
    for row in 0..count {
        writeln!(out, "{row},{}.{},{}", row % 977, row % 13, name(row))?;
    }
    Ok(out.flush()?)
}

fn jsonl(folder: &Path, count: usize) -> Made {
    let mut out = file(folder, "a.jsonl")?;
    for row in 0..count {
        writeln!(
            out,
            "{{\"id\": {row}, \"x\": {}.5, \"name\": \"{}\"}}",
            row % 977,
            name(row)
        )?;
    }
    Ok(out.flush()?)
}

fn text(folder: &Path, count: usize) -> Made {
    let mut out = file(folder, "a.txt")?;
    for row in 0..count {
        writeln!(out, "some words of line {row}")?;
    }
    Ok(out.flush()?)
}

/// Returns the rows `begin..end`.
fn batch(begin: usize, end: usize) -> Result<RecordBatch, Box<dyn Error>> {
    let ids = Int64Array::from_iter_values(begin as i64..end as i64);
    let numbers = Float64Array::from_iter_values((begin..end).map(|row| row as f64 / 3.0));
    let names = StringArray::from_iter_values((begin..end).map(name));
    Ok(RecordBatch::try_from_iter([
        ("id", Arc::new(ids) as ArrayRef),
        ("x", Arc::new(numbers) as ArrayRef),
        ("name", Arc::new(names) as ArrayRef),
    ])?)
}

fn batches(count: usize, size: usize) -> impl Iterator<Item = Result<RecordBatch, Box<dyn Error>>> {
    let begins = (0..count).step_by(size);
    begins.map(move |begin| batch(begin, count.min(begin + size)))
}

fn parquet(folder: &Path, count: usize) -> Made {
    let out = file(folder, "a.parquet")?;
    let mut writer = ::parquet::arrow::ArrowWriter::try_new(out, batch(0, 0)?.schema(), None)?;
    for batch in batches(count, 100_000) {
        writer.write(&batch?)?;
        writer.flush()?;
    }
    writer.close()?;
    Ok(())
}

fn arrow(folder: &Path, count: usize) -> Made {
    let out = file(folder, "a.arrow")?;
    let mut writer = arrow_ipc::writer::StreamWriter::try_new(out, &batch(0, 0)?.schema())?;
    for batch in batches(count, 1000) {
        writer.write(&batch?)?;
    }
    writer.finish()?;
    Ok(())
}

fn sqlite(folder: &Path, count: usize) -> Made {
    let base = rusqlite::Connection::open(folder.join("a.sqlite"))?;
    base.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; CREATE TABLE items (id INTEGER PRIMARY KEY, x REAL, name TEXT);")?;
    base.execute(
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?1) INSERT INTO items SELECT i, i / 3.0, 'name ' || (i % 1000) FROM n",
        [count as i64],
    )?;
    Ok(())
}

/// Writes fake image files, which are only read here, not decoded.
fn pictures(folder: &Path, count: usize) -> Made {
    fs::create_dir_all(folder)?;
    for at in 0..count {
        file(folder, &format!("{at:06}.jpg"))?.write_all(&[at as u8; 200])?;
    }
    Ok(())
}

fn annotated(folder: &Path, count: usize) -> Made {
    pictures(&folder.join("JPEGImages"), count)?;
    let annotations = folder.join("Annotations");
    fs::create_dir_all(&annotations)?;
    fs::create_dir_all(folder.join("ImageSets/Main"))?;
    let mut list = file(&folder.join("ImageSets/Main"), "train.txt")?;
    for at in 0..count {
        writeln!(list, "{at:06}")?;
        let corner = at % 100 + 1;
        write!(
            file(&annotations, &format!("{at:06}.xml"))?,
            "<annotation><filename>{at:06}.jpg</filename><object><name>cat</name><difficult>0</difficult><bndbox><xmin>{corner}</xmin>\
             <ymin>2</ymin><xmax>200</xmax><ymax>300</ymax></bndbox></object></annotation>"
        )?;
    }
    Ok(list.flush()?)
}

fn instances(folder: &Path, count: usize) -> Made {
    pictures(folder, count)?;
    let mut out = file(folder, "a.json")?;
    write!(
        out,
        "{{\"categories\": [{{\"id\": 1, \"name\": \"cat\"}}], \"images\": ["
    )?;
    for at in 0..count {
        let comma = if at > 0 { "," } else { "" };
        write!(
            out,
            "{comma}{{\"id\": {at}, \"file_name\": \"{at:06}.jpg\", \"width\": 64, \"height\": 48}}"
        )?;
    }
    write!(out, "], \"annotations\": [")?;
    for at in 0..count * 3 {
        let comma = if at > 0 { "," } else { "" };
        let image = at % count;
        write!(
            out,
            "{comma}{{\"id\": {at}, \"image_id\": {image}, \"category_id\": 1, \"bbox\": [1, 2, 30, 20], \"area\": 600, \"iscrowd\": 0, \
             \"segmentation\": [[1, 2, 31, 2, 31, 22, 1, 22]]}}"
        )?;
    }
    write!(out, "]}}")?;
    Ok(out.flush()?)
}

fn sounds(folder: &Path, count: usize) -> Made {
    for at in 0..count {
        let data = [at as u8; 320];
        let mut out = file(folder, &format!("{at:06}.wav"))?;
        out.write_all(b"RIFF")?;
        out.write_all(&(36 + data.len() as u32).to_le_bytes())?;
        out.write_all(b"WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data")?;
        out.write_all(&(data.len() as u32).to_le_bytes())?;
        out.write_all(&data)?;
    }
    Ok(())
}

/// Writes 100 shards of 600 samples.
fn shards(folder: &Path, count: usize) -> Made {
    let each = count / 100;
    for (shard, begin) in (0..count).step_by(each).enumerate() {
        let mut archive = tar::Builder::new(file(folder, &format!("{shard:03}.tar"))?);
        for sample in begin..count.min(begin + each) {
            for (ending, bytes) in [
                ("cls", (sample % 10).to_string().into_bytes()),
                ("txt", name(sample).into_bytes()),
            ] {
                let mut header = tar::Header::new_ustar();
                header.set_size(bytes.len() as u64);
                archive.append_data(
                    &mut header,
                    format!("{sample:06}.{ending}"),
                    bytes.as_slice(),
                )?;
            }
        }
        archive.into_inner()?.flush()?;
    }
    Ok(())
}
