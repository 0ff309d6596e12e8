//! Documents and queries, made up and always the same.

/// A generator of numbers.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// Small numbers are likelier: of words, a few are much used.
    pub fn skewed(&mut self, n: usize) -> usize {
        let a = (self.next() >> 40) as u128;
        ((a * a * a * n as u128) >> 72) as usize
    }
}

#[derive(Clone, Debug)]
pub struct Document {
    pub id: u32,
    pub title: String,
    pub text: String,
    pub links: Vec<u32>,
}

const SYLLABLES: [&str; 24] = [
    "ba", "do", "ke", "li", "mu", "ra", "so", "ti", "ver", "gan", "plo", "stri", "né", "ö", "quo", "za", "chi", "fe",
    "nu", "wol", "der", "ing", "an", "te",
];
const WORDS: usize = 4000;

/// The word of a rank: the more common, the shorter.
pub fn word(rank: usize) -> String {
    let mut n = rank + 3;
    let mut s = String::new();
    while n > 0 {
        s.push_str(SYLLABLES[n % SYLLABLES.len()]);
        n /= SYLLABLES.len();
    }
    s
}

fn sentence(random: &mut Random, out: &mut String) {
    let n = 4 + random.below(12);
    for i in 0..n {
        let w = word(random.skewed(WORDS));
        match (i, random.below(30)) {
            (0, _) => {
                let mut letters = w.chars();
                out.extend(letters.next().into_iter().flat_map(char::to_uppercase));
                out.push_str(letters.as_str());
            }
            (_, 0) => out.push_str(&w.to_uppercase()),
            (_, 1) => {
                out.push_str(&random.below(2000).to_string());
            }
            _ => out.push_str(&w),
        }
        out.push_str(if i + 1 == n {
            ". "
        } else if random.below(9) == 0 {
            ", "
        } else {
            " "
        });
    }
}

pub fn documents(n: usize) -> Vec<Document> {
    let mut random = Random::new(1);
    (0..n)
        .map(|id| {
            let title = format!("{} {}", word(random.below(WORDS)), word(random.below(WORDS)));
            let mut text = String::new();
            for _ in 0..3 + random.below(10) {
                sentence(&mut random, &mut text);
            }
            let links = (0..random.below(6)).map(|_| random.skewed(n) as u32).collect();
            Document {
                id: id as u32,
                title,
                text,
                links,
            }
        })
        .collect()
}

/// A query; some make no sense.
pub fn query(random: &mut Random) -> String {
    let mut w = || word(random.skewed(600));
    let (a, b, c) = (w(), w(), w());
    match random.below(12) {
        0 => format!("{a} AND ({b} OR {c})"),
        1 => format!("\"{a} {b}\""),
        2 => format!("{a} AND NOT {b}"),
        3 => format!("{}*", a.chars().take(2).collect::<String>()),
        4 => format!("({a} OR"),
        5 => format!("\"{a}"),
        6 => format!("{a} NEAR {b}"),
        7 => format!("({a} OR {b} OR {c}) AND NOT ({a} AND {b})"),
        8 => format!("{a}^3 OR {b}"),
        _ => format!("{a} OR {b}"),
    }
}
