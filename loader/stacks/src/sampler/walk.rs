//! The stack of the main thread of a process, read from its memory while it runs.

use std::collections::HashMap;
use std::rc::Rc;

use super::blocked::Blocked;
use super::blocks::Blocks;
use super::layout::{Instruction, Layout, OWNER_WITHOUT_CODE, THREAD_INTERPRETER, THREAD_NEXT};
use super::lines::Lines;
use super::object::{Header, pointer, table, text, u32_at, u64_at};
use super::samples::NodeId;
use super::tree::{FunctionId, StackTree};
use crate::system::Memory;

/// Attempts to read a stack. The program can change it during a read.
const ATTEMPTS: u32 = 16;

/// Time after which a code object is compared with the memory, because another can have its address, ns.
const RECHECK: u64 = 1_000_000_000;

/// Largest numbers of frames, threads and code objects.
const MAX_FRAMES: usize = 4096;
const MAX_THREADS: usize = 4096;
const MAX_CODES: usize = 20_000;

/// Number of bytes from the start of a thread to the end of its frame.
const THREAD_SIZE: usize = 80;

/// Lowest bits of a reference to an object, which are no part of its address.
const TAG: u64 = 7;

/// Place of an interpreter in the memory of a process.
#[derive(Clone, Copy, Debug)]
pub struct Interpreter {
    pub layout: Layout,
    pub address: u64,
}

/// Reader of the stacks of a process.
pub struct Walker {
    memory: Memory,
    blocked: Blocked,
    interpreter: Interpreter,
    /// Main thread, or 0.
    thread: u64,
    /// Type of all code objects, or 0.
    code_type: u64,
    /// Outermost frame of the previous stack.
    outermost: u64,
    codes: HashMap<u64, Code>,
    blocks: Blocks,
    calls: Vec<Call>,
    stack: Vec<(Option<FunctionId>, u32)>,
}

/// Code object.
#[derive(Clone)]
struct Code {
    header: Header,
    /// Time of the comparison with the memory, ns.
    checked: u64,
    function: Option<FunctionId>,
    lines: Rc<Lines>,
}

/// Frame as it was read.
#[derive(Clone, Copy)]
struct Call {
    code: u64,
    /// Offset in the bytecode.
    offset: u32,
}

/// Result of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sample {
    /// Innermost frame.
    At(NodeId),
    /// The thread executes no Python, or waits for work.
    Idle,
    /// No attempt read a whole stack.
    Torn,
    /// The process has ended, or has loaded another program.
    Gone,
}

impl Walker {
    pub fn new(pid: u32, memory: Memory, interpreter: Interpreter) -> Self {
        Self {
            memory,
            blocked: Blocked::new(pid),
            interpreter,
            thread: 0,
            code_type: 0,
            outermost: 0,
            codes: HashMap::new(),
            blocks: Blocks::default(),
            calls: Vec::new(),
            stack: Vec::new(),
        }
    }

    /// Creates the reader of a fork of this process.
    pub fn forked(&self, pid: u32, memory: Memory) -> Self {
        Self {
            code_type: self.code_type,
            codes: self.codes.clone(),
            ..Self::new(pid, memory, self.interpreter)
        }
    }

    /// Reads the stack at a time.
    pub fn sample(&mut self, now: u64, tree: &mut StackTree) -> Sample {
        let mut seen = None;
        // A stack that changes during the read is not read again. Otherwise functions with short calls would have too few samples.
        for _ in 0..ATTEMPTS {
            let Some(outermost) = self.read() else {
                continue;
            };
            // A frame that ends during the read has no caller any more, so the stack is too short.
            let is_whole = outermost == self.outermost || seen == Some(outermost);
            seen = Some(outermost);
            if is_whole && self.resolve(now, tree).is_some() {
                self.outermost = outermost;
                let node = tree.node(&self.stack);
                let node = node.map(|node| match self.blocked.call(&self.memory) {
                    Some((name, object)) => tree.system_call(node, name, object),
                    None => node,
                });
                return node.map_or(Sample::Idle, Sample::At);
            }
        }
        match self.memory.is_gone(self.interpreter.address) {
            true => Sample::Gone,
            false => Sample::Torn,
        }
    }

    /// Reads the frames, and returns the outermost one. It is 0 without frames.
    fn read(&mut self) -> Option<u64> {
        let layout = self.interpreter.layout;
        // Frames of the heap have no neighbors.
        let are_near = layout.owner.is_some();
        self.calls.clear();
        self.blocks.clear();
        let (mut frame, mut outermost) = (self.innermost()?, 0);
        for _ in 0..MAX_FRAMES {
            if frame == 0 {
                return Some(outermost);
            }
            let size = layout.frame_size;
            let bytes = self.blocks.frame(&self.memory, frame, size, are_near)?;
            let owner = layout.owner.and_then(|at| bytes.get(at).copied());
            if owner.is_none_or(|owner| owner < OWNER_WITHOUT_CODE) {
                let code = u64_at(bytes, layout.code) & !TAG;
                let offset = match layout.instruction_form {
                    Instruction::Index { size } => {
                        let index = u32_at(bytes, layout.instruction).cast_signed();
                        i64::from(index) * size
                    }
                    Instruction::Address { bytecode } => {
                        let start = code.wrapping_add(bytecode);
                        let address = u64_at(bytes, layout.instruction);
                        address.wrapping_sub(start).cast_signed()
                    }
                };
                // It is negative before the first instruction.
                let offset = u32::try_from(offset.max(0)).ok()?;
                self.calls.push(Call { code, offset });
            }
            outermost = frame;
            frame = u64_at(bytes, layout.previous);
        }
        None
    }

    /// Returns the innermost frame of the main thread, or 0.
    fn innermost(&mut self) -> Option<u64> {
        let is_main = |bytes: &[u8]| {
            u64_at(bytes, THREAD_NEXT) == 0
                && u64_at(bytes, THREAD_INTERPRETER) == self.interpreter.address
        };
        let read = |thread: u64| self.memory.bytes::<THREAD_SIZE>(thread);
        let known = read(self.thread).filter(|bytes| self.thread != 0 && is_main(bytes));
        let bytes = match known {
            Some(bytes) => bytes,
            None => {
                self.thread = self.main_thread()?;
                self.memory.bytes::<THREAD_SIZE>(self.thread)?
            }
        };
        let layout = &self.interpreter.layout;
        let found = u64_at(&bytes, layout.frame);
        match layout.inner_frame {
            Some(offset) if found != 0 => pointer(&self.memory, found.wrapping_add(offset)),
            _ => Some(found),
        }
    }

    /// Returns the main thread, which is the oldest one.
    fn main_thread(&self) -> Option<u64> {
        let Interpreter { layout, address } = &self.interpreter;
        let mut thread = pointer(&self.memory, address.wrapping_add(layout.threads))?;
        for _ in 0..MAX_THREADS {
            let older = pointer(&self.memory, thread.wrapping_add(THREAD_NEXT as u64))?;
            if older == 0 {
                return Some(thread);
            }
            thread = older;
        }
        None
    }

    /// Finds the functions and lines of the frames. `None` if a frame has no code.
    fn resolve(&mut self, now: u64, tree: &mut StackTree) -> Option<()> {
        self.stack.clear();
        for at in 0..self.calls.len() {
            let call = *self.calls.get(at)?;
            self.check(call.code, now, tree)?;
            let code = self.codes.get(&call.code)?;
            let line = code.lines.at(call.offset);
            let line = line.unwrap_or(code.header.first_line);
            self.stack.push((code.function, line));
        }
        Some(())
    }

    /// Reads a code object unless it is known.
    fn check(&mut self, address: u64, now: u64, tree: &mut StackTree) -> Option<()> {
        if let Some(known) = self.codes.get(&address)
            && now.saturating_sub(known.checked) < RECHECK
        {
            return Some(());
        }
        let layout = &self.interpreter.layout;
        let header = Header::read(&self.memory, layout, address)?;
        if let Some(known) = self.codes.get_mut(&address)
            && known.header == header
        {
            known.checked = now;
            return Some(());
        }
        self.codes.remove(&address);
        if header.object_type != self.code_type {
            let is_first = self.code_type == 0 && header.is_code(&self.memory);
            if !is_first {
                return None;
            }
            self.code_type = header.object_type;
        }
        let name = text(&self.memory, layout, header.name)?;
        let file = text(&self.memory, layout, header.file)?;
        let table = table(&self.memory, header.table).unwrap_or_default();
        if self.codes.len() >= MAX_CODES {
            self.codes.clear();
        }
        let code = Code {
            function: tree.function(name, file),
            lines: Rc::new(Lines::decode(layout.table_form, header.first_line, &table)),
            checked: now,
            header,
        };
        self.codes.insert(address, code);
        Some(())
    }
}
