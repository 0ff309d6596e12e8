//! Which documents come first.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BinaryHeap};

#[derive(PartialEq, Eq)]
struct Hit {
    id: u32,
    score: u64,
}

impl Ord for Hit {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.cmp(&other.score).then_with(|| other.id.cmp(&self.id))
    }
}

impl PartialOrd for Hit {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The hits with the best scores, the best first.
pub fn best(hits: impl Iterator<Item = (u32, u64)>, most: usize) -> Vec<(u32, u64)> {
    let mut heap = BinaryHeap::with_capacity(most + 1);
    for (id, score) in hits {
        heap.push(Reverse(Hit { id, score }));
        if heap.len() > most {
            heap.pop();
        }
    }
    heap.into_sorted_vec()
        .into_iter()
        .map(|Reverse(h)| (h.id, h.score))
        .collect()
}

/// The importance of each document by who links to it.
pub fn importance(links: &BTreeMap<u32, Vec<u32>>, rounds: usize) -> Vec<f64> {
    const DAMPING: f64 = 0.85;
    let n = links.len();
    let mut rank = vec![1.0 / n as f64; n];
    for _ in 0..rounds {
        let mut next = vec![(1.0 - DAMPING) / n as f64; n];
        let mut lost = 0.0;
        for (&from, to) in links {
            let own = rank[from as usize];
            if to.is_empty() {
                lost += own;
            }
            for &t in to {
                next[t as usize] += DAMPING * own / to.len() as f64;
            }
        }
        for r in &mut next {
            *r += DAMPING * lost / n as f64;
        }
        rank = next;
    }
    rank
}
