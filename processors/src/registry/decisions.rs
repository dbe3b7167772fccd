//! Decisions on downloads as the log has them, each with its evidence.

use weir_aggregates::registry::{
    dossier::Dossier,
    verdict::{self, Objection, Verdict},
};
use weir_events::registry::{Evidence, Excuse, Grounds, PackageAllowed, PackageBlocked, Served};

use super::gate::{Artifact, Role};

/// How much of a file is let through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// All of it.
    Whole,
    /// A part of it.
    Part,
}

/// A file is let through.
#[must_use]
pub fn allowed(
    artifact: &Artifact,
    dossier: &Dossier,
    verdict: &Verdict,
    extent: Extent,
) -> PackageAllowed {
    PackageAllowed {
        ecosystem: dossier.ecosystem(),
        package: artifact.package.clone(),
        version: artifact.version.as_ref().map(ToString::to_string),
        file: artifact.file.clone(),
        sha256: artifact.wanted.sha256.map(hex::encode),
        policy_revision: dossier.revision,
        published_at: artifact.published_at,
        late: dossier.is_late(&artifact.candidate()),
        warning: match verdict {
            Verdict::Warn(objection) | Verdict::Advise(objection) => Some(grounds(objection)),
            Verdict::Allow | Verdict::Excused(_) | Verdict::Block(_) => None,
        },
        excuse: match verdict {
            Verdict::Excused(excuse) => Some(excused(excuse)),
            Verdict::Allow | Verdict::Warn(_) | Verdict::Advise(_) | Verdict::Block(_) => None,
        },
        profile: dossier.asked_under().map(str::to_owned),
        served: Some(match (&artifact.role, extent) {
            (Role::Beside, _) => Served::Beside,
            (Role::File | Role::Manifest { .. } | Role::Blob { .. }, Extent::Part) => Served::Part,
            (Role::File | Role::Manifest { .. } | Role::Blob { .. }, Extent::Whole) => {
                Served::Whole
            }
        }),
        document: document(artifact),
    }
}

/// A file is refused.
#[must_use]
pub fn blocked(artifact: &Artifact, dossier: &Dossier, objection: &Objection) -> PackageBlocked {
    PackageBlocked {
        ecosystem: dossier.ecosystem(),
        package: artifact.package.clone(),
        version: artifact.version.as_ref().map(ToString::to_string),
        file: artifact.file.clone(),
        source: objection.source.clone(),
        rule_id: objection.rule_id.clone(),
        reason: objection.reason.clone(),
        mask: objection.mask,
        policy_revision: dossier.revision,
        evidence: objection.cited.as_ref().map(|cited| Evidence {
            advisory_id: cited.id.clone(),
            class: cited.class,
            severity: cited.severity,
            hit: cited.hit.to_string(),
            digest: cited.digest.clone(),
            fixed_by: cited.fixed_by.clone(),
        }),
        published_at: artifact.published_at,
        late: dossier.is_late(&artifact.candidate()),
        profile: dossier.asked_under().map(str::to_owned),
        document: document(artifact),
    }
}

/// A package is not asked for, whatever is wanted of it.
#[must_use]
pub fn reserved(
    package: &str,
    what: &str,
    dossier: &Dossier,
    objection: &Objection,
) -> PackageBlocked {
    PackageBlocked {
        ecosystem: dossier.ecosystem(),
        package: package.to_owned(),
        version: None,
        file: what.to_owned(),
        source: objection.source.clone(),
        rule_id: None,
        reason: objection.reason.clone(),
        mask: objection.mask,
        policy_revision: dossier.revision,
        published_at: None,
        late: false,
        evidence: None,
        profile: dossier.asked_under().map(str::to_owned),
        // Nobody was asked for one.
        document: None,
    }
}

fn document(artifact: &Artifact) -> Option<String> {
    artifact.document.map(|digest| digest.to_hex().to_string())
}

fn grounds(objection: &Objection) -> Grounds {
    Grounds {
        source: objection.source.clone(),
        id: objection.id().to_owned(),
        reason: objection.reason.clone(),
    }
}

fn excused(excuse: &verdict::Excuse) -> Excuse {
    match excuse {
        verdict::Excuse::Waiver { id, objection } => {
            Excuse::Waiver { id: id.clone(), grounds: grounds(objection) }
        }
        verdict::Excuse::Fix { advisory } => Excuse::Fix { advisory: advisory.clone() },
    }
}
