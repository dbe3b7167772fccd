//! Why the outside was not asked, or did not give a page.

use std::{error::Error, fmt};

use weir_events::timestamp::Timestamp;

use super::address::{UrlFault, WebUrl};

/// A request that came to nothing, and how far it came.
#[derive(Debug)]
pub struct EgressFault {
    /// What stood in the way.
    pub why: Why,
    /// The addresses that were let through, in order; they may hold what should not be logged.
    pub hops: Vec<String>,
    /// The hosts that were connected to, or would have been. Where it is empty, nothing left the door
    /// but, perhaps, the question what a name means.
    pub contacted: Box<[Box<str>]>,
    /// Whether anything was asked: what a name means, or more. Where it was not, all of it happened
    /// here.
    pub asked: bool,
    /// The addresses that may say something else because of what was sent, all the same.
    pub changed: Box<[WebUrl]>,
}

impl fmt::Display for EgressFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.why.fmt(f)
    }
}

impl Error for EgressFault {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.why.source()
    }
}

/// What stood in the way. Hop 0 is the address that was asked for, every other one a redirect. No
/// message tells what a name resolves to.
#[derive(Debug, thiserror::Error)]
pub enum Why {
    /// The request is none that is sent.
    #[error(transparent)]
    Ask(#[from] AskFault),
    /// An address that may not be asked for, whatever the rules are.
    #[error("{cause}{}", at(*.hop))]
    Url {
        /// Which hop.
        hop: usize,
        /// What is shown of it, where an answer leads to it.
        to: Option<Box<str>>,
        /// What is wrong with it.
        #[source]
        cause: UrlFault,
    },
    /// A rule refuses it.
    #[error("`{host}` is refused: {reason}{}", at(*.hop))]
    Refused {
        /// Which hop.
        hop: usize,
        /// The host.
        host: Box<str>,
        /// What the rule says.
        reason: Box<str>,
    },
    /// The port is none of the web's, and no rule names it.
    #[error("port {port} of `{host}` is not reached unless a rule names it{}", at(*.hop))]
    Port {
        /// Which hop.
        hop: usize,
        /// The host.
        host: Box<str>,
        /// The port.
        port: u16,
    },
    /// The host is, or resolves to, an address that is not public.
    #[error("`{host}` does not stand in the world outside{}", at(*.hop))]
    Inside {
        /// Which hop.
        hop: usize,
        /// The host.
        host: Box<str>,
    },
    /// From an encrypted connection to one in the clear.
    #[error("`{host}` redirects from https to http")]
    Downgrade {
        /// Who redirects.
        host: Box<str>,
        /// Where to, without its query.
        to: Box<str>,
    },
    /// The body of a request would be sent to somebody else.
    #[error("`{host}` redirects a POST with its body to another origin")]
    CrossOrigin {
        /// Who redirects.
        host: Box<str>,
        /// Where to, without its query.
        to: Box<str>,
    },
    /// Redirects go on and on.
    #[error("more than {max} redirects")]
    Redirects {
        /// How many are followed.
        max: usize,
        /// Where the next one leads, without its query.
        to: Box<str>,
    },
    /// Redirects in two directions at once.
    #[error("`{host}` redirects without one readable address")]
    Location {
        /// Who redirects.
        host: Box<str>,
    },
    /// The name has no address, or nobody could say.
    #[error("`{host}` cannot be resolved")]
    Unresolved {
        /// The host.
        host: Box<str>,
    },
    /// The connection went elsewhere than to the address that was judged.
    #[error("the connection to `{host}` ended up at another address than was judged")]
    Astray {
        /// The host.
        host: Box<str>,
    },
    /// It could not be connected to, or broke off.
    #[error("could not ask `{host}`")]
    Broken {
        /// The host.
        host: Box<str>,
        /// What broke.
        #[source]
        cause: Box<dyn Error + Send + Sync>,
    },
    /// Its body is not what its encoding says.
    #[error("`{host}` answers with a body that cannot be decoded: {encoding}")]
    Undecodable {
        /// The host.
        host: Box<str>,
        /// The encoding it claims.
        encoding: Box<str>,
    },
    /// A part of a body that nobody asked for.
    #[error("`{host}` answers with a part of a page, which was not asked for")]
    Partial {
        /// The host.
        host: Box<str>,
    },
    /// It speaks HTTP where a websocket was asked for.
    #[error("`{host}` answers {status} instead of opening a websocket")]
    NotWebsocket {
        /// The host.
        host: Box<str>,
        /// The status.
        status: u16,
    },
    /// All of it took too long, waiting included.
    #[error("it took longer than {ms} ms")]
    Timeout {
        /// The bound.
        ms: u64,
    },
    /// Too many wait already.
    #[error("too many requests are waiting for a place")]
    Busy,
    /// The host has asked to be left alone.
    #[error("`{host}` has asked to be left alone until {until}")]
    BackingOff {
        /// The host.
        host: Box<str>,
        /// Until when.
        until: Timestamp,
    },
}

impl Why {
    /// The host that something forbids, and what, for those who name the host themselves; none where
    /// nothing is forbidden.
    #[must_use]
    pub fn forbids(&self) -> Option<(&str, String)> {
        let (hop, host, words) = match self {
            Self::Refused { hop, host, reason } => (*hop, host, reason.to_string()),
            Self::Port { hop, host, port } => {
                (*hop, host, format!("port {port} is not reached unless a rule names it"))
            }
            Self::Inside { hop, host } => {
                (*hop, host, "it does not stand in the world outside".to_owned())
            }
            Self::Downgrade { host, .. } => (0, host, "it redirects from https to http".to_owned()),
            Self::CrossOrigin { host, .. } => {
                (0, host, "it redirects a POST with its body to another origin".to_owned())
            }
            _ => return None,
        };
        Some((host, format!("{words}{}", at(hop))))
    }
}

fn at(hop: usize) -> String {
    if hop == 0 { String::new() } else { format!(" (redirect {hop})") }
}

/// The request is none that is sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AskFault {
    /// Only some methods are.
    #[error("{0} is not sent; GET, HEAD and POST are")]
    Method(Box<str>),
    /// A websocket is no page, and a page no websocket.
    #[error("`{0}` is not what this request is for")]
    Scheme(Box<str>),
    /// The header is none that an agent may set.
    #[error("header `{0}` is not sent; accept, accept-language and, with a body, content-type are")]
    Header(Box<str>),
    /// The value of a header is too long.
    #[error("header `{0}` is longer than {max} bytes", max = weir_events::web::request::MAX_HEADER_BYTES)]
    LongHeader(Box<str>),
    /// Only a POST has a body.
    #[error("only a POST carries a body")]
    Body,
    /// The body is too large.
    #[error("the body is larger than {max} bytes", max = weir_events::web::request::MAX_BODY_BYTES)]
    LongBody,
    /// Nothing, or too much, is wanted.
    #[error("between 1 and {max} bytes of a page can be asked for", max = super::ask::MAX_DECODED_BYTES)]
    Size,
}
