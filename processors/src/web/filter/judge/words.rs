//! The small words that prose is made of, and code is not.

/// Whether a word, in any case, is one that sentences cannot do without.
pub(super) fn is_small(word: &str) -> bool {
    // SQL shouts what prose says quietly.
    if 1 < word.len() && word.bytes().all(|byte| byte.is_ascii_uppercase()) {
        return false;
    }
    let mut lower = [0_u8; 8];
    let Some(lower) = lower.get_mut(..word.len()) else { return false };
    lower.copy_from_slice(word.as_bytes());
    lower.make_ascii_lowercase();
    matches!(
        &*lower,
        b"a" | b"an" | b"the" | b"of" | b"to" | b"and" | b"or" | b"is" | b"are" | b"was" | b"were"
            | b"be" | b"been" | b"being" | b"it" | b"its" | b"this" | b"that" | b"these" | b"those"
            | b"with" | b"for" | b"from" | b"by" | b"on" | b"at" | b"as" | b"but" | b"not" | b"you"
            | b"your" | b"we" | b"our" | b"they" | b"their" | b"them" | b"he" | b"she" | b"his"
            | b"her" | b"i" | b"my" | b"me" | b"can" | b"could" | b"will" | b"would" | b"should"
            | b"may" | b"might" | b"must" | b"shall" | b"have" | b"has" | b"had" | b"does" | b"did"
            | b"which" | b"who" | b"what" | b"when" | b"where" | b"how" | b"why" | b"there" | b"then"
            | b"than" | b"so" | b"such" | b"also" | b"only" | b"all" | b"any" | b"some" | b"each"
            | b"into" | b"about" | b"in" | b"if" | b"do" | b"no" | b"more" | b"most" | b"other"
            | b"using" | b"used" | b"because" | b"after" | b"before" | b"between" | b"see" | b"get"
            // German, French, Spanish, Italian, Portuguese, Dutch.
            | b"der" | b"die" | b"das" | b"und" | b"ist" | b"nicht" | b"ein" | b"eine" | b"mit"
            | b"den" | b"von" | b"zu" | b"auf" | b"le" | b"la" | b"les" | b"des" | b"et" | b"est"
            | b"une" | b"un" | b"dans" | b"pour" | b"que" | b"qui" | b"sur" | b"el" | b"los" | b"las"
            | b"es" | b"por" | b"para" | b"con" | b"una" | b"del" | b"il" | b"che" | b"di" | b"per"
            | b"non" | b"het" | b"een" | b"van" | b"niet" | b"op" | b"de" | b"en" | b"em" | b"um"
            | b"uma" | b"du"
    )
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
