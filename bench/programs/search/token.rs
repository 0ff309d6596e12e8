//! Text to words.

/// Iterates over the words of a text, folded and stemmed.
pub struct Tokens<'a> {
    rest: &'a str,
}

pub fn tokens(text: &str) -> Tokens<'_> {
    Tokens { rest: text }
}

impl Iterator for Tokens<'_> {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        let start = self.rest.find(char::is_alphanumeric)?;
        let word = &self.rest[start..];
        let end = word.find(|c: char| !c.is_alphanumeric()).unwrap_or(word.len());
        self.rest = &word[end..];
        Some(stem(&fold(&word[..end])))
    }
}

/// Lower case without marks.
pub fn fold(word: &str) -> String {
    word.chars()
        .flat_map(char::to_lowercase)
        .map(|c| match c {
            'é' | 'è' | 'ê' => 'e',
            'ö' | 'ó' | 'ô' => 'o',
            'ä' | 'á' | 'à' => 'a',
            'ü' | 'ú' => 'u',
            c => c,
        })
        .collect()
}

/// Takes endings off words that are long enough.
pub fn stem(word: &str) -> String {
    const ENDINGS: [(&str, &str); 5] = [
        ("ingan", "ing"),
        ("derte", "der"),
        ("tete", "te"),
        ("anan", "an"),
        ("soso", "so"),
    ];
    if word.len() < 7 || word.bytes().all(|b| b.is_ascii_digit()) {
        return word.to_owned();
    }
    ENDINGS
        .iter()
        .find_map(|(ending, with)| word.strip_suffix(ending).map(|s| s.to_owned() + with))
        .unwrap_or_else(|| word.to_owned())
}
