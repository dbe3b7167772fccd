//! A world of its own: names mean what a test says, and every connection ends at one server here.

use std::{
    collections::{HashMap, VecDeque},
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    net::{IpAddr, SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

use futures_util::future::BoxFuture;
use http::Method;
use weir_events::timestamp::Timestamp;

use crate::{
    clock::ManualClock,
    outbound::{
        address::Exemption,
        resolve::Resolve,
        web::{
            Egress, Settings,
            ask::{Page, PageAsk},
            connect::{Connect, Connected, connector},
            fault::{EgressFault, Why},
            hop::{Hop, HopRefusal, Pass},
        },
    },
};

/// What every name means that a test says nothing about.
pub(super) const PUBLIC: &str = "93.184.215.14";

pub(super) struct World {
    pub(super) egress: Egress,
    pub(super) names: Arc<Names>,
    pub(super) wires: Arc<Wires>,
    pub(super) clock: Arc<ManualClock>,
    pub(super) seen: Arc<Mutex<Vec<Seen>>>,
}

/// What the server here was asked.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    pub(super) head: String,
    pub(super) body: Vec<u8>,
}

impl Seen {
    pub(super) fn path(&self) -> &str {
        self.head.split(' ').nth(1).unwrap_or_default()
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let of = |line: &'_ str| line.split_once(": ").map(|(name, _)| name.to_ascii_lowercase());
        let line = self.head.lines().find(|line| of(line).as_deref() == Some(name))?;
        line.split_once(": ").map(|(_, value)| value)
    }
}

/// Answers a question by the bytes it is, and hangs up.
pub(super) type Answer = dyn Fn(&Seen) -> Vec<u8> + Send + Sync;

impl World {
    pub(super) fn new(answer: impl Fn(&Seen) -> Vec<u8> + Send + Sync + 'static) -> Self {
        Self::with(Settings::default(), answer)
    }

    pub(super) fn with(
        settings: Settings,
        answer: impl Fn(&Seen) -> Vec<u8> + Send + Sync + 'static,
    ) -> Self {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (asked, answer): (_, Arc<Answer>) = (Arc::clone(&seen), Arc::new(answer));
        Self::behind(settings, seen, move |stream| {
            let (asked, answer) = (Arc::clone(&asked), Arc::clone(&answer));
            // A client that hangs up is no fault of the server.
            thread::spawn(move || serve(stream, &asked, &*answer).unwrap_or_default());
        })
    }

    /// With a server that does what it wants with connections.
    pub(super) fn raw(take: impl Fn(TcpStream) + Send + 'static) -> Self {
        Self::behind(Settings::default(), Arc::default(), take)
    }

    fn behind(
        settings: Settings,
        seen: Arc<Mutex<Vec<Seen>>>,
        take: impl Fn(TcpStream) + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = listener.local_addr().unwrap();
        thread::spawn(move || listener.incoming().flatten().for_each(take));
        let names = Arc::new(Names::default());
        let wires = Arc::new(Wires {
            server,
            attempts: Mutex::default(),
            away: Mutex::default(),
            astray: Mutex::default(),
        });
        let clock = Arc::new(ManualClock::at(Timestamp::from_micros(1_795_867_200_000_000)));
        let (resolver, lines): (Arc<dyn Resolve>, Arc<dyn Connect>) =
            (names.clone(), wires.clone());
        let egress = Egress::with(settings, clock.clone(), resolver, lines, connector(trusting()));
        Self { egress, names, wires, clock, seen }
    }

    pub(super) async fn get(&self, url: &str) -> Result<Page, EgressFault> {
        left(self.egress.fetch(PageAsk::get([1; 32], url), &anything).await)
    }

    pub(super) async fn post(&self, url: &str, body: &'static str) -> Result<Page, EgressFault> {
        let ask =
            PageAsk { method: Method::POST, body: Some(body.into()), ..PageAsk::get([1; 32], url) };
        left(self.egress.fetch(ask, &anything).await)
    }

    pub(super) fn asked(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

/// A page that does not take its place up any longer.
fn left(page: Result<Page, EgressFault>) -> Result<Page, EgressFault> {
    page.map(|page| Page { place: None, ..page })
}

pub(super) fn allowing(ranges: &[&str]) -> Settings {
    let allow_private: Vec<Exemption> = ranges.iter().map(|range| range.parse().unwrap()).collect();
    Settings { allow_private, ..Settings::default() }
}

/// Rules that let everything through on the ports of the web, but for one host and what is below it.
pub(super) fn anything(hop: &Hop<'_>) -> Result<Pass, HopRefusal> {
    let host = hop.url.host();
    if host == "blocked.example" || host.ends_with(".blocked.example") {
        return Err(HopRefusal { reason: "code_repo".into() });
    }
    Ok(if hop.url.port() == 8443 { Pass::ThisPort } else { Pass::WebPorts })
}

/// What a fault is called in tables.
pub(super) fn class(why: &Why) -> &'static str {
    use crate::outbound::web::address::UrlFault;
    match why {
        Why::Url { cause, .. } => match cause {
            UrlFault::TooLong => "long",
            UrlFault::Ambiguous => "ambiguous",
            UrlFault::Unreadable(_) => "unreadable",
            UrlFault::Scheme(_) => "scheme",
            UrlFault::Userinfo => "userinfo",
            UrlFault::Host => "host",
            UrlFault::NoPort => "port",
        },
        Why::Ask(_) => "ask",
        Why::Refused { .. } => "rule",
        Why::Port { .. } => "port",
        Why::Inside { .. } => "inside",
        Why::Unresolved { .. } => "unresolved",
        Why::Downgrade { .. } => "downgrade",
        Why::CrossOrigin { .. } => "crossorigin",
        Why::Redirects { .. } => "redirects",
        Why::Location { .. } => "location",
        Why::Astray { .. } => "astray",
        Why::Broken { .. } => "broken",
        Why::Undecodable { .. } => "undecodable",
        Why::Partial { .. } => "partial",
        Why::NotWebsocket { .. } => "notwebsocket",
        Why::Timeout { .. } => "timeout",
        Why::Busy => "busy",
        Why::BackingOff { .. } => "backingoff",
    }
}

pub(super) fn page(headers: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let length = body.as_ref().len();
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n{headers}\r\n");
    [head.as_bytes(), body.as_ref()].concat()
}

pub(super) fn redirect(status: u16, to: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status} Go\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n").into_bytes()
}

fn serve(stream: TcpStream, seen: &Mutex<Vec<Seen>>, answer: &Answer) -> io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head)? == 0 {
            return Ok(());
        }
    }
    let mut question = Seen { head, body: Vec::new() };
    let length = question.header("content-length").and_then(|text| text.parse().ok());
    question.body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut question.body)?;
    seen.lock().unwrap().push(question.clone());
    reader.into_inner().write_all(&answer(&question))
}

/// What names mean, one answer after the other; the last one stays.
#[derive(Debug, Default)]
pub(super) struct Names {
    answers: Mutex<HashMap<String, VecDeque<Vec<IpAddr>>>>,
    lookups: Mutex<Vec<String>>,
}

impl Names {
    /// `1.2.3.4,5.6.7.8|127.0.0.1`: two addresses first, then this machine. Nothing is an error.
    pub(super) fn script(&self, name: &str, answers: &str) {
        let read = |ip: &str| ip.parse::<IpAddr>().unwrap();
        let words = |one: &str| one.split(',').filter(|ip| !ip.is_empty()).map(read).collect();
        let answers = answers.split('|').map(words).collect();
        self.answers.lock().unwrap().insert(name.to_owned(), answers);
    }

    pub(super) fn lookups(&self) -> Vec<String> {
        self.lookups.lock().unwrap().clone()
    }
}

impl Resolve for Names {
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            self.lookups.lock().unwrap().push(host.to_owned());
            let mut answers = self.answers.lock().unwrap();
            let Some(left) = answers.get_mut(host) else {
                return Ok(vec![PUBLIC.parse().unwrap()]);
            };
            let next = if left.len() > 1 { left.pop_front() } else { left.front().cloned() };
            next.filter(|found| !found.is_empty()).ok_or_else(|| io::Error::other("SERVFAIL"))
        })
    }
}

/// Writes down every connection that is wanted, and leads them all to the server here.
#[derive(Debug)]
pub(super) struct Wires {
    server: SocketAddr,
    attempts: Mutex<Vec<SocketAddr>>,
    /// Who does not answer.
    away: Mutex<Vec<IpAddr>>,
    /// Where connections end up instead.
    astray: Mutex<Option<SocketAddr>>,
}

impl Wires {
    pub(super) fn attempts(&self) -> Vec<SocketAddr> {
        self.attempts.lock().unwrap().clone()
    }

    pub(super) const fn port(&self) -> u16 {
        self.server.port()
    }

    pub(super) fn take_away(&self, address: &str) {
        self.away.lock().unwrap().push(address.parse().unwrap());
    }

    pub(super) fn lead_astray(&self, to: &str) {
        *self.astray.lock().unwrap() = Some(to.parse().unwrap());
    }
}

impl Connect for Wires {
    #[expect(clippy::disallowed_methods, reason = "this is the world that connections lead to")]
    fn connect(&self, to: SocketAddr) -> BoxFuture<'_, io::Result<Connected>> {
        Box::pin(async move {
            self.attempts.lock().unwrap().push(to);
            if self.away.lock().unwrap().contains(&to.ip()) {
                return Err(io::ErrorKind::ConnectionRefused.into());
            }
            let peer = self.astray.lock().unwrap().unwrap_or(to);
            let stream = tokio::net::TcpStream::connect(self.server).await?;
            Ok(Connected { stream, peer })
        })
    }
}

/// The certificate of `pinned.example`, and its key, made for these tests alone.
pub(super) const CERTIFICATE: &[u8] = include_bytes!("pinned.example.der");
pub(super) const KEY: &[u8] = include_bytes!("pinned.example.key.der");

fn trusting() -> rustls::ClientConfig {
    crate::outbound::install_tls();
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CERTIFICATE.into()).unwrap();
    rustls::ClientConfig::builder().with_root_certificates(roots).with_no_client_auth()
}
