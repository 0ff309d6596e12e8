//! A search engine in memory, and a workload for it.
//!
//!     search [--quick | --brief]
//!
//! Documents are made up, indexed in several threads, searched and damaged.
//! Takes some seconds or, with --brief and --quick, a third and some hundredths
//! of one, and prints a checksum of everything that was found.

mod cache;
mod codec;
mod corpus;
mod index;
mod pool;
mod query;
mod rank;
mod token;

use std::panic::{self, AssertUnwindSafe};

use cache::Cache;
use codec::{Codec, Delta, Huffman, Varint};
use index::{Index, Merge};
use query::Query;

/// Sums up what is seen, in order.
#[derive(Default)]
struct Checksum(u64);

impl Checksum {
    fn add(&mut self, bytes: &[u8]) {
        for &b in bytes {
            self.0 = (self.0 ^ u64::from(b))
                .wrapping_mul(0x0000_0100_0000_01b3)
                .rotate_left(5);
        }
    }

    fn add_number(&mut self, n: u64) {
        self.add(&n.to_le_bytes());
    }
}

struct Scale {
    documents: usize,
    queries: usize,
    damages: usize,
}

fn build<C: Codec>(documents: &[corpus::Document]) -> Index<C> {
    let parts: Vec<Vec<corpus::Document>> = documents
        .chunks(documents.len().div_ceil(4))
        .map(<[_]>::to_vec)
        .collect();
    let built = pool::map(3, parts, |part| {
        let mut index = Index::<C>::new();
        for d in &part {
            index.add(d);
        }
        index.finish();
        index
    });
    built.into_iter().reduce(Merge::merge).expect("at least one part")
}

/// Searches, with what was found for equal queries remembered.
fn search<C: Codec>(index: &Index<C>, scale: &Scale, sum: &mut Checksum) -> (usize, usize) {
    let mut cache: Cache<String, Vec<(u32, u64)>> = Cache::new(200);
    let mut random = corpus::Random::new(5);
    let (mut found, mut refused) = (0, 0);
    let importance = rank::importance(index.links(), 20);
    for _ in 0..scale.queries {
        let text = corpus::query(&mut random);
        if let Some(hits) = cache.get(&text) {
            found += hits.len();
            continue;
        }
        let query: Query = match text.parse() {
            Ok(q) => q,
            Err(e) => {
                refused += 1;
                sum.add(e.to_string().as_bytes());
                continue;
            }
        };
        let hits: Vec<(u32, u64)> = rank::best(
            query.run(index).into_iter().map(|(id, score)| {
                let score = score * (1.0 + importance[id as usize]);
                // Six digits are the same whatever the compiler does.
                (id, (score * 1e6).round() as u64)
            }),
            10,
        );
        for &(id, score) in &hits {
            sum.add_number(u64::from(id));
            sum.add_number(score);
        }
        found += hits.len();
        cache.put(text, hits);
    }
    (found, refused)
}

/// Flips bits in postings: decoding may panic, and is to go on after that.
fn damage<C: Codec>(index: &mut Index<C>, scale: &Scale, sum: &mut Checksum) -> usize {
    let mut random = corpus::Random::new(77);
    let terms: Vec<String> = index.terms().map(str::to_owned).collect();
    let mut panics = 0;
    for _ in 0..scale.damages {
        let term = &terms[random.below(terms.len())];
        let mut bytes = index.raw(term).to_vec();
        let at = random.below(bytes.len());
        bytes[at] ^= 1 << random.below(8);
        let decoded = panic::catch_unwind(AssertUnwindSafe(|| C::decode(&bytes)));
        match decoded {
            Ok(values) => sum.add_number(
                values
                    .iter()
                    .fold(0, |a, &v| a.wrapping_mul(31).wrapping_add(u64::from(v))),
            ),
            Err(cause) => {
                panics += 1;
                let text = cause.downcast_ref::<String>().cloned();
                let text = text.or_else(|| cause.downcast_ref::<&str>().map(|s| s.to_string()));
                sum.add(text.unwrap_or_default().split(':').next().unwrap_or("").as_bytes());
            }
        }
    }
    panics
}

fn work<C: Codec>(name: &str, documents: &[corpus::Document], scale: &Scale, sum: &mut Checksum) {
    let mut index: Index<C> = build(documents);
    let (found, refused) = search(&index, scale, sum);
    let panics = damage(&mut index, scale, sum);
    println!(
        "{name}: {} terms in {} bytes, {found} found, {refused} refused, {panics} panics",
        index.len(),
        index.size()
    );
}

fn main() {
    let asked = |name: &str| std::env::args().any(|a| a == name);
    let scale = if asked("--quick") {
        Scale {
            documents: 120,
            queries: 80,
            damages: 60,
        }
    } else if asked("--brief") {
        Scale {
            documents: 600,
            queries: 200,
            damages: 400,
        }
    } else {
        Scale {
            documents: 4000,
            queries: 900,
            damages: 4000,
        }
    };
    panic::set_hook(Box::new(|_| {}));
    let documents = corpus::documents(scale.documents);
    let mut sum = Checksum::default();
    work::<Varint>("varint", &documents, &scale, &mut sum);
    work::<Delta<Varint>>("delta", &documents, &scale, &mut sum);
    work::<Delta<Huffman>>("huffman", &documents, &scale, &mut sum);
    println!("checksum {:016x}", sum.0);
}
