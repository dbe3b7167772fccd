//! What clients are told when there is nothing to serve.

use std::{fmt::Display, sync::Arc};

use http::{StatusCode, header::RETRY_AFTER};

use crate::registry::{
    cache::ArtifactCache,
    docker::{
        kin::{Beyond, MAX_ASKED, MAX_DEPTH},
        manifest::ManifestFault,
        name::{Digest, Name, Reference},
        voice::{Errors, error},
    },
    documents::DocumentsFault,
    download::DownloadFault,
    gate::{Gate, Otherwise},
};

/// How many seconds a client waits when the upstream has had enough.
const ENOUGH_SECONDS: u64 = 30;

/// Why a manifest could not be loaded.
#[derive(Debug)]
pub(super) enum NotLoaded {
    /// It does not come.
    File(Arc<DownloadFault>),
    /// It came, and cannot be read.
    Manifest(ManifestFault),
    /// Something else, as clients are told.
    Told(Otherwise),
}

impl From<Otherwise> for NotLoaded {
    fn from(answer: Otherwise) -> Self {
        Self::Told(answer)
    }
}

impl NotLoaded {
    /// Whether the upstream does not have it. One that refuses it may have it all the same.
    pub(super) fn is_missing(&self) -> bool {
        matches!(self, Self::File(fault) if matches!(**fault, DownloadFault::NotFound(_)))
    }

    /// Whether it is of a kind that nobody gets here.
    pub(super) fn is_foreign(&self) -> bool {
        matches!(self, Self::Manifest(ManifestFault::Schema | ManifestFault::Kind(_)))
    }

    /// What clients are told that asked for it.
    pub(super) fn told<C: ArtifactCache>(self, name: &Name, digest: Digest) -> Otherwise {
        match self {
            Self::File(fault) => no_file::<C>(&fault, "MANIFEST_UNKNOWN"),
            Self::Manifest(fault) => unreadable(name, digest, &fault),
            Self::Told(answer) => answer,
        }
    }

    /// What clients are told that asked for something else, which may be behind it.
    pub(super) fn told_of_others<C: ArtifactCache>(
        self,
        asked: &Reference,
        name: &Name,
        digest: Digest,
    ) -> Otherwise {
        match self {
            Self::File(fault) if is_not_given(&fault) => unshown(asked, name, &digest, &fault),
            other => other.told::<C>(name, digest),
        }
    }
}

pub(super) fn unnameable(name: &Name) -> Otherwise {
    let why = format!("the name `{name}` is too long to be kept");
    Box::new(error(StatusCode::BAD_REQUEST, "NAME_INVALID", &why))
}

pub(super) fn too_many(asked: &Reference, name: &Name, what: &str) -> Otherwise {
    unseen(asked, &format!("`{name}` has {what}"))
}

pub(super) fn too_deep(asked: &Reference, name: &Name, digest: Digest) -> Otherwise {
    let why =
        format!("{digest} of `{name}`, which is blocked or behind a tag that is, has indexes");
    unseen(asked, &format!("{why} in indexes, deeper than Weir looks ({MAX_DEPTH})"))
}

/// More leads to a manifest than Weir looks at, and by what it looks at it does not pass.
pub(super) fn not_known(
    asked: &Reference,
    name: &Name,
    digest: Digest,
    beyond: Beyond,
) -> Otherwise {
    let why = match beyond {
        Beyond::Depth => {
            format!("stands in indexes in indexes, deeper than Weir looks ({MAX_DEPTH})")
        }
        Beyond::Names => format!("was seen under more names than Weir asks about ({MAX_ASKED})"),
    };
    unseen(asked, &format!("{digest} of `{name}` {why}"))
}

/// What may lead past what is blocked, for all that is known. Only who takes no index is told so of a tag.
fn unseen(asked: &Reference, why: &str) -> Otherwise {
    let so = match asked {
        Reference::Digest(_) => "a digest alone is not let through; ask by a tag first",
        Reference::Tag(_) => {
            "what the tag means to who takes no index is not let through; ask with an `Accept` that \
             takes indexes"
        }
    };
    let why = format!("{why}, so {so}");
    Box::new(error(StatusCode::FORBIDDEN, "DENIED", &why).because(&why))
}

/// The upstream does not show what is blocked, or behind it: what that names is not known.
fn unshown(asked: &Reference, name: &Name, what: &dyn Display, fault: &dyn Display) -> Otherwise {
    let why =
        format!("{what} of `{name}` is blocked, or behind what is, and could not be looked at");
    unseen(asked, &format!("{why} ({fault})"))
}

pub(super) fn unreadable(name: &Name, digest: Digest, cause: &dyn Display) -> Otherwise {
    let why = format!("could not read the upstream's manifest {digest} of `{name}`: {cause}");
    Box::new(error(StatusCode::BAD_GATEWAY, "MANIFEST_INVALID", &why).because(&why))
}

pub(super) fn not_taken(name: &Name, reference: &Reference, media_type: &str) -> Otherwise {
    let why =
        format!("{reference} of `{name}` is a `{media_type}`, which is none of what is accepted");
    missing("MANIFEST_UNKNOWN", &why)
}

pub(super) fn busy<C: ArtifactCache>() -> Otherwise {
    let why = "too many manifests are being read; try again";
    let answer = Gate::<C, Errors>::no(StatusCode::SERVICE_UNAVAILABLE, why);
    Box::new(answer.with(RETRY_AFTER, 1.into()))
}

pub(super) fn no_list<C: ArtifactCache>(fault: &DocumentsFault, code: &str) -> Otherwise {
    match fault {
        DocumentsFault::NotFound(_) => missing(code, &fault.to_string()),
        DocumentsFault::Status { status, .. } => refused(*status, code, &fault.to_string())
            .unwrap_or_else(|| Gate::<C, Errors>::no_list(fault)),
        DocumentsFault::Stopping
        | DocumentsFault::Unreachable { .. }
        | DocumentsFault::Degraded(_)
        | DocumentsFault::Unreadable { .. } => Gate::<C, Errors>::no_list(fault),
    }
}

/// What clients are told when it is not what they asked for that the upstream refuses, but what is
/// blocked.
pub(super) fn no_look<C: ArtifactCache>(
    asked: &Reference,
    name: &Name,
    what: &dyn Display,
    fault: &DocumentsFault,
) -> Otherwise {
    if let DocumentsFault::Status { status, .. } = fault
        && denies(*status)
    {
        return unshown(asked, name, what, fault);
    }
    no_list::<C>(fault, "MANIFEST_UNKNOWN")
}

fn no_file<C: ArtifactCache>(fault: &DownloadFault, code: &str) -> Otherwise {
    match fault {
        DownloadFault::NotFound(_) => missing(code, &fault.to_string()),
        DownloadFault::Status { status, .. } => refused(*status, code, &fault.to_string())
            .unwrap_or_else(|| Gate::<C, Errors>::no_file(fault)),
        _ => Gate::<C, Errors>::no_file(fault),
    }
}

fn missing(code: &str, why: &str) -> Otherwise {
    Box::new(error(StatusCode::NOT_FOUND, code, why).because(why))
}

/// Whether the upstream has no such file for us, whatever the reason.
fn is_not_given(fault: &DownloadFault) -> bool {
    match fault {
        DownloadFault::NotFound(_) => true,
        DownloadFault::Status { status, .. } => denies(*status),
        _ => false,
    }
}

/// Whether an upstream says with it that this is not for us.
fn denies(status: StatusCode) -> bool {
    [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN].contains(&status)
}

/// What an upstream refuses to us: registries say so of what does not exist.
fn refused(status: StatusCode, code: &str, why: &str) -> Option<Otherwise> {
    match status {
        status if denies(status) => Some(missing(code, why)),
        StatusCode::TOO_MANY_REQUESTS => {
            let answer = error(status, "TOOMANYREQUESTS", why).because(why);
            Some(Box::new(answer.with(RETRY_AFTER, ENOUGH_SECONDS.into())))
        }
        _ => None,
    }
}
