//! What was asked for last.

use std::collections::hash_map::DefaultHasher;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash};

/// A map without random numbers in it: every run does the same.
pub type Map<K, V> = HashMap<K, V, BuildHasherDefault<DefaultHasher>>;

/// Keeps the values that were used last: a map of places in a doubly linked
/// list that lives in a vector.
pub struct Cache<K, V> {
    places: Map<K, usize>,
    entries: Vec<Entry<K, V>>,
    newest: usize,
    oldest: usize,
    capacity: usize,
}

struct Entry<K, V> {
    key: K,
    value: V,
    newer: usize,
    older: usize,
}

const NONE: usize = usize::MAX;

impl<K: Hash + Eq + Clone, V> Cache<K, V> {
    pub fn new(capacity: usize) -> Self {
        assert!(capacity > 0);
        Cache {
            places: Map::default(),
            entries: Vec::new(),
            newest: NONE,
            oldest: NONE,
            capacity,
        }
    }

    pub fn get(&mut self, key: &K) -> Option<&V> {
        let at = *self.places.get(key)?;
        self.unlink(at);
        self.link(at);
        Some(&self.entries[at].value)
    }

    pub fn put(&mut self, key: K, value: V) {
        if let Some(&at) = self.places.get(&key) {
            self.entries[at].value = value;
            self.unlink(at);
            self.link(at);
            return;
        }
        let at = if self.entries.len() < self.capacity {
            self.entries.push(Entry {
                key: key.clone(),
                value,
                newer: NONE,
                older: NONE,
            });
            self.entries.len() - 1
        } else {
            let at = self.oldest;
            self.unlink(at);
            self.places.remove(&self.entries[at].key);
            self.entries[at].key = key.clone();
            self.entries[at].value = value;
            at
        };
        self.places.insert(key, at);
        self.link(at);
    }

    fn unlink(&mut self, at: usize) {
        let (newer, older) = (self.entries[at].newer, self.entries[at].older);
        match newer {
            NONE => self.newest = older,
            n => self.entries[n].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            o => self.entries[o].newer = newer,
        }
    }

    fn link(&mut self, at: usize) {
        self.entries[at].newer = NONE;
        self.entries[at].older = self.newest;
        match self.newest {
            NONE => self.oldest = at,
            n => self.entries[n].newer = at,
        }
        self.newest = at;
    }
}
