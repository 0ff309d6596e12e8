//! Queries: a language, and what it asks of an index.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::iter::Peekable;
use std::str::{Chars, FromStr};

use crate::codec::Codec;
use crate::index::{Index, Posting};
use crate::token::{fold, stem};

#[derive(Debug)]
pub enum Query {
    Word(String),
    Prefix(String),
    Phrase(Vec<String>),
    And(Box<Query>, Box<Query>),
    Or(Box<Query>, Box<Query>),
    Not(Box<Query>),
    Boost(Box<Query>, f64),
}

#[derive(Debug, PartialEq)]
pub enum QueryError {
    Ends,
    Unexpected(String),
    Open(char),
    Number(std::num::ParseIntError),
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QueryError::Ends => write!(f, "the query ends early"),
            QueryError::Unexpected(s) => write!(f, "{s} is unexpected"),
            QueryError::Open(c) => write!(f, "{c} is not closed"),
            QueryError::Number(e) => write!(f, "no number: {e}"),
        }
    }
}

impl Error for QueryError {}

impl From<std::num::ParseIntError> for QueryError {
    fn from(e: std::num::ParseIntError) -> Self {
        QueryError::Number(e)
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Word(String),
    Phrase(String),
    Open,
    Close,
    Star,
    Boost(u32),
}

struct Lexer<'a> {
    chars: Peekable<Chars<'a>>,
}

impl Lexer<'_> {
    fn take_while(&mut self, accept: impl Fn(char) -> bool) -> String {
        let mut s = String::new();
        while let Some(c) = self.chars.next_if(|&c| accept(c)) {
            s.push(c);
        }
        s
    }
}

impl Iterator for Lexer<'_> {
    type Item = Result<Token, QueryError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.take_while(char::is_whitespace);
        let c = *self.chars.peek()?;
        if c.is_alphanumeric() {
            return Some(Ok(Token::Word(self.take_while(char::is_alphanumeric))));
        }
        self.chars.next();
        Some(match c {
            '(' => Ok(Token::Open),
            ')' => Ok(Token::Close),
            '*' => Ok(Token::Star),
            '"' => {
                let s = self.take_while(|c| c != '"');
                self.chars.next().map(|_| Token::Phrase(s)).ok_or(QueryError::Open('"'))
            }
            '^' => self
                .take_while(|c| c.is_ascii_digit())
                .parse()
                .map(Token::Boost)
                .map_err(QueryError::from),
            c => Err(QueryError::Unexpected(c.to_string())),
        })
    }
}

struct Parser {
    tokens: Peekable<std::vec::IntoIter<Token>>,
}

impl Parser {
    fn accept_word(&mut self, word: &str) -> bool {
        self.tokens
            .next_if(|t| matches!(t, Token::Word(w) if w == word))
            .is_some()
    }

    fn any(&mut self) -> Result<Query, QueryError> {
        let mut left = self.all()?;
        while self.accept_word("OR") {
            left = Query::Or(Box::new(left), Box::new(self.all()?));
        }
        Ok(left)
    }

    fn all(&mut self) -> Result<Query, QueryError> {
        let mut left = self.boosted()?;
        while self.accept_word("AND") {
            left = Query::And(Box::new(left), Box::new(self.boosted()?));
        }
        Ok(left)
    }

    fn boosted(&mut self) -> Result<Query, QueryError> {
        let q = self.single()?;
        Ok(match self.tokens.next_if(|t| matches!(t, Token::Boost(_))) {
            Some(Token::Boost(n)) => Query::Boost(Box::new(q), f64::from(n)),
            _ => q,
        })
    }

    fn single(&mut self) -> Result<Query, QueryError> {
        if self.accept_word("NOT") {
            return Ok(Query::Not(Box::new(self.boosted()?)));
        }
        match self.tokens.next().ok_or(QueryError::Ends)? {
            Token::Word(w) if w == "AND" || w == "OR" => Err(QueryError::Unexpected(w)),
            Token::Word(w) if self.tokens.next_if_eq(&Token::Star).is_some() => Ok(Query::Prefix(fold(&w))),
            Token::Word(w) => Ok(Query::Word(stem(&fold(&w)))),
            Token::Phrase(s) => Ok(Query::Phrase(crate::token::tokens(&s).collect())),
            Token::Open => {
                let q = self.any()?;
                match self.tokens.next() {
                    Some(Token::Close) => Ok(q),
                    Some(t) => Err(QueryError::Unexpected(format!("{t:?}"))),
                    None => Err(QueryError::Open('(')),
                }
            }
            t => Err(QueryError::Unexpected(format!("{t:?}"))),
        }
    }
}

impl FromStr for Query {
    type Err = QueryError;

    fn from_str(s: &str) -> Result<Self, QueryError> {
        let tokens = Lexer {
            chars: s.chars().peekable(),
        }
        .collect::<Result<Vec<_>, _>>()?;
        let mut p = Parser {
            tokens: tokens.into_iter().peekable(),
        };
        let q = p.any()?;
        match p.tokens.next() {
            None => Ok(q),
            Some(t) => Err(QueryError::Unexpected(format!("{t:?}"))),
        }
    }
}

/// How much an occurrence is worth.
trait Scorer {
    fn score(&self, occurrences: usize, length: f64) -> f64;
}

struct Bm25 {
    rarity: f64,
    average: f64,
}

impl Scorer for Bm25 {
    fn score(&self, occurrences: usize, length: f64) -> f64 {
        const K: f64 = 1.2;
        const B: f64 = 0.75;
        let n = occurrences as f64;
        self.rarity * n * (K + 1.0) / (n + K * (1.0 - B + B * length / self.average))
    }
}

/// For what matches too many words to be weighed.
struct Constant(f64);

impl Scorer for Constant {
    fn score(&self, _: usize, _: f64) -> f64 {
        self.0
    }
}

type Scores = BTreeMap<u32, f64>;

impl Query {
    /// The documents that match, with their scores.
    pub fn run<C: Codec>(&self, index: &Index<C>) -> Scores {
        match self {
            Query::Word(w) => score(index, &index.find(w), None),
            Query::Prefix(p) => {
                let words: Vec<String> = index.starting_with(p).map(str::to_owned).collect();
                words.iter().take(40).fold(Scores::new(), |all, w| {
                    union(all, score(index, &index.find(w), Some(&Constant(0.5))))
                })
            }
            Query::Phrase(words) => score(index, &phrase(index, words), None),
            Query::And(a, b) => match (a.as_ref(), b.as_ref()) {
                (a, Query::Not(b)) | (Query::Not(b), a) => {
                    let without = b.run(index);
                    a.run(index)
                        .into_iter()
                        .filter(|(id, _)| !without.contains_key(id))
                        .collect()
                }
                (a, b) => {
                    let right = b.run(index);
                    a.run(index)
                        .into_iter()
                        .filter_map(|(id, s)| right.get(&id).map(|t| (id, s + t)))
                        .collect()
                }
            },
            Query::Or(a, b) => union(a.run(index), b.run(index)),
            Query::Not(q) => {
                let without = q.run(index);
                index
                    .documents()
                    .filter(|id| !without.contains_key(id))
                    .map(|id| (id, 0.1))
                    .collect()
            }
            Query::Boost(q, by) => q.run(index).into_iter().map(|(id, s)| (id, s * by)).collect(),
        }
    }
}

fn union(mut a: Scores, b: Scores) -> Scores {
    for (id, s) in b {
        *a.entry(id).or_insert(0.0) += s;
    }
    a
}

fn score<C: Codec>(index: &Index<C>, postings: &[Posting], scorer: Option<&dyn Scorer>) -> Scores {
    let n = index.documents().count() as f64;
    let df = postings.len() as f64;
    let usual = Bm25 {
        rarity: (1.0 + (n - df + 0.5) / (df + 0.5)).ln(),
        average: index.average_length(),
    };
    let scorer = scorer.unwrap_or(&usual);
    postings
        .iter()
        .map(|p| {
            (
                p.document,
                scorer.score(p.positions.len(), index.document_length(p.document)),
            )
        })
        .collect()
}

/// Where words follow each other.
fn phrase<C: Codec>(index: &Index<C>, words: &[String]) -> Vec<Posting> {
    let mut lists = words.iter().map(|w| index.find(w));
    let Some(mut found) = lists.next() else {
        return Vec::new();
    };
    for (distance, list) in (1..).zip(lists) {
        found.retain_mut(|p| match list.binary_search_by_key(&p.document, |q| q.document) {
            Ok(at) => {
                p.positions
                    .retain(|&x| list[at].positions.binary_search(&(x + distance)).is_ok());
                !p.positions.is_empty()
            }
            Err(_) => false,
        });
    }
    found
}
