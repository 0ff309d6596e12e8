use std::collections::BTreeMap;

/// Counts how often each word stands in a text.
fn count(text: &str) -> BTreeMap<&str, u32> {
    let mut counts = BTreeMap::new();
    for word in text.split_whitespace() {
        *counts.entry(word).or_insert(0) += 1;
    }
    counts
}

fn main() {
    let path = std::env::args().nth(1).expect("usage: app FILE");
    let text = std::fs::read_to_string(path).expect("a text");
    for (word, n) in count(&text) {
        println!("{n} {word}");
    }
}

#[test]
fn counts_words() {
    assert_eq!(count("a b a")["a"], 2);
}
