//! PyTorch's dtypes, including those without a name in `tch`.

use tch::{Kind, TchError, Tensor};

/// Type of a tensor's elements, `torch.dtype`.
///
/// libtorch has unsigned integers of 16, 32 and 64 bits, but [`Kind`] does not. A tensor of such a dtype is an ordinary
/// [`Tensor`], but [`Tensor::f_kind`] fails (and [`Tensor::kind`] panics). Use [`DType::of`] instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DType {
    /// A dtype of `tch`.
    Kind(Kind),
    /// `torch.uint16`
    UInt16,
    /// `torch.uint32`
    UInt32,
    /// `torch.uint64`
    UInt64,
}

/// libtorch's codes of the dtypes without a name in `tch`.
const UNSIGNED: [(i32, DType); 3] = [
    (27, DType::UInt16),
    (28, DType::UInt32),
    (29, DType::UInt64),
];

impl DType {
    /// Returns the dtype of a tensor. Returns `None` for an undefined tensor and for dtypes not used for data (quantized to 4 bits …).
    pub fn of(tensor: &Tensor) -> Option<Self> {
        match tensor.f_kind() {
            Ok(kind) => Some(Self::Kind(kind)),
            Err(TchError::UnknownKind(code)) => UNSIGNED
                .iter()
                .find(|(at, _)| *at == code)
                .map(|(_, dtype)| *dtype),
            Err(_) => None,
        }
    }

    /// Returns the size of an element, bytes.
    pub fn width(self) -> usize {
        match self {
            Self::Kind(kind) => kind.elt_size_in_bytes(),
            Self::UInt16 => 2,
            Self::UInt32 => 4,
            Self::UInt64 => 8,
        }
    }

    /// Returns PyTorch's name, such as `torch.uint8`.
    pub fn name(self) -> &'static str {
        match self {
            Self::UInt16 => "torch.uint16",
            Self::UInt32 => "torch.uint32",
            Self::UInt64 => "torch.uint64",
            Self::Kind(kind) => match kind {
                Kind::Uint8 => "torch.uint8",
                Kind::Int8 => "torch.int8",
                Kind::Int16 => "torch.int16",
                Kind::Int => "torch.int32",
                Kind::Int64 => "torch.int64",
                Kind::Half => "torch.float16",
                Kind::Float => "torch.float32",
                Kind::Double => "torch.float64",
                Kind::ComplexHalf => "torch.complex32",
                Kind::ComplexFloat => "torch.complex64",
                Kind::ComplexDouble => "torch.complex128",
                Kind::Bool => "torch.bool",
                Kind::QInt8 => "torch.qint8",
                Kind::QUInt8 => "torch.quint8",
                Kind::QInt32 => "torch.qint32",
                Kind::BFloat16 => "torch.bfloat16",
                Kind::Float8e5m2 => "torch.float8_e5m2",
                Kind::Float8e4m3fn => "torch.float8_e4m3fn",
                Kind::Float8e5m2fnuz => "torch.float8_e5m2fnuz",
                Kind::Float8e4m3fnuz => "torch.float8_e4m3fnuz",
            },
        }
    }

    /// Returns the name without `torch.`, such as `uint8`. NumPy uses the same name if it has the dtype.
    pub fn numpy_name(self) -> &'static str {
        let name = self.name();
        name.strip_prefix("torch.").unwrap_or(name)
    }

    /// Returns the dtype with this PyTorch or NumPy name.
    pub fn from_name(name: &str) -> Option<Self> {
        const KINDS: [Kind; 20] = [
            Kind::Uint8,
            Kind::Int8,
            Kind::Int16,
            Kind::Int,
            Kind::Int64,
            Kind::Half,
            Kind::Float,
            Kind::Double,
            Kind::ComplexHalf,
            Kind::ComplexFloat,
            Kind::ComplexDouble,
            Kind::Bool,
            Kind::QInt8,
            Kind::QUInt8,
            Kind::QInt32,
            Kind::BFloat16,
            Kind::Float8e5m2,
            Kind::Float8e4m3fn,
            Kind::Float8e5m2fnuz,
            Kind::Float8e4m3fnuz,
        ];
        let name = name.strip_prefix("torch.").unwrap_or(name);
        KINDS
            .into_iter()
            .map(Self::Kind)
            .chain(UNSIGNED.map(|(_, dtype)| dtype))
            .find(|dtype| dtype.numpy_name() == name)
    }

    /// Returns libtorch's internal name, which its errors use, such as `Long`.
    pub(crate) fn cpp_name(self) -> String {
        match self {
            Self::Kind(Kind::Uint8) => "Byte".to_owned(),
            Self::Kind(Kind::Int8) => "Char".to_owned(),
            Self::Kind(Kind::Int16) => "Short".to_owned(),
            Self::Kind(Kind::Int64) => "Long".to_owned(),
            Self::Kind(other) => format!("{other:?}"),
            wide => format!("{wide:?}"),
        }
    }

    /// Returns libtorch's code of a wide unsigned dtype, or −1 for any other.
    pub(super) fn code(self) -> i32 {
        UNSIGNED
            .iter()
            .find(|(_, dtype)| *dtype == self)
            .map_or(-1, |(code, _)| *code)
    }
}

impl From<Kind> for DType {
    fn from(kind: Kind) -> Self {
        Self::Kind(kind)
    }
}
