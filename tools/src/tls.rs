//! TLS: one provider for the process, told once.

use std::sync::Once;

/// Makes ring the provider of this process, unless it has one already.
pub(crate) fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // An error says that there is a provider, which serves as well.
        rustls::crypto::ring::default_provider().install_default().unwrap_or_default();
    });
}
