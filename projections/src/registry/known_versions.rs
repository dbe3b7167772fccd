//! Which versions are known here: those of which a file was delivered in full, to anybody. What is asked
//! of a person as new, and which names that look like others are used, goes by this and nothing else.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use sqlx::{PgConnection, Row};
use weir_events::{
    envelope::Recorded,
    kind::{Kind, Subsystem},
    registry::{Ecosystem, Event, FileDelivered, PackageAllowed},
};
use weir_log::database::Database;

use crate::{
    decode,
    engine::{ApplyFault, Kinds, Projection},
    query::{self, QueryFault},
};

/// The read model `registry.known_versions`.
#[derive(Debug)]
pub struct KnownVersions;

const VIEW: &str = "registry.known_versions";

const KNOWN: &str = "
    SELECT EXISTS (SELECT FROM registry.known_versions
        WHERE ecosystem = $1 AND package = $2 AND version = ANY ($3)) AS known";

/// Whether any of these versions of a package is known.
pub async fn any_is_known(
    database: &Database,
    ecosystem: Ecosystem,
    package: &str,
    versions: &[&str],
) -> Result<bool, QueryFault> {
    let query = sqlx::query(KNOWN).bind(ecosystem.as_str()).bind(package).bind(versions);
    let rows = query::rows(database, VIEW, query, |row| row.try_get("known")).await?;
    Ok(rows.into_iter().any(|known: bool| known))
}

const USED: &str = "
    SELECT EXISTS (SELECT FROM registry.known_versions
        WHERE ecosystem = $1 AND package = $2) AS known";

/// Whether anything of a package is known.
pub async fn is_known(
    database: &Database,
    ecosystem: Ecosystem,
    package: &str,
) -> Result<bool, QueryFault> {
    let query = sqlx::query(USED).bind(ecosystem.as_str()).bind(package);
    let rows = query::rows(database, VIEW, query, |row| row.try_get("known")).await?;
    Ok(rows.into_iter().any(|known: bool| known))
}

const KEEP: &str = "
    INSERT INTO known_versions (ecosystem, package, version)
    SELECT DISTINCT * FROM unnest($1::text[], $2::text[], $3::text[])
    ON CONFLICT (ecosystem, package, version) DO NOTHING";

/// What an event makes known.
fn known(event: Event) -> Option<FileDelivered> {
    match event {
        Event::FileDelivered(delivered) => Some(delivered),
        // From before deliveries were recorded: what was let through is as good as delivered.
        Event::PackageAllowed(PackageAllowed {
            ecosystem,
            package,
            version,
            file,
            served: None,
            ..
        }) => {
            let beside = [".metadata", ".asc"].iter().any(|suffix| file.ends_with(suffix));
            let version = if ecosystem == Ecosystem::Docker { Some(file.clone()) } else { version };
            (!beside).then_some(FileDelivered { ecosystem, package, version, file })
        }
        _ => None,
    }
}

impl Projection for KnownVersions {
    fn name(&self) -> &'static str {
        "known_versions"
    }

    fn version(&self) -> i32 {
        1
    }

    fn subsystem(&self) -> Subsystem {
        Subsystem::Registry
    }

    fn kinds(&self) -> Kinds {
        Kinds::These(&[Kind(0x4002), Kind(0x4040)])
    }

    fn ddl(&self) -> &'static str {
        include_str!("../../../migrations/registry/known_versions.sql")
    }

    fn tables(&self) -> &'static [&'static str] {
        &["known_versions"]
    }

    fn apply<'a>(
        &'a self,
        batch: &'a [Arc<Recorded>],
        tx: &'a mut PgConnection,
    ) -> BoxFuture<'a, Result<(), ApplyFault>> {
        Box::pin(async move {
            let (mut ecosystems, mut packages, mut versions) = (Vec::new(), Vec::new(), Vec::new());
            for event in decode::events::<Event>(batch) {
                let (_, event) = event?;
                let Some(FileDelivered { ecosystem, package, version, .. }) = known(event) else {
                    continue;
                };
                ecosystems.push(ecosystem.as_str());
                packages.push(package);
                versions.push(version.unwrap_or_default());
            }
            sqlx::query(KEEP).bind(ecosystems).bind(packages).bind(versions).execute(tx).await?;
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use weir_events::registry::Served;

    use super::*;

    #[test]
    fn what_was_let_through_is_known_only_where_no_delivery_was_ever_recorded() {
        let allowed = |ecosystem, file: &str, served| {
            known(Event::from(PackageAllowed {
                ecosystem,
                package: "six".to_owned(),
                version: Some("1.0".to_owned()),
                file: file.to_owned(),
                sha256: None,
                policy_revision: 0,
                published_at: None,
                late: false,
                warning: None,
                excuse: None,
                profile: None,
                served,
                document: None,
            }))
            .and_then(|known| known.version)
        };
        let (pypi, docker) = (Ecosystem::Pypi, Ecosystem::Docker);
        assert_eq!(allowed(pypi, "six.whl", None).as_deref(), Some("1.0"));
        assert_eq!(allowed(docker, "sha256:00", None).as_deref(), Some("sha256:00"));
        for (file, served) in [
            ("six.whl.metadata", None),
            ("six.tar.gz.asc", None),
            ("six.whl", Some(Served::Whole)),
            ("six.whl", Some(Served::Part)),
            ("six.whl.metadata", Some(Served::Beside)),
        ] {
            assert_eq!(allowed(pypi, file, served), None, "{file} {served:?}");
        }
    }
}
