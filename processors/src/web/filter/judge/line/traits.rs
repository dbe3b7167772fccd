//! What a word may be by the bytes in it: most of what is asked of words is asked of few.

pub(super) const SYMBOL: u8 = 1;
pub(super) const COLON: u8 = 2;
pub(super) const AT: u8 = 4;
pub(super) const OPENING: u8 = 8;
/// Names of programs have one of these, and operators of two signs that are no symbols: `::`, `->`, `!=`.
pub(super) const NAME: u8 = 16;
/// It is not of ASCII.
pub(super) const FOREIGN: u8 = 32;

pub(super) const OF_BYTE: [u8; 256] = {
    let mut all = [0; 256];
    let mut byte = 0_u8;
    loop {
        let mut traits = 0;
        if byte.is_ascii() && super::signs::is_symbol(byte as char) {
            traits |= SYMBOL;
        }
        traits |= match byte {
            b':' => COLON | NAME,
            b'@' => AT,
            b'(' => OPENING,
            b'A'..=b'Z' | b'_' | b'.' | b'-' | b'!' => NAME,
            0x80.. => FOREIGN,
            _ => 0,
        };
        all[byte as usize] = traits;
        if byte == u8::MAX {
            break all;
        }
        byte += 1;
    }
};
