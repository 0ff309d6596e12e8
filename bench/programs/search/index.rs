//! Which words are where.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use crate::cache::Map;
use crate::codec::Codec;
use crate::corpus::Document;
use crate::token::tokens;

/// A document that has a word, and where in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Posting {
    pub document: u32,
    pub positions: Vec<u32>,
}

/// Things of which two make one.
pub trait Merge {
    fn merge(self, other: Self) -> Self;
}

impl<K: Ord, V: Merge> Merge for BTreeMap<K, V> {
    fn merge(mut self, other: Self) -> Self {
        for (k, v) in other {
            let v = match self.remove(&k) {
                Some(own) => own.merge(v),
                None => v,
            };
            self.insert(k, v);
        }
        self
    }
}

/// The postings of a word, encoded.
struct Postings<C> {
    bytes: Vec<u8>,
    codec: PhantomData<C>,
}

impl<C: Codec> Postings<C> {
    fn new(postings: &[Posting]) -> Self {
        // Column by column, so that what is alike is side by side.
        let mut flat = vec![postings.len() as u32];
        flat.extend(postings.iter().map(|p| p.document));
        flat.extend(postings.iter().map(|p| p.positions.len() as u32));
        flat.extend(postings.iter().flat_map(|p| &p.positions));
        Postings {
            bytes: C::encode(&flat),
            codec: PhantomData,
        }
    }

    fn decode(&self) -> Vec<Posting> {
        let flat = C::decode(&self.bytes);
        let (&n, rest) = flat.split_first().expect("postings without a number");
        let (documents, rest) = rest.split_at(n as usize);
        let (counts, positions) = rest.split_at(n as usize);
        let mut positions = positions.iter().copied();
        let posting = |(&document, &n)| Posting {
            document,
            positions: positions.by_ref().take(n as usize).collect(),
        };
        documents.iter().zip(counts).map(posting).collect()
    }
}

impl<C: Codec> Merge for Postings<C> {
    fn merge(self, other: Self) -> Self {
        let mut all = self.decode();
        all.extend(other.decode());
        all.sort_by_key(|p| p.document);
        Postings::new(&all)
    }
}

pub struct Index<C> {
    fresh: Map<String, Vec<Posting>>,
    postings: BTreeMap<String, Postings<C>>,
    lengths: BTreeMap<u32, u32>,
    links: BTreeMap<u32, Vec<u32>>,
}

impl<C: Codec> Index<C> {
    pub fn new() -> Self {
        Index {
            fresh: Map::default(),
            postings: BTreeMap::new(),
            lengths: BTreeMap::new(),
            links: BTreeMap::new(),
        }
    }

    pub fn add(&mut self, d: &Document) {
        let mut n = 0;
        for (at, word) in tokens(&d.title).chain(tokens(&d.text)).enumerate() {
            let list = self.fresh.entry(word).or_default();
            match list.last_mut() {
                Some(p) if p.document == d.id => p.positions.push(at as u32),
                _ => list.push(Posting {
                    document: d.id,
                    positions: vec![at as u32],
                }),
            }
            n = at as u32 + 1;
        }
        self.lengths.insert(d.id, n);
        self.links.insert(d.id, d.links.clone());
    }

    /// Encodes what was added.
    pub fn finish(&mut self) {
        for (word, list) in self.fresh.drain() {
            self.postings.insert(word, Postings::new(&list));
        }
    }

    pub fn find(&self, word: &str) -> Vec<Posting> {
        self.postings.get(word).map(Postings::decode).unwrap_or_default()
    }

    pub fn starting_with<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = &'a str> + 'a {
        self.postings
            .range(prefix.to_owned()..)
            .map(|(w, _)| w.as_str())
            .take_while(move |w| w.starts_with(prefix))
    }

    pub fn documents(&self) -> impl Iterator<Item = u32> + '_ {
        self.lengths.keys().copied()
    }

    pub fn document_length(&self, id: u32) -> f64 {
        f64::from(self.lengths[&id])
    }

    pub fn average_length(&self) -> f64 {
        self.lengths.values().map(|&n| f64::from(n)).sum::<f64>() / self.lengths.len().max(1) as f64
    }

    pub fn links(&self) -> &BTreeMap<u32, Vec<u32>> {
        &self.links
    }

    pub fn len(&self) -> usize {
        self.postings.len()
    }

    pub fn size(&self) -> usize {
        self.postings.values().map(|p| p.bytes.len()).sum()
    }

    pub fn terms(&self) -> impl Iterator<Item = &str> {
        self.postings.keys().map(String::as_str)
    }

    pub fn raw(&self, term: &str) -> &[u8] {
        &self.postings[term].bytes
    }
}

impl<C: Codec> Merge for Index<C> {
    fn merge(mut self, mut other: Self) -> Self {
        self.finish();
        other.finish();
        self.lengths.extend(other.lengths);
        self.links.extend(other.links);
        Index {
            fresh: Map::default(),
            postings: self.postings.merge(other.postings),
            lengths: self.lengths,
            links: self.links,
        }
    }
}
