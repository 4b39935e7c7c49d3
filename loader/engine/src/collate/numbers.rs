//! Batches of numbers, like `torch.tensor(batch)`.

use loadscope_words::say;
use tch::{Kind, Tensor};

use super::complex;
use super::stack::{dtype_of, promote};
use crate::error::{ExceptionKind, LoaderError};
use crate::value::{DType, NdArray, NumpyScalar, Value, new_tensor, torch_error};

const BOOL: DType = DType::Kind(Kind::Bool);
const INT: DType = DType::Kind(Kind::Int64);
const FLOAT: DType = DType::Kind(Kind::Float);
/// Dtype at which PyTorch stops its inference.
const WIDEST: DType = DType::Kind(Kind::ComplexDouble);

/// Returns `torch.tensor(batch, dtype=torch.float64)`, for a batch whose first sample is a float.
pub(super) fn floats(batch: &[Value]) -> Result<Tensor, LoaderError> {
    let numbers: Vec<f64> = batch.iter().map(real).collect::<Result<_, _>>()?;
    tensor(Kind::Double, numbers.into_iter().map(f64::to_ne_bytes))
}

/// Returns `torch.tensor(batch)`.
///
/// Bools stay bools, ints are int64, NumPy numbers and tensors keep their dtypes. One float makes all ints float32.
pub(super) fn inferred(batch: &[Value]) -> Result<Tensor, LoaderError> {
    tensor_of_dtype(batch, dtype_of_all(batch)?)
}

/// Returns the dtype that `torch.tensor` infers from numbers or sequences of numbers.
pub(super) fn dtype_of_all(batch: &[Value]) -> Result<DType, LoaderError> {
    let mut dtype = match batch.first() {
        Some(first) => inferred_dtype(first)?,
        None => FLOAT,
    };
    for value in batch.iter().skip(1) {
        if dtype == WIDEST {
            break;
        }
        dtype = match (dtype, inferred_dtype(value)?) {
            // The common cases need no call to libtorch.
            (a, b) if a == b => a,
            (BOOL, INT) => INT,
            (INT, BOOL) => INT,
            (INT, FLOAT) | (FLOAT, INT) => FLOAT,
            (a, b) => promote(a, b)?,
        };
    }
    Ok(dtype)
}

/// Returns `torch.tensor(batch, dtype=dtype)`. The dtype must be able to represent every element.
pub(super) fn tensor_of_dtype(batch: &[Value], dtype: DType) -> Result<Tensor, LoaderError> {
    match dtype {
        BOOL => {
            let numbers: Vec<i64> = batch
                .iter()
                .map(bool_or_integer)
                .collect::<Result<_, _>>()?;
            tensor(dtype, numbers.into_iter().map(|v| [u8::from(v != 0)]))
        }
        INT => {
            let numbers: Vec<i64> = batch.iter().map(integer).collect::<Result<_, _>>()?;
            tensor(dtype, numbers.into_iter().map(i64::to_ne_bytes))
        }
        FLOAT => {
            let numbers: Vec<f64> = batch.iter().map(real).collect::<Result<_, _>>()?;
            tensor(dtype, numbers.into_iter().map(|v| (v as f32).to_ne_bytes()))
        }
        dtype if complex::is_complex(dtype) => {
            let numbers: Vec<[f64; 2]> =
                batch.iter().map(complex_parts).collect::<Result<_, _>>()?;
            complex::tensor(&numbers, dtype)
        }
        // NumPy numbers and tensors are rare. One temporary tensor per number does not matter.
        other => converted(batch, other),
    }
}

/// Converts each number with libtorch, which supports every dtype.
fn converted(batch: &[Value], dtype: DType) -> Result<Tensor, LoaderError> {
    let failed = |e| torch_error(say!("make a batch of {}", dtype.name()), &e);
    let is_whole = match dtype {
        // PyTorch takes only Python integers here, and no batch of them has this dtype.
        DType::UInt64 => return Err(LoaderError::type_error("an integer is required")),
        DType::UInt16 | DType::UInt32 => true,
        DType::Kind(kind) => matches!(kind, Kind::Uint8 | Kind::Int8 | Kind::Int16 | Kind::Int),
    };
    let out = new_tensor(&[batch.len() as i64], dtype, |_| {}).map_err(failed)?;
    for (position, value) in batch.iter().enumerate() {
        let number = match is_whole {
            true => Tensor::from(integer(value)?),
            false => Tensor::from(real(value)?),
        };
        out.f_select(0, position as i64)
            .and_then(|mut slot| slot.f_copy_(&number))
            .map_err(failed)?;
    }
    Ok(out)
}

/// Makes a 1-dimensional tensor from the bytes of its elements.
fn tensor<const W: usize>(
    dtype: impl Into<DType>,
    elements: impl ExactSizeIterator<Item = [u8; W]>,
) -> Result<Tensor, LoaderError> {
    new_tensor(&[elements.len() as i64], dtype, |bytes| {
        for (slot, element) in bytes.chunks_exact_mut(W).zip(elements) {
            slot.copy_from_slice(&element);
        }
    })
    .map_err(|e| torch_error(say!("make a tensor of numbers"), &e))
}

/// Returns the dtype that `torch.tensor` infers from one element.
fn inferred_dtype(value: &Value) -> Result<DType, LoaderError> {
    match value {
        Value::Bool(_) => Ok(BOOL),
        Value::Int(_) | Value::BigInt(_) => Ok(INT),
        Value::Float(_) => Ok(FLOAT),
        Value::Complex(..) => Ok(DType::Kind(Kind::ComplexFloat)),
        Value::Tensor(tensor)
        | Value::Array(NdArray::Numbers(tensor))
        | Value::Scalar(NumpyScalar::Number(tensor))
            if tensor.defined() =>
        {
            dtype_of(tensor)
        }
        Value::Array(array @ NdArray::Other { .. }) => Err(no_such_array(array.dtype())),
        Value::Scalar(scalar @ (NumpyScalar::Str(_) | NumpyScalar::Bytes(_))) => {
            Err(no_such_array(&scalar.dtype()))
        }
        Value::Str(_) | Value::Bytes(_) => Err(LoaderError::type_error(format!(
            "new(): invalid data type '{}'",
            value.type_name()
        ))),
        // The elements of sequences determine the dtype. The conversion fails later.
        Value::List(items) | Value::Tuple(items) => dtype_of_all(items),
        Value::NamedTuple(tuple) => dtype_of_all(&tuple.items),
        Value::Sequence(sequence) => dtype_of_all(&sequence.items),
        other => Err(LoaderError::runtime(format!(
            "Could not infer dtype of {}",
            other.type_name()
        ))),
    }
}

type Refusal = (ExceptionKind, &'static str);

const INTEGER_TENSOR: Refusal = (
    ExceptionKind::TYPE_ERROR,
    "only integer tensors of a single element can be converted to an index",
);
const INTEGER_ARRAY: Refusal = (
    ExceptionKind::TYPE_ERROR,
    "only integer scalar arrays can be converted to a scalar index",
);
const REAL_TENSOR: Refusal = (
    ExceptionKind::VALUE_ERROR,
    "only one element tensors can be converted to Python scalars",
);
const REAL_ARRAY: Refusal = (
    ExceptionKind::TYPE_ERROR,
    "only 0-dimensional arrays can be converted to Python scalars",
);

fn real(value: &Value) -> Result<f64, LoaderError> {
    let read = |tensor: &Tensor, refusal| {
        let element = element(tensor, refusal)?;
        match complex::parts(&element)? {
            Some(parts) => complex::real_part(value, parts),
            None => element
                .f_double_value(&[])
                .map_err(|e| torch_error(say!("read a number from a tensor"), &e)),
        }
    };
    match value {
        Value::Bool(v) => Ok(f64::from(u8::from(*v))),
        Value::Int(v) => Ok(*v as f64),
        Value::BigInt(v) => Ok(*v as f64),
        Value::Float(v) => Ok(*v),
        Value::Tensor(tensor) | Value::Scalar(NumpyScalar::Number(tensor)) => {
            read(tensor, REAL_TENSOR)
        }
        Value::Array(NdArray::Numbers(array)) if array.defined() && array.dim() == 0 => {
            read(array, REAL_ARRAY)
        }
        Value::Array(_) => Err(LoaderError::python(REAL_ARRAY.0, REAL_ARRAY.1)),
        other => Err(LoaderError::type_error(format!(
            "must be real number, not {}",
            other.type_name()
        ))),
    }
}

/// Returns the real and imaginary part of a number of any type.
fn complex_parts(value: &Value) -> Result<[f64; 2], LoaderError> {
    let parts = match value {
        Value::Complex(real, imaginary) => Some([*real, *imaginary]),
        Value::Tensor(tensor) | Value::Scalar(NumpyScalar::Number(tensor)) => {
            complex::parts(&element(tensor, REAL_TENSOR)?)?
        }
        Value::Array(NdArray::Numbers(array)) if array.defined() && array.dim() == 0 => {
            complex::parts(array)?
        }
        _ => None,
    };
    match parts {
        Some(parts) => Ok(parts),
        None => Ok([real(value)?, 0.0]),
    }
}

/// Returns `operator.index(value)`.
fn integer(value: &Value) -> Result<i64, LoaderError> {
    let is_bool = |tensor: &Tensor| DType::of(tensor) == Some(BOOL);
    match value {
        Value::Scalar(NumpyScalar::Number(number)) if is_bool(number) => {
            Err(LoaderError::type_error(format!(
                "'{}' object cannot be interpreted as an integer",
                value.type_name()
            )))
        }
        Value::Array(NdArray::Numbers(array)) if is_bool(array) => {
            Err(LoaderError::python(INTEGER_ARRAY.0, INTEGER_ARRAY.1))
        }
        other => bool_or_integer(other),
    }
}

/// Returns an integer from which a bool tensor is made.
fn bool_or_integer(value: &Value) -> Result<i64, LoaderError> {
    let read = |tensor: &Tensor, refusal| {
        element(tensor, refusal)?
            .f_int64_value(&[])
            .map_err(|e| torch_error(say!("read a number from a tensor"), &e))
    };
    match value {
        Value::Bool(v) => Ok(i64::from(*v)),
        Value::Int(v) => Ok(*v),
        Value::BigInt(_) => Err(LoaderError::value_error(
            "Overflow when unpacking long long",
        )),
        Value::Tensor(tensor) | Value::Scalar(NumpyScalar::Number(tensor)) => {
            read(tensor, INTEGER_TENSOR)
        }
        Value::Array(NdArray::Numbers(array)) if array.defined() && array.dim() == 0 => {
            read(array, INTEGER_ARRAY)
        }
        Value::Array(_) => Err(LoaderError::python(INTEGER_ARRAY.0, INTEGER_ARRAY.1)),
        other => Err(LoaderError::type_error(format!(
            "'{}' object cannot be interpreted as an integer",
            other.type_name()
        ))),
    }
}

/// Returns the only element of a tensor as a 0-d tensor.
fn element(tensor: &Tensor, refusal: Refusal) -> Result<Tensor, LoaderError> {
    if !tensor.defined() || tensor.numel() != 1 {
        return Err(LoaderError::python(refusal.0, refusal.1));
    }
    tensor
        .f_reshape([0i64; 0].as_slice())
        .map_err(|e| torch_error(say!("read a number from a tensor"), &e))
}

/// Returns the error of converting a NumPy array of this dtype to a tensor.
pub(super) fn no_such_array(dtype: &str) -> LoaderError {
    let letter = dtype.trim_start_matches(['<', '>', '|', '=']);
    let class = match letter.chars().next() {
        Some('U') => "str_",
        Some('S' | 'a') => "bytes_",
        Some('V') => "void",
        _ if letter == "object" => "object_",
        // The class of `datetime64[D]` is datetime64.
        _ => letter.split('[').next().unwrap_or_default(),
    };
    LoaderError::type_error(format!(
        "can't convert np.ndarray of type numpy.{class}. The only supported types are: float64, float32, float16, \
         complex64, complex128, int64, int32, int16, int8, uint64, uint32, uint16, uint8, and bool."
    ))
}
