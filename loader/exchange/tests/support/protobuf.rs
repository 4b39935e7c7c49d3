//! Decoder of Protocol Buffers.

use std::collections::BTreeMap;

/// Field of a Protocol Buffers message.
pub enum Field {
    Number(u64),
    Bytes(Vec<u8>),
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut number = 0;
    for shift in (0..).step_by(7) {
        let (byte, rest) = bytes.split_first().expect("a varint");
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            break;
        }
    }
    number
}

/// Parses a message as a list of fields per number.
pub fn message(mut bytes: &[u8]) -> BTreeMap<u64, Vec<Field>> {
    let mut fields: BTreeMap<u64, Vec<Field>> = BTreeMap::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let field = match key & 7 {
            0 => Field::Number(varint(&mut bytes)),
            2 => {
                let length = varint(&mut bytes) as usize;
                let (field, rest) = bytes.split_at(length);
                bytes = rest;
                Field::Bytes(field.to_vec())
            }
            other => panic!("wire type {other}"),
        };
        fields.entry(key >> 3).or_default().push(field);
    }
    fields
}

/// Returns the messages and texts with a field number.
pub fn parts(fields: &BTreeMap<u64, Vec<Field>>, field: u64) -> Vec<&[u8]> {
    let all = fields.get(&field).into_iter().flatten();
    all.map(|field| match field {
        Field::Bytes(bytes) => bytes.as_slice(),
        Field::Number(number) => panic!("{number} is not a message"),
    })
    .collect()
}

/// Returns the number with a field number.
pub fn number(fields: &BTreeMap<u64, Vec<Field>>, field: u64) -> usize {
    match fields.get(&field).and_then(|all| all.first()) {
        Some(Field::Number(number)) => *number as usize,
        Some(Field::Bytes(_)) | None => panic!("field {field} is not a number"),
    }
}

/// Parses packed numbers.
pub fn numbers(mut packed: &[u8]) -> Vec<usize> {
    let mut all = Vec::new();
    while !packed.is_empty() {
        all.push(varint(&mut packed) as usize);
    }
    all
}
