//! The token itself: `rf_<16 hex id>_<secret: 32 random bytes, base64url>`. The id is no secret and
//! finds the hash; the secret is argon2id-hashed and shown once.

use argon2::{
    Argon2,
    password_hash::{PasswordHasher, PasswordVerifier, phc::PasswordHash},
};
use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};

/// Characters of 32 bytes in base64url without padding.
const SECRET_CHARS: usize = 43;

/// A token with its secret. Never printed by accident.
pub(super) struct Secret {
    id: String,
    secret: String,
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Secret({})", self.id)
    }
}

impl Secret {
    pub(super) fn generate() -> Self {
        let id: [u8; 8] = rand::random();
        Self::of(hex::encode(id))
    }

    /// A fresh secret for a given id of 16 hexadecimal digits.
    pub(super) fn of(id: String) -> Self {
        let secret: [u8; 32] = rand::random();
        Self { id, secret: BASE64_URL_SAFE_NO_PAD.encode(secret) }
    }

    /// Reads a token; `None` when it does not have the form of one.
    pub(super) fn parse(token: &str) -> Option<Self> {
        let (id, secret) = token.strip_prefix("rf_")?.split_once('_')?;
        let good = id.len() == 16
            && id.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
            && secret.len() == SECRET_CHARS
            && secret.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        good.then(|| Self { id: id.to_owned(), secret: secret.to_owned() })
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// The whole token, for the one time it is shown.
    pub(super) fn reveal(&self) -> String {
        format!("rf_{}_{}", self.id, self.secret)
    }

    /// The argon2id hash to keep, as a PHC string.
    pub(super) async fn verifier(&self) -> Result<String, tokio::task::JoinError> {
        let secret = self.secret.clone();
        tokio::task::spawn_blocking(move || {
            let hashed = Argon2::default().hash_password(secret.as_bytes());
            // A hash that cannot be made verifies nothing: the token is then good for nothing.
            hashed.map(|hash| hash.to_string()).unwrap_or_default()
        })
        .await
    }

    /// Whether it is the secret behind a kept hash. The comparison takes the same time either way.
    pub(super) async fn fits(self, verifier: String) -> bool {
        let check = move || {
            let hash = PasswordHash::new(&verifier).ok()?;
            Argon2::default().verify_password(self.secret.as_bytes(), &hash).ok()
        };
        tokio::task::spawn_blocking(check).await.ok().flatten().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_token_fits_its_own_hash_and_no_other() {
        let (one, other) = (Secret::generate(), Secret::generate());
        let verifier = one.verifier().await.unwrap();
        assert!(verifier.starts_with("$argon2id$"));
        assert!(!verifier.contains(&one.secret));
        assert!(!other.fits(verifier.clone()).await);
        let read = Secret::parse(&one.reveal()).unwrap();
        assert!(read.fits(verifier).await);
    }

    #[test]
    fn what_does_not_look_like_a_token_is_none() {
        let good = Secret::generate().reveal();
        for bad in ["", "rf_", "rf_0_0", &good[1..], &good[..good.len() - 1], &format!("{good}x")] {
            assert!(Secret::parse(bad).is_none(), "{bad}");
        }
        assert!(Secret::parse(&good.to_uppercase()).is_none());
    }

    #[test]
    fn a_secret_is_not_printed() {
        let secret = Secret::generate();
        assert!(!format!("{secret:?}").contains(&secret.secret));
    }
}
