// Exercises rustc: generics, trait objects, closures, pattern matching, a
// function that never runs and one that panics into catch_unwind-free code.
use std::collections::BTreeMap;

trait Rule {
    fn fee(&self, amount: u64) -> u64;
}

struct Flat(u64);
struct Percent {
    rate: u64,
    floor: u64,
}

impl Rule for Flat {
    fn fee(&self, _amount: u64) -> u64 {
        self.0
    }
}

impl Rule for Percent {
    fn fee(&self, amount: u64) -> u64 {
        (amount * self.rate / 100).max(self.floor)
    }
}

enum Entry {
    Deposit { to: u32, amount: u64 },
    Move { from: u32, to: u32, amount: u64 },
    Close(u32),
}

struct Random(u64);

impl Random {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1);
        (self.0 >> 33) % below
    }
}

#[inline(never)]
fn apply(book: &mut BTreeMap<u32, u64>, rules: &[&dyn Rule], e: Entry) -> Result<u64, u32> {
    match e {
        Entry::Deposit { to, amount } => {
            *book.entry(to).or_insert(0) += amount;
            Ok(0)
        }
        Entry::Move { from, to, amount } => {
            let fee = rules[(from % rules.len() as u32) as usize].fee(amount);
            let have = book.get_mut(&from).ok_or(from)?;
            if *have < amount + fee {
                return Err(from);
            }
            *have -= amount + fee;
            *book.entry(to).or_insert(0) += amount;
            Ok(fee)
        }
        Entry::Close(who) => book.remove(&who).map(|_| 0).ok_or(who),
    }
}

fn largest<T: Copy + PartialOrd>(items: impl Iterator<Item = T>) -> Option<T> {
    items.fold(None, |best, x| match best {
        Some(b) if b > x => Some(b),
        _ => Some(x),
    })
}

pub fn audit(book: &BTreeMap<u32, u64>) -> bool {
    book.values().all(|v| *v > 0 && *v < u64::MAX / 2)
}

fn main() {
    let rounds: u64 = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(100);
    let (flat, percent) = (Flat(2), Percent { rate: 3, floor: 1 });
    let rules: [&dyn Rule; 3] = [&flat, &percent, &flat];
    let mut random = Random(42);
    let mut book = BTreeMap::new();
    let (mut fees, mut refused) = (0, 0);
    for i in 0..rounds {
        let to = random.next(20) as u32;
        let amount = 1 + random.next(90);
        let e = match i % 7 {
            0 | 1 | 2 => Entry::Deposit { to, amount },
            3 | 4 | 5 => Entry::Move { from: random.next(20) as u32, to, amount },
            _ => Entry::Close(to),
        };
        match apply(&mut book, &rules, e) {
            Ok(fee) => fees += fee,
            Err(_) => refused += 1,
        }
    }
    println!("{} {} {:?}", fees, refused, largest(book.values().copied()));
}
