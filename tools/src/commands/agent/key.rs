//! An agent's secret key in a file: PKCS #8 in PEM, as `openssl genpkey -algorithm ed25519` and every
//! library write it.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use ed25519_dalek::SigningKey;
use weir_events::web::request::PublicKey;

use crate::exit::{Exit, Failure};

const BEGIN: &str = "-----BEGIN PRIVATE KEY-----";
const END: &str = "-----END PRIVATE KEY-----";
/// All that stands before the 32 secret bytes: version 0, the algorithm, the length.
const PREFIX: [u8; 16] =
    [0x30, 0x2e, 0x02, 0x01, 0, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];
/// The longest file that is read: a key has a hundred bytes.
const MAX_BYTES: u64 = 8_192;

pub(super) fn generate() -> SigningKey {
    SigningKey::from_bytes(&rand::random())
}

pub(super) fn public(key: &SigningKey) -> PublicKey {
    PublicKey::new(key.verifying_key().to_bytes())
}

/// Writes a new file only this user may read; never over another.
pub(super) fn write(file: &Path, key: &SigningKey) -> Result<(), Failure> {
    let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file);
    let written = opened.and_then(|mut opened| {
        opened.write_all(pem(key).as_bytes())?;
        opened.sync_all()
    });
    written.map_err(|fault| {
        let taken = fault.kind() == io::ErrorKind::AlreadyExists;
        let exit = if taken { Exit::Conflict } else { Exit::Failed };
        Failure::new(exit, format!("could not write `{}`: {fault}", file.display()))
    })
}

pub(super) fn read(file: &Path) -> Result<SigningKey, Failure> {
    let failed = |exit, why: String| {
        Failure::new(exit, format!("could not read a key from `{}`: {why}", file.display()))
    };
    let of_io = |fault: io::Error| {
        let missing = fault.kind() == io::ErrorKind::NotFound;
        failed(if missing { Exit::NotFound } else { Exit::Failed }, fault.to_string())
    };
    let length = fs::metadata(file).map_err(of_io)?.len();
    if length > MAX_BYTES {
        return Err(failed(Exit::Usage, format!("it has {length} bytes, {MAX_BYTES} at most")));
    }
    let text = fs::read_to_string(file).map_err(of_io)?;
    parse(&text).ok_or_else(|| {
        failed(Exit::Usage, "it is no ed25519 key as PKCS #8 in PEM".to_owned())
            .hint("make one with `weir agent keygen` or `openssl genpkey -algorithm ed25519`")
    })
}

fn pem(key: &SigningKey) -> String {
    let der = [&PREFIX[..], key.as_bytes()].concat();
    format!("{BEGIN}\n{}\n{END}\n", BASE64_STANDARD.encode(der))
}

fn parse(text: &str) -> Option<SigningKey> {
    let inner = text.trim().strip_prefix(BEGIN)?.strip_suffix(END)?;
    let packed: String = inner.split_ascii_whitespace().collect();
    let der = BASE64_STANDARD.decode(packed).ok()?;
    let secret: [u8; 32] = der.strip_prefix(&PREFIX)?.try_into().ok()?;
    Some(SigningKey::from_bytes(&secret))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt as _;

    use super::*;

    #[test]
    fn a_key_that_another_program_made_is_read() {
        // The example of RFC 8410, section 10.3.
        let theirs = "-----BEGIN PRIVATE KEY-----\n\
            MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n\
            -----END PRIVATE KEY-----\n";
        let key = parse(theirs).unwrap();
        assert_eq!(
            public(&key).to_string(),
            "19bf44096984cdfe8541bac167dc3b96c85086aa30b6b6cb0c5c38ad703166e1"
        );
        assert_eq!(pem(&key), theirs);
    }

    #[test]
    fn what_is_no_key_is_none() {
        for text in ["", BEGIN, "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----"] {
            assert!(parse(text).is_none(), "{text:?}");
        }
        let public = pem(&generate()).replace("PRIVATE", "PUBLIC");
        assert!(parse(&public).is_none());
    }

    #[test]
    fn a_key_is_written_for_its_owner_only_and_over_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (file, key) = (folder.path().join("agent.pem"), generate());
        write(&file, &key).unwrap();
        assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
        assert_eq!(read(&file).unwrap().to_bytes(), key.to_bytes());
        assert_eq!(write(&file, &generate()).unwrap_err().exit, Exit::Conflict);
        assert_eq!(read(&file).unwrap().to_bytes(), key.to_bytes());
        assert_eq!(read(&folder.path().join("none")).unwrap_err().exit, Exit::NotFound);
    }
}
