//! Plain text, cut to size.

use crate::web::filter::placeholder;

/// As much of a text as may be given out: whole lines, or whole words of the first.
pub(in crate::web::filter) fn cut(text: &str, max_size: usize) -> (String, bool) {
    if text.len() <= max_size {
        return (text.to_owned(), false);
    }
    let begin = text.get(..text.floor_char_boundary(max_size)).unwrap_or_default();
    let end = match begin.rfind('\n') {
        Some(at) => at + 1,
        None => words(text, max_size),
    };
    (text.get(..end).unwrap_or_default().to_owned(), true)
}

/// Where a text of one line ends that has no more room: behind a word that is whole, if there is one.
pub(in crate::web::filter) fn words(text: &str, room: usize) -> usize {
    let end = text.floor_char_boundary(room.min(text.len()));
    if end == text.len() {
        return end;
    }
    let begin = text.get(..end).unwrap_or_default();
    placeholder::cut(text, begin.rfind([' ', '\n', '\r']).filter(|at| 0 < *at).unwrap_or(end))
}
