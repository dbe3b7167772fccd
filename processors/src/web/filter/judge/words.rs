//! The small words that prose is made of, and code is not.

/// The longest of them.
const MAX_BYTES: usize = 8;

const WORDS: [&str; 143] = [
    "a", "an", "the", "of", "to", "and", "or", "is", "are", "was", "were", "be", "been", "being",
    "it", "its", "this", "that", "these", "those", "with", "for", "from", "by", "on", "at", "as",
    "but", "not", "you", "your", "we", "our", "they", "their", "them", "he", "she", "his", "her",
    "i", "my", "me", "can", "could", "will", "would", "should", "may", "might", "must", "shall",
    "have", "has", "had", "does", "did", "which", "who", "what", "when", "where", "how", "why",
    "there", "then", "than", "so", "such", "also", "only", "all", "any", "some", "each", "into",
    "about", "in", "if", "do", "no", "more", "most", "other", "using", "used", "because", "after",
    "before", "between", "see", "get",
    // German, French, Spanish, Italian, Portuguese, Dutch.
    "der", "die", "das", "und", "ist", "nicht", "ein", "eine", "mit", "den", "von", "zu", "auf",
    "le", "la", "les", "des", "et", "est", "une", "un", "dans", "pour", "que", "qui", "sur", "el",
    "los", "las", "es", "por", "para", "con", "una", "del", "il", "che", "di", "per", "non", "het",
    "een", "van", "niet", "op", "de", "en", "em", "um", "uma", "du",
];

/// They as numbers, in order: every word of a page is looked up here.
static SMALL: Packed<{ WORDS.len() }> = Packed::of(WORDS);

/// Words of at most eight bytes as numbers, in order.
pub(super) struct Packed<const N: usize>([u64; N]);

impl<const N: usize> Packed<N> {
    pub(super) const fn of(words: [&str; N]) -> Self {
        let mut sorted = [0; N];
        let mut n = 0;
        while n < N {
            let word = packed(words[n].as_bytes());
            let mut at = n;
            while at > 0 && sorted[at - 1] > word {
                sorted[at] = sorted[at - 1];
                at -= 1;
            }
            sorted[at] = word;
            n += 1;
        }
        Self(sorted)
    }

    /// Whether a word is among them. None if it is too long to be one.
    pub(super) fn has(&self, word: &str) -> Option<bool> {
        (word.len() <= MAX_BYTES).then(|| self.0.binary_search(&packed(word.as_bytes())).is_ok())
    }
}

/// A word of at most eight bytes as a number, in lower case.
const fn packed(word: &[u8]) -> u64 {
    let (mut packed, mut at) = (0, 0);
    while at < MAX_BYTES {
        packed <<= 8;
        if at < word.len() {
            packed |= word[at].to_ascii_lowercase() as u64;
        }
        at += 1;
    }
    packed
}

/// Whether a word, in any case, is one that sentences cannot do without.
pub(super) fn is_small(word: &str) -> bool {
    // SQL shouts what prose says quietly.
    if 1 < word.len() && word.bytes().all(|byte| byte.is_ascii_uppercase()) {
        return false;
    }
    !word.ends_with('\0') && SMALL.has(word) == Some(true)
}

/// Whether a text is prose, whatever it is set in.
pub(in crate::web::filter) fn reads_as_prose(text: &str) -> bool {
    const ENOUGH_WORDS: usize = 8;
    let (mut n_words, mut n_small, mut n_marks, mut n_chars) = (0_usize, 0_usize, 0_usize, 0_usize);
    for word in text.split_whitespace().take(2000) {
        let bare = word.trim_matches(|c: char| c.is_ascii_punctuation());
        n_words += 1;
        n_small += usize::from(is_small(bare));
        n_chars += word.len();
        n_marks += word.bytes().filter(|byte| b"{}();=<>[]$\\|&_*#".contains(byte)).count();
    }
    ENOUGH_WORDS <= n_words
        && n_words < n_small.saturating_mul(5)
        && n_marks.saturating_mul(25) < n_chars
}
