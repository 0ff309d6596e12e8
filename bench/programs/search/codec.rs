//! Lists of numbers to bytes and back. Decoding panics when bytes make no
//! sense: lists are written by the same program.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::marker::PhantomData;

pub trait Codec: Send + 'static {
    fn encode(values: &[u32]) -> Vec<u8>;
    fn decode(bytes: &[u8]) -> Vec<u32>;
}

/// Seven bits per byte, the lowest first.
pub struct Varint;

fn put_varint(out: &mut Vec<u8>, mut v: u32) {
    while v >= 0x80 {
        out.push(v as u8 | 0x80);
        v >>= 7;
    }
    out.push(v as u8);
}

fn get_varint(bytes: &mut &[u8]) -> u32 {
    let (mut v, mut shift) = (0u32, 0);
    loop {
        let (&b, rest) = bytes.split_first().expect("number ends early");
        *bytes = rest;
        assert!(shift < 32, "number too long: {shift} bits");
        v |= u32::from(b & 0x7f) << shift;
        if b < 0x80 {
            return v;
        }
        shift += 7;
    }
}

impl Codec for Varint {
    fn encode(values: &[u32]) -> Vec<u8> {
        let mut out = Vec::with_capacity(values.len() * 2);
        for &v in values {
            put_varint(&mut out, v);
        }
        out
    }

    fn decode(mut bytes: &[u8]) -> Vec<u32> {
        let mut out = Vec::new();
        while !bytes.is_empty() {
            out.push(get_varint(&mut bytes));
        }
        out
    }
}

/// Differences, which are small where numbers rise.
pub struct Delta<C>(PhantomData<C>);

impl<C: Codec> Codec for Delta<C> {
    fn encode(values: &[u32]) -> Vec<u8> {
        let mut last = 0u32;
        let differences: Vec<u32> = values
            .iter()
            .map(|&v| {
                let d = v.wrapping_sub(last) as i32;
                last = v;
                ((d << 1) ^ (d >> 31)) as u32
            })
            .collect();
        C::encode(&differences)
    }

    fn decode(bytes: &[u8]) -> Vec<u32> {
        let mut last = 0u32;
        C::decode(bytes)
            .into_iter()
            .map(|z| {
                last = last.wrapping_add((z >> 1) ^ (z & 1).wrapping_neg());
                last
            })
            .collect()
    }
}

/// The bytes of varints, each with a number of bits that fits its frequency.
pub struct Huffman;

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Tree {
    Leaf(u8),
    Fork(Box<Tree>, Box<Tree>),
}

const LONGEST: u8 = 32;

/// The lengths of the codes of all bytes; 0 of those that do not occur.
fn code_lengths(bytes: &[u8]) -> [u8; 256] {
    let mut counts = [0u64; 256];
    for &b in bytes {
        counts[usize::from(b)] += 1;
    }
    let mut heap: BinaryHeap<Reverse<(u64, u32, Tree)>> = BinaryHeap::new();
    for (b, &n) in counts.iter().enumerate().filter(|(_, &n)| n > 0) {
        heap.push(Reverse((n, b as u32, Tree::Leaf(b as u8))));
    }
    let mut number = 256;
    while heap.len() > 1 {
        let (Reverse(a), Reverse(b)) = (heap.pop().unwrap(), heap.pop().unwrap());
        heap.push(Reverse((a.0 + b.0, number, Tree::Fork(Box::new(a.2), Box::new(b.2)))));
        number += 1;
    }
    let mut lengths = [0; 256];
    fn walk(t: &Tree, depth: u8, lengths: &mut [u8; 256]) {
        match t {
            Tree::Leaf(b) => lengths[usize::from(*b)] = depth.max(1),
            Tree::Fork(l, r) => {
                walk(l, depth + 1, lengths);
                walk(r, depth + 1, lengths);
            }
        }
    }
    if let Some(Reverse((_, _, tree))) = heap.pop() {
        walk(&tree, 0, &mut lengths);
    }
    lengths
}

/// Canonical codes: in the order of lengths, then of bytes.
fn codes(lengths: &[u8; 256]) -> Vec<(u8, u8, u32)> {
    let mut used: Vec<(u8, u8)> = (0..=255u8)
        .filter(|&b| lengths[usize::from(b)] > 0)
        .map(|b| (lengths[usize::from(b)], b))
        .collect();
    used.sort_unstable();
    let mut code = 0u64;
    let mut last = 0;
    used.into_iter()
        .map(|(length, b)| {
            assert!(length <= LONGEST, "code too long: {length} bits");
            code <<= length - last;
            last = length;
            let this = code;
            code += 1;
            assert!(this >> length == 0, "too many codes: {this}");
            (length, b, this as u32)
        })
        .collect()
}

impl Codec for Huffman {
    fn encode(values: &[u32]) -> Vec<u8> {
        let bytes = Varint::encode(values);
        let lengths = code_lengths(&bytes);
        let table = codes(&lengths);
        let mut by_byte = [(0u8, 0u32); 256];
        let mut out = Vec::new();
        put_varint(&mut out, bytes.len() as u32);
        put_varint(&mut out, table.len() as u32);
        for &(length, b, code) in &table {
            by_byte[usize::from(b)] = (length, code);
            out.extend([length, b]);
        }
        let (mut bits, mut n) = (0u64, 0u32);
        for b in bytes {
            let (length, code) = by_byte[usize::from(b)];
            bits = bits << length | u64::from(code);
            n += u32::from(length);
            while n >= 8 {
                n -= 8;
                out.push((bits >> n) as u8);
            }
        }
        if n > 0 {
            out.push((bits << (8 - n)) as u8);
        }
        out
    }

    fn decode(mut bytes: &[u8]) -> Vec<u32> {
        let size = get_varint(&mut bytes) as usize;
        let count = get_varint(&mut bytes) as usize;
        assert!(count <= 256 && size <= bytes.len() * 8, "too large: {size}");
        let mut lengths = [0u8; 256];
        for _ in 0..count {
            let [length, b, rest @ ..] = bytes else {
                panic!("table ends early")
            };
            lengths[usize::from(*b)] = *length;
            bytes = rest;
        }
        let table = codes(&lengths);
        let mut out = Vec::with_capacity(size);
        let (mut code, mut length) = (0u32, 0u8);
        let mut bits = bytes
            .iter()
            .flat_map(|&b| (0..8).rev().map(move |i| u32::from(b >> i & 1)));
        while out.len() < size {
            code = code << 1 | bits.next().expect("bits end early");
            length += 1;
            assert!(length <= LONGEST, "no such code: {code:b}");
            if let Ok(at) = table.binary_search_by_key(&(length, code), |&(l, _, c)| (l, c)) {
                out.push(table[at].1);
                (code, length) = (0, 0);
            }
        }
        Varint::decode(&out)
    }
}
