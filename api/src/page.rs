//! Cursors of lists: opaque, signed, the same on every instance. A cursor holds the place after
//! which a list goes on, and fits only the list and the filter it was made for.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use subtle::ConstantTimeEq;

use crate::problem::{Problem, table::BAD_CURSOR};

/// Bytes of the place.
const PLACE: usize = 8;
/// Bytes of the signature.
const MARK: usize = 16;

/// Makes and reads cursors.
pub struct Cursors {
    key: [u8; 32],
}

impl std::fmt::Debug for Cursors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Cursors")
    }
}

impl Cursors {
    /// With a key derived from the secret that all instances share.
    pub fn new(secret: &[u8; 32]) -> Self {
        Self { key: blake3::derive_key("weir api cursors v1", secret) }
    }

    /// A cursor into a list, after a place.
    pub fn make(&self, list: &str, filter: &str, place: i64) -> String {
        let place = place.to_be_bytes();
        let mut bytes = place.to_vec();
        bytes.extend_from_slice(&self.mark(list, filter, place));
        BASE64_URL_SAFE_NO_PAD.encode(bytes)
    }

    /// The place a cursor stands for, if it was made for this list and filter.
    pub fn read(&self, list: &str, filter: &str, cursor: &str) -> Result<i64, Problem> {
        let foreign = || Problem::new(&BAD_CURSOR, "this cursor was not made here for this list");
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(cursor).map_err(|_| foreign())?;
        let (place, mark) = bytes.split_first_chunk::<PLACE>().ok_or_else(foreign)?;
        let fits = mark.ct_eq(&self.mark(list, filter, *place));
        if bool::from(fits) { Ok(i64::from_be_bytes(*place)) } else { Err(foreign()) }
    }

    fn mark(&self, list: &str, filter: &str, place: [u8; PLACE]) -> [u8; MARK] {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        for part in [list.as_bytes(), filter.as_bytes(), &place] {
            hasher.update(&(part.len() as u64).to_be_bytes()).update(part);
        }
        let mut mark = [0; MARK];
        hasher.finalize_xof().fill(&mut mark);
        mark
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_reads_back_on_any_instance_with_the_same_secret() {
        let (here, there) = (Cursors::new(&[7; 32]), Cursors::new(&[7; 32]));
        for place in [0, 1, 42, i64::MAX, -1] {
            let cursor = here.make("blocks", "package=six", place);
            assert_eq!(there.read("blocks", "package=six", &cursor).unwrap(), place);
        }
    }

    #[test]
    fn a_cursor_fits_its_own_list_and_filter_and_nothing_else() {
        let cursors = Cursors::new(&[7; 32]);
        let cursor = cursors.make("blocks", "six", 42);
        let mut forged = BASE64_URL_SAFE_NO_PAD.decode(&cursor).unwrap();
        forged[PLACE - 1] ^= 1;
        let forged = BASE64_URL_SAFE_NO_PAD.encode(forged);
        for (list, filter, cursor) in [
            ("tokens", "six", cursor.as_str()),
            ("blocks", "seven", &cursor),
            ("block", "ssix", &cursor),
            ("blocks", "six", &forged),
            ("blocks", "six", &cursor[..20]),
            ("blocks", "six", ""),
            ("blocks", "six", "%"),
        ] {
            let refused = cursors.read(list, filter, cursor).unwrap_err();
            assert_eq!(refused.kind().code, "bad_cursor", "{list} {filter} {cursor}");
        }
        let other = Cursors::new(&[8; 32]);
        assert!(other.read("blocks", "six", &cursor).is_err());
    }

    #[test]
    fn the_key_is_not_printed() {
        assert_eq!(format!("{:?}", Cursors::new(&[7; 32])), "Cursors");
    }
}
