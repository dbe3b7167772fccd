//! What clients are told when there is nothing to serve.

use http::{StatusCode, header::RETRY_AFTER};

use crate::registry::{
    cache::ArtifactCache,
    docker::{
        kin::MAX_DEPTH,
        name::{Digest, Name, Reference},
        voice::{Errors, error},
    },
    documents::DocumentsFault,
    download::DownloadFault,
    gate::{Gate, Otherwise},
};

/// How many seconds a client waits when the upstream has had enough.
const ENOUGH_SECONDS: u64 = 30;

pub(super) fn unnameable(name: &Name) -> Otherwise {
    let why = format!("the name `{name}` is too long to be kept");
    Box::new(error(StatusCode::BAD_REQUEST, "NAME_INVALID", &why))
}

pub(super) fn too_many(name: &Name, what: &str) -> Otherwise {
    unseen(&format!("`{name}` has {what}"))
}

pub(super) fn too_deep(name: &Name, digest: Digest) -> Otherwise {
    let why =
        format!("{digest} of `{name}`, which is blocked or behind a tag that is, has indexes");
    unseen(&format!("{why} in indexes, deeper than Weir looks ({MAX_DEPTH})"))
}

/// What may lead past what is blocked, for all that is known.
fn unseen(why: &str) -> Otherwise {
    let why = format!("{why}, so a digest alone is not let through; ask by a tag first");
    Box::new(error(StatusCode::FORBIDDEN, "DENIED", &why).because(&why))
}

pub(super) fn unreadable(name: &Name, digest: Digest, cause: &dyn std::fmt::Display) -> Otherwise {
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

pub(super) fn no_file<C: ArtifactCache>(fault: &DownloadFault, code: &str) -> Otherwise {
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

/// What an upstream refuses to us: registries say so of what does not exist.
fn refused(status: StatusCode, code: &str, why: &str) -> Option<Otherwise> {
    match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Some(missing(code, why)),
        StatusCode::TOO_MANY_REQUESTS => {
            let answer = error(status, "TOOMANYREQUESTS", why).because(why);
            Some(Box::new(answer.with(RETRY_AFTER, ENOUGH_SECONDS.into())))
        }
        _ => None,
    }
}
