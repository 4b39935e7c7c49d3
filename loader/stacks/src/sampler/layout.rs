//! Places of the fields that a sampler reads, in the structs of each version of CPython. They are equal on x86-64 and aarch64.

/// Form of a line table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableForm {
    /// `co_lnotab` of Python 3.9.
    Increments,
    /// `co_linetable` of Python 3.10.
    Ranges,
    /// `co_linetable` from Python 3.11 on.
    Locations,
}

/// Form of the current instruction of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instruction {
    /// Number of the instruction, as bytes of bytecode.
    Index { size: i64 },
    /// Address. The bytecode starts this many bytes after its code object.
    Address { bytecode: u64 },
}

/// Offsets in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// `PyInterpreterState`: the newest thread.
    pub threads: u64,
    /// `PyThreadState`: the frame, or the `_PyCFrame`.
    pub frame: usize,
    /// `_PyCFrame`: the frame.
    pub inner_frame: Option<u64>,
    /// Frame: its code object.
    pub code: usize,
    /// Frame: its caller.
    pub previous: usize,
    /// Frame: its instruction.
    pub instruction: usize,
    /// Frame: its owner.
    pub owner: Option<usize>,
    /// Number of bytes from the start of a frame to the end of these fields.
    pub frame_size: usize,
    pub instruction_form: Instruction,
    /// `PyCodeObject`: the line of the definition.
    pub first_line: usize,
    /// `PyCodeObject`: `co_filename`.
    pub file: usize,
    /// `PyCodeObject`: `co_qualname`, or `co_name`.
    pub name: usize,
    /// `PyCodeObject`: the line table.
    pub table: usize,
    pub table_form: TableForm,
    /// Size of `PyASCIIObject`.
    pub ascii: usize,
    /// Size of `PyCompactUnicodeObject`.
    pub compact: usize,
}

/// `PyThreadState`: the older thread, and the interpreter.
pub const THREAD_NEXT: usize = 8;
pub const THREAD_INTERPRETER: usize = 16;

/// Owner of a frame without Python code, and those above.
pub const OWNER_WITHOUT_CODE: u8 = 3;

const V3_9: Layout = Layout {
    threads: 8,
    frame: 24,
    inner_frame: None,
    code: 32,
    previous: 24,
    instruction: 104,
    owner: None,
    frame_size: 108,
    instruction_form: Instruction::Index { size: 1 },
    first_line: 40,
    file: 104,
    name: 112,
    table: 120,
    table_form: TableForm::Increments,
    ascii: 48,
    compact: 72,
};

const V3_10: Layout = Layout {
    instruction: 96,
    frame_size: 100,
    instruction_form: Instruction::Index { size: 2 },
    table_form: TableForm::Ranges,
    ..V3_9
};

const V3_11: Layout = Layout {
    threads: 16,
    frame: 56,
    inner_frame: Some(8),
    code: 32,
    previous: 48,
    instruction: 56,
    owner: Some(69),
    frame_size: 70,
    instruction_form: Instruction::Address { bytecode: 184 },
    first_line: 72,
    file: 112,
    name: 128,
    table: 136,
    table_form: TableForm::Locations,
    ascii: 48,
    compact: 72,
};

const V3_12: Layout = Layout {
    threads: 72,
    inner_frame: Some(0),
    code: 0,
    previous: 8,
    owner: Some(70),
    frame_size: 71,
    instruction_form: Instruction::Address { bytecode: 192 },
    first_line: 68,
    ascii: 40,
    compact: 56,
    ..V3_11
};

const V3_13: Layout = Layout {
    threads: 7344,
    frame: 72,
    inner_frame: None,
    instruction_form: Instruction::Address { bytecode: 200 },
    ..V3_12
};

const V3_14: Layout = Layout {
    owner: Some(74),
    frame_size: 75,
    instruction_form: Instruction::Address { bytecode: 208 },
    ..V3_13
};

const V3_15: Layout = Layout {
    threads: 7336,
    ..V3_14
};

impl Layout {
    /// Returns the layout of Python 3.`minor`.
    pub fn of(minor: u64) -> Option<Self> {
        match minor {
            9 => Some(V3_9),
            10 => Some(V3_10),
            11 => Some(V3_11),
            12 => Some(V3_12),
            13 => Some(V3_13),
            14 => Some(V3_14),
            15 => Some(V3_15),
            _ => None,
        }
    }
}
