//! Readers of datasets in common formats. They return plain values: no tensors, no windows, no threads that outlive a call.
//!
//! A format is a [`Rows`] (samples by index) or a [`StreamSource`] (samples in sequence). Both return [`Cell`]s. The engine makes datasets
//! of the formats and tensors of arrays, and decodes the [`Picture`]s.
//!
//! | module | data | counterpart in Python |
//! |---|---|---|
//! | [`voc`] | PASCAL VOC: an XML file per image | torchvision's `VOCDetection`, `VOCSegmentation` |
//! | [`coco`] | COCO: a JSON file for a folder of images | torchvision's `CocoDetection`, pycocotools |
//! | [`sql`] | SQLite files, PostgreSQL servers | `sqlite3`, `psycopg` |
//! | [`csv`] | CSV tables | `pandas.read_csv` |
//! | [`parquet`] | Parquet tables | `pyarrow.parquet` |
//! | [`arrow`] | saved Hugging Face datasets | `datasets.load_from_disk` |
//! | [`jsonl`] | JSON Lines | `datasets`, `json` |
//! | [`npy`], [`npz`] | NumPy arrays | `numpy.load` |
//! | [`safetensors`] | named tensors | `safetensors` |
//! | [`tar`], [`webdataset`] | samples grouped by key in archives | `webdataset` |
//! | [`lmdb`] | bytes by key | `lmdb` |
//! | [`audio`] | WAV, FLAC, OGG | `soundfile` |
//! | [`text`] | lines of words | `pad_sequence` |

loadscope_words::catalogs!();

#[macro_use]
mod error;
mod array;
mod buffer;
mod cell;
#[cfg(feature = "columns")]
mod columns;
mod decompress;
mod exif;
mod file;
mod in_memory;
mod index;
mod json;
#[cfg(feature = "columns")]
mod open;
mod rows;
mod selection;
mod slices;
mod stages;
mod stream;
#[cfg(feature = "columns")]
mod table;

#[cfg(feature = "columns")]
pub mod arrow;
#[cfg(feature = "columns")]
pub mod audio;
pub mod coco;
pub mod csv;
pub mod jsonl;
pub mod lmdb;
pub mod npy;
pub mod npz;
#[cfg(feature = "columns")]
pub mod parquet;
pub mod paths;
pub mod safetensors;
pub mod sql;
pub mod tar;
pub mod text;
pub mod voc;
pub mod webdataset;

pub use array::{Array, ArrayError, Dtype, Element};
pub use buffer::Buffer;
pub use cell::{Cell, Picture, PictureMode, Scalar, fields};
pub use error::{Fault, FormatError, Place};
pub use in_memory::InMemory;
#[cfg(feature = "columns")]
pub use open::open;
pub use rows::Rows;
pub use selection::{Selected, Selection};
pub use stages::{Stages, Untimed};
pub use stream::{Opened, Share, Stream, StreamSource};
