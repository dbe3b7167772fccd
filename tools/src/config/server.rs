//! `server`: where Weir listens, whom it believes, how it ends.

use std::net::IpAddr;

use super::section::section;
use super::value::{Host, HttpUrl, SecretKey, Span};

section! {
    /// Where Weir listens, whom it believes, how it ends.
    Server at "server" {
        /// The address to listen on. Anything but loopback is reachable by others.
        host: Host = Host::loopback(),
        /// The port to listen on; 0 takes a free one and prints it.
        port: u16 = 7400,
        /// The address that clients reach this Weir by, where it is another one (a reverse proxy,
        /// a container): `https://weir.example`
        public_url: Option<HttpUrl> = None,
        /// Proxies in front of Weir whose X-Forwarded-For and X-Forwarded-Proto are believed.
        trusted_proxies: Vec<IpAddr> = Vec::new(),
        /// Connections that may be open at once.
        max_connections: usize = 5120,
        /// Event streams that may be open at once.
        max_streams: usize = 4096,
        /// How long new connections are still taken after the stop was asked for, with /readyz
        /// failing: time for a load balancer to notice.
        linger: Span = Span::millis(0),
        /// How long requests that run may take to end when Weir is told to stop.
        shutdown_timeout: Span = Span::seconds(3),
        /// Signs the cursors of lists, 64 hexadecimal digits; the same on every instance. Made in
        /// the data directory unless given: `${WEIR_SECRET}`
        secret: Option<SecretKey> = None,
    }
}
