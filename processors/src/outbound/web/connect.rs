//! Connections to addresses that were judged, and to no others.
//!
//! A name is resolved once for each connection; every address it has is judged, and one of those very
//! addresses is connected to. The name goes on to the server only, as it was judged.

use std::{
    fmt::Debug,
    io,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use futures_util::future::BoxFuture;
use rustls::pki_types::ServerName;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};
use tokio_rustls::TlsConnector;

use super::{address::WebUrl, fault::Why};
use crate::outbound::{
    address::{Exemption, judge},
    resolve::Resolve,
};

/// How many addresses of one name are tried.
const MAX_TRIED: usize = 4;
/// A name with more addresses than this is not one of the web.
const MAX_ADDRESSES: usize = 64;
/// How long one address may take, where there is another.
const PATIENCE: Duration = Duration::from_secs(3);

/// Bytes both ways.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// A connection, and where it ended up.
#[derive(Debug)]
pub struct Connected {
    /// The connection.
    pub stream: TcpStream,
    /// The address at its other end.
    pub peer: SocketAddr,
}

/// Opens connections: over the network, or to where a test says.
pub trait Connect: Debug + Send + Sync + 'static {
    /// Connects to an address that was judged.
    fn connect(&self, to: SocketAddr) -> BoxFuture<'_, io::Result<Connected>>;
}

/// Connects over the network.
#[derive(Debug, Clone, Copy, Default)]
pub struct Network;

impl Connect for Network {
    #[expect(clippy::disallowed_methods, reason = "this is the module that others must go through")]
    fn connect(&self, to: SocketAddr) -> BoxFuture<'_, io::Result<Connected>> {
        Box::pin(async move {
            let stream = TcpStream::connect(to).await?;
            stream.set_nodelay(true)?;
            let peer = stream.peer_addr()?;
            Ok(Connected { stream, peer })
        })
    }
}

/// Addresses that all passed the judgement. Nothing else is connected to.
#[derive(Debug)]
pub(super) struct Judged(Vec<SocketAddr>);

/// Refuses a host that is an address inside some network, without asking anybody.
pub(super) fn judge_literal(
    url: &WebUrl,
    hop: usize,
    exemptions: &[Exemption],
) -> Result<Option<Judged>, Why> {
    literal(url).map(|ip| judged(url, hop, exemptions, &[ip])).transpose()
}

/// The address that a host is, or that its name means everywhere (RFC 6761).
fn literal(url: &WebUrl) -> Option<IpAddr> {
    let host = url.host();
    let here = host == "localhost" || host.ends_with(".localhost");
    url.literal().or_else(|| here.then_some(IpAddr::V4(Ipv4Addr::LOCALHOST)))
}

/// Resolves a name, once, and judges all it resolves to.
pub(super) async fn resolve(
    url: &WebUrl,
    hop: usize,
    resolver: &dyn Resolve,
    exemptions: &[Exemption],
) -> Result<Judged, Why> {
    if let Some(judged) = judge_literal(url, hop, exemptions)? {
        return Ok(judged);
    }
    let found = resolver.resolve(url.host()).await.unwrap_or_default();
    if found.is_empty() || found.len() > MAX_ADDRESSES {
        return Err(Why::Unresolved { host: url.host().into() });
    }
    judged(url, hop, exemptions, &found)
}

/// All of them, or none: a name that stands both inside and outside is not trusted outside.
fn judged(
    url: &WebUrl,
    hop: usize,
    exemptions: &[Exemption],
    found: &[IpAddr],
) -> Result<Judged, Why> {
    if found.iter().any(|ip| judge(*ip, url.host(), exemptions).is_err()) {
        return Err(Why::Inside { hop, host: url.host().into() });
    }
    let sockets = found.iter().map(|ip| SocketAddr::new(ip.to_canonical(), url.port()));
    Ok(Judged(sockets.collect()))
}

/// Connects to the first judged address that answers, and speaks TLS where the scheme says so.
pub(super) async fn open(
    url: &WebUrl,
    judged: &Judged,
    connector: &dyn Connect,
    tls: &TlsConnector,
) -> Result<Box<dyn Stream>, Why> {
    let host = || Box::from(url.host());
    let broken = |cause: io::Error| Why::Broken { host: host(), cause: cause.into() };
    let connected = first(&judged.0, connector).await.map_err(broken)?;
    // Nothing between us and the address was to lead elsewhere; if it did, nothing is said there.
    let Some(Connected { stream, .. }) = connected.filter(|one| judged.0.contains(&one.peer))
    else {
        return Err(Why::Astray { host: host() });
    };
    if !url.scheme().secure() {
        return Ok(Box::new(stream));
    }
    let name = match url.literal() {
        Some(ip) => ServerName::from(ip),
        None => ServerName::try_from(url.host().to_owned())
            .map_err(|cause| broken(io::Error::other(cause)))?,
    };
    Ok(Box::new(tls.connect(name, stream).await.map_err(broken)?))
}

/// The first that answers; none where the judged address and its peer differ.
async fn first(addresses: &[SocketAddr], connector: &dyn Connect) -> io::Result<Option<Connected>> {
    let mut fault = io::Error::other("there is no address");
    for (n, address) in addresses.iter().take(MAX_TRIED).enumerate() {
        let is_last = n + 1 == addresses.len().min(MAX_TRIED);
        let connecting = connector.connect(*address);
        let connected = if is_last {
            connecting.await
        } else {
            let slow = |_| io::Error::new(io::ErrorKind::TimedOut, "no answer");
            tokio::time::timeout(PATIENCE, connecting).await.map_err(slow).flatten()
        };
        match connected {
            Ok(connected) => return Ok(Some(connected).filter(|one| one.peer == *address)),
            Err(cause) => fault = cause,
        }
    }
    Err(fault)
}

/// TLS as the machine trusts it, for HTTP/1.1.
pub(super) fn tls() -> Result<TlsConnector, rustls::Error> {
    use rustls_platform_verifier::BuilderVerifierExt as _;
    crate::outbound::install_tls();
    let builder = rustls::ClientConfig::builder().with_platform_verifier()?;
    Ok(connector(builder.with_no_client_auth()))
}

pub(super) fn connector(mut config: rustls::ClientConfig) -> TlsConnector {
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    TlsConnector::from(Arc::new(config))
}
