//! Text that is written as base64: what it says is judged, not how it is written.

use base64::{
    Engine as _, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};

use crate::web::filter::judge::{self, Caution};

/// Names and hashes are shorter.
const MIN_BYTES: usize = 40;
/// So many bytes say what the rest is.
const SAMPLE_BYTES: usize = 8 << 10;
const MAX_ROUNDS: usize = 2;

const CONFIG: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, CONFIG);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, CONFIG);

/// The code that is packed in a string; at least how it begins.
pub(super) fn code(string: &str) -> Option<String> {
    let mut text = string.to_owned();
    let mut is_packed = false;
    for _ in 0..MAX_ROUNDS {
        let Some(unpacked) = unpacked(&text) else { break };
        text = unpacked;
        is_packed = true;
    }
    (is_packed && is_code(&text)).then_some(text)
}

fn unpacked(text: &str) -> Option<String> {
    if text.len() < MIN_BYTES || !text.bytes().all(is_base64) {
        return None;
    }
    let digits: Vec<u8> = text
        .bytes()
        .filter(|byte| !byte.is_ascii_whitespace())
        .take(SAMPLE_BYTES / 3 * 4)
        .collect();
    let bytes = STANDARD.decode(&digits).or_else(|_| URL_SAFE.decode(&digits)).ok()?;
    // The sample may end within a character.
    let valid = match std::str::from_utf8(&bytes) {
        Ok(text) => text,
        Err(fault) if bytes.len() < fault.valid_up_to() + 4 => {
            std::str::from_utf8(bytes.get(..fault.valid_up_to())?).ok()?
        }
        Err(_) => return None,
    };
    let printed = |c: char| !c.is_control() || matches!(c, '\n' | '\r' | '\t');
    (!valid.is_empty() && valid.chars().all(printed)).then(|| valid.to_owned())
}

const fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_' | b'=' | b'\n' | b'\r')
}

/// Whether a text is code, at least for a third of its lines.
fn is_code(text: &str) -> bool {
    let lines: Vec<&str> = text.lines().collect();
    let code = judge::code_lines(&lines, Caution::Plain.threshold());
    let n_lines = lines.iter().filter(|line| !line.trim().is_empty()).count();
    let n_code = code.iter().filter(|code| **code).count();
    0 < n_code && n_lines <= n_code * 3
}
