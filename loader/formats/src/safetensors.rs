//! Named tensors, mapped to memory. Samples have a slice of the first axis of each.

use std::path::Path;

use loadscope_words::say;
use safetensors::{SafeTensorError, SafeTensors};

use crate::array::Dtype;
use crate::buffer::Buffer;
use crate::error::{Fault, FormatError, Place};
use crate::slices::{Endian, Field, Fields, Layout, Order, Slices, chosen};

/// Opens the tensors with these names, or all if `names` is empty.
///
/// # Errors
/// If the file cannot be opened or is damaged, a name is missing, or the first axes differ.
pub fn open(path: &Path, names: &[String]) -> Result<Fields, FormatError> {
    let place = Place::file(path);
    let file = Buffer::map(path).map_err(|e| FormatError::reading(path, &e))?;
    let (length, header) =
        SafeTensors::read_metadata(&file).map_err(|e| damaged(&e, file.len(), &place))?;
    let there = header.offset_keys();
    let mut fields = Vec::new();
    for name in chosen(there.iter().map(String::as_str), names, &place)? {
        let place = place.clone().key(name);
        let Some(info) = header.info(name) else {
            continue;
        };
        let layout = Layout {
            dtype: dtype(info.dtype, &place)?,
            shape: info.shape.clone(),
            order: Order::C,
            endian: Endian::LITTLE,
        };
        // The offsets are relative to the end of the header. The length of the header precedes it.
        let (begin, end) = info.data_offsets;
        let begin_of_data = length + size_of::<u64>();
        let bytes = file.slice(begin_of_data + begin..begin_of_data + end);
        let slices = Slices::new(layout, bytes.unwrap_or_default(), &place)?;
        fields.push(Field::ready(name, slices));
    }
    Fields::new(fields, place, Vec::new())
}

fn damaged(error: &SafeTensorError, bytes: usize, place: &Place) -> FormatError {
    let what = match error {
        SafeTensorError::HeaderTooSmall => say!("it has no header").to_owned(),
        SafeTensorError::HeaderTooLarge => {
            say!("its first 8 bytes declare a header of more than 100 MB").to_owned()
        }
        SafeTensorError::InvalidHeaderLength => {
            say!("its header does not end within its {bytes} bytes")
        }
        SafeTensorError::MetadataIncompleteBuffer => {
            say!("it has {bytes} bytes, but its header declares another size")
        }
        SafeTensorError::InvalidOffset(name) => {
            say!("the bytes of '{name}' do not follow those of the tensor before it")
        }
        _ => say!("its header is damaged").to_owned(),
    };
    let remedy = say!("It is truncated, damaged or of another format: copy or save it again");
    FormatError::new(Fault::Damaged, place.clone(), what, remedy)
}

fn dtype(dtype: safetensors::Dtype, place: &Place) -> Result<Dtype, FormatError> {
    use safetensors::Dtype as Their;
    Ok(match dtype {
        Their::BOOL => Dtype::Bool,
        Their::U8 => Dtype::UInt8,
        Their::I8 => Dtype::Int8,
        Their::I16 => Dtype::Int16,
        Their::U16 => Dtype::UInt16,
        Their::I32 => Dtype::Int32,
        Their::U32 => Dtype::UInt32,
        Their::I64 => Dtype::Int64,
        Their::U64 => Dtype::UInt64,
        Their::F16 => Dtype::Float16,
        Their::BF16 => Dtype::BFloat16,
        Their::F32 => Dtype::Float32,
        Their::F64 => Dtype::Float64,
        Their::C64 => Dtype::Complex64,
        Their::F8_E4M3 => Dtype::Float8E4M3,
        Their::F8_E5M2 => Dtype::Float8E5M2,
        other => {
            bail!(WrongType, place.clone(), say!("its elements have dtype {other:?}, which is not supported");
                say!("Save it in another dtype, or choose the other tensors"));
        }
    })
}
