//! Where the server programs are, and what to install when they are nowhere.
//!
//! Nothing is downloaded here.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::fault::{Doing as _, PostgresFault};
use super::layout::{Layout, default_data_dir};
use super::process;

/// The oldest major version with what Weir uses (`recovery_init_sync_method`).
const OLDEST_MAJOR: u32 = 14;
const VERSION_WITHIN: Duration = Duration::from_secs(20);

/// A folder with a server in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Binaries {
    pub(super) bindir: PathBuf,
    pub(super) major: u32,
}

/// Folders like `parent/prefix17/suffix`, one per major version.
type Family = (PathBuf, &'static str, &'static str);

/// The places a machine keeps server programs in, in the order they are asked.
#[derive(Debug, Default)]
pub(super) struct Places {
    pub(super) families: Vec<Family>,
    pub(super) pg_config: Option<PathBuf>,
    pub(super) path: Vec<PathBuf>,
    /// What `tools/up` fetched on a machine without a package.
    pub(super) fetched: Option<PathBuf>,
}

impl Places {
    #[expect(clippy::disallowed_methods, reason = "configuration is read here")]
    pub(super) fn of_this_machine() -> Self {
        let path = env::var_os("PATH").unwrap_or_default();
        Self {
            families: [
                ("/usr/lib/postgresql", "", "bin"),
                ("/usr", "pgsql-", "bin"),
                ("/usr/libexec", "postgresql", ""),
                ("/opt/homebrew/opt", "postgresql@", "bin"),
                ("/usr/local/opt", "postgresql@", "bin"),
                ("/Applications/Postgres.app/Contents/Versions", "", "bin"),
            ]
            .map(|(parent, prefix, suffix)| (PathBuf::from(parent), prefix, suffix))
            .into(),
            pg_config: Some(PathBuf::from("pg_config")),
            path: env::split_paths(&path).filter(|dir| dir.is_absolute()).collect(),
            fetched: Some(default_data_dir().join("postgres")),
        }
    }

    /// Every folder with both programs, the preferred one first.
    fn servers(&self) -> Vec<PathBuf> {
        let mut found: Vec<(u32, PathBuf)> = self.families.iter().flat_map(versions).collect();
        found.sort_by_key(|(version, _)| std::cmp::Reverse(*version));
        let mut found: Vec<PathBuf> = found.into_iter().map(|(_, dir)| dir).collect();
        found.extend(self.pg_config.as_deref().and_then(asked));
        found.extend(self.path.iter().filter_map(|dir| {
            // Some distributions link `initdb` into PATH and keep `postgres` beside its target.
            let initdb = dir.join("initdb").canonicalize().ok()?;
            Some(initdb.parent()?.to_owned())
        }));
        if let Some(fetched) = &self.fetched {
            let mut fetched: Vec<_> = versions(&(fetched.clone(), "", "native/bin")).collect();
            fetched.sort_by_key(|(version, _)| std::cmp::Reverse(*version));
            found.extend(fetched.into_iter().map(|(_, dir)| dir));
        }
        found.retain(|dir| holds_server(dir));
        found
    }
}

/// Finds the server for a cluster of major version `stored` (none yet: the newest one).
pub(super) fn find(
    configured: Option<&Path>,
    places: &Places,
    layout: &Layout,
    stored: Option<u32>,
) -> Result<Binaries, PostgresFault> {
    let servers = match configured {
        Some(dir) if holds_server(dir) => vec![dir.to_owned()],
        Some(dir) => {
            return Err(PostgresFault::NotFound {
                searched: format!("the configured `{}`", dir.display()),
                remedy: "name the folder that holds both, or leave it out to have it searched"
                    .to_owned(),
            });
        }
        None => places.servers(),
    };
    let Some(preferred) = servers.first() else {
        return Err(PostgresFault::NotFound {
            searched: "the usual folders, `pg_config --bindir` or PATH".to_owned(),
            remedy: remedy_here(),
        });
    };
    let first = inspect(preferred, layout)?;
    let Some(stored) = stored else { return check_age(first) };
    if first.major == stored {
        return check_age(first);
    }
    for dir in &servers[1..] {
        if let Some(other) = inspect(dir, layout).ok().filter(|other| other.major == stored) {
            return check_age(other);
        }
    }
    let Binaries { bindir, major: found } = first;
    Err(PostgresFault::WrongMajor { pgdata: layout.pgdata.clone(), stored, bindir, found })
}

fn check_age(binaries: Binaries) -> Result<Binaries, PostgresFault> {
    let Binaries { bindir, major: found } = binaries;
    if found < OLDEST_MAJOR {
        let (oldest, remedy) = (OLDEST_MAJOR, remedy_here());
        return Err(PostgresFault::TooOld { bindir, found, oldest, remedy });
    }
    Ok(Binaries { bindir, major: found })
}

/// Runs `postgres --version` as the account, which shows too that the account can run it.
fn inspect(bindir: &Path, layout: &Layout) -> Result<Binaries, PostgresFault> {
    let postgres = bindir.join("postgres");
    let mut command = process::server_command(&postgres, &layout.account);
    let ran = process::run(command.arg("--version"), None, VERSION_WITHIN);
    if let Err(error) = &ran
        && error.kind() == std::io::ErrorKind::PermissionDenied
    {
        return Err(PostgresFault::Unreachable {
            account: layout.account.name.clone(),
            closed: layout.account.first_closed(&postgres),
            path: postgres,
        });
    }
    let done = ran.doing("run", &postgres)?;
    match major_in(&done.output).filter(|_| done.success) {
        Some(major) => Ok(Binaries { bindir: bindir.to_owned(), major }),
        None => Err(PostgresFault::Failed {
            program: "postgres --version",
            pgdata: postgres,
            output: done.output,
        }),
    }
}

/// The major version in the answer of `postgres --version`: `postgres (PostgreSQL) 17.2 (…)`.
fn major_in(answer: &str) -> Option<u32> {
    let version = answer.split_once("(PostgreSQL) ")?.1;
    version.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

fn holds_server(dir: &Path) -> bool {
    dir.join("initdb").is_file() && dir.join("postgres").is_file()
}

fn versions((parent, prefix, suffix): &Family) -> impl Iterator<Item = (u32, PathBuf)> {
    fs::read_dir(parent).into_iter().flatten().filter_map(move |entry| {
        let entry = entry.ok()?;
        let name = entry.file_name();
        let version = name.to_str()?.strip_prefix(prefix)?;
        let version = version.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()?;
        Some((version, entry.path().join(suffix)))
    })
}

fn asked(pg_config: &Path) -> Option<PathBuf> {
    let done = process::run(Command::new(pg_config).arg("--bindir"), None, VERSION_WITHIN).ok()?;
    done.success.then(|| PathBuf::from(done.output))
}

fn remedy_here() -> String {
    remedy(env::consts::OS, &fs::read_to_string("/etc/os-release").unwrap_or_default())
}

/// What to type on this system, from the name of the system and its `os-release` file.
pub(super) fn remedy(os: &str, release: &str) -> String {
    let ids: Vec<&str> = release
        .lines()
        .filter_map(|line| line.strip_prefix("ID=").or_else(|| line.strip_prefix("ID_LIKE=")))
        .flat_map(|ids| ids.trim_matches('"').split(' '))
        .collect();
    let is = |names: &[&str]| names.iter().any(|name| ids.contains(name));
    let install = match os {
        "macos" => "brew install postgresql@17",
        "freebsd" => "pkg install postgresql17-server",
        _ if is(&["debian", "ubuntu"]) => "apt-get install postgresql",
        _ if is(&["alpine"]) => "apk add postgresql",
        _ if is(&["fedora", "rhel", "centos"]) => "dnf install postgresql-server",
        _ if is(&["arch"]) => "pacman -S postgresql",
        _ if is(&["suse", "opensuse"]) => "zypper install postgresql-server",
        _ => {
            return "install your system's package of the PostgreSQL server, or set \
                    WEIR_PG_BINDIR to the folder of its programs"
                .to_owned();
        }
    };
    format!("install it with `{install}`, or set WEIR_PG_BINDIR to the folder of its programs")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_read_from_what_distributions_print() {
        assert_eq!(major_in("postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)"), Some(15));
        assert_eq!(major_in("postgres (PostgreSQL) 19beta1"), Some(19));
        assert_eq!(major_in("sh: not found"), None);
    }

    #[test]
    fn every_system_is_told_its_own_package() {
        let told = |os, release| remedy(os, release);
        assert!(told("linux", "ID=debian\n").contains("`apt-get install postgresql`"));
        assert!(told("linux", "ID=linuxmint\nID_LIKE=\"ubuntu debian\"").contains("apt-get"));
        assert!(told("linux", "ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"").contains("dnf"));
        assert!(told("linux", "ID=alpine").contains("`apk add postgresql`"));
        assert!(told("macos", "").contains("`brew install postgresql@17`"));
        assert!(told("linux", "ID=gentoo").contains("WEIR_PG_BINDIR"));
    }

    #[test]
    fn the_newest_version_goes_first_and_only_folders_with_both_programs_count() {
        let root = tempfile::tempdir().unwrap();
        for (dir, programs) in [
            ("lib/9.6/bin", &["initdb", "postgres"][..]),
            ("lib/16/bin", &["initdb", "postgres"]),
            ("lib/17/bin", &["pg_config"]),
            ("opt/pg@18/bin", &["initdb", "postgres"]),
        ] {
            let dir = root.path().join(dir);
            fs::create_dir_all(&dir).unwrap();
            for program in programs {
                fs::write(dir.join(program), "").unwrap();
            }
        }
        let places = Places {
            families: vec![
                (root.path().join("lib"), "", "bin"),
                (root.path().join("opt"), "pg@", "bin"),
                (root.path().join("nowhere"), "", "bin"),
            ],
            ..Places::default()
        };
        let expected = ["opt/pg@18/bin", "lib/16/bin", "lib/9.6/bin"];
        assert_eq!(places.servers(), expected.map(|dir| root.path().join(dir)));
    }

    #[test]
    fn a_linked_initdb_in_path_leads_to_the_folder_of_its_target() {
        let root = tempfile::tempdir().unwrap();
        let (real, bin) = (root.path().join("libexec"), root.path().join("bin"));
        fs::create_dir_all(&real).unwrap();
        fs::create_dir_all(&bin).unwrap();
        fs::write(real.join("initdb"), "").unwrap();
        fs::write(real.join("postgres"), "").unwrap();
        std::os::unix::fs::symlink(real.join("initdb"), bin.join("initdb")).unwrap();
        let places = Places { path: vec![bin], ..Places::default() };
        assert_eq!(places.servers(), [real.canonicalize().unwrap()]);
    }
}
