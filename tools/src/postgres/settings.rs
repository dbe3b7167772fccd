//! What the private Postgres is told: no network, durable, and quiet about what it stores.

use std::fmt::Write as _;

use super::server::Address;

/// The one line of `pg_hba.conf`. The socket lies in a folder only the account and root may enter.
pub(super) const HBA: &str = "local all all trust\n";
/// What `postgresql.conf` ends with; `ALTER SYSTEM` still goes over it.
pub(super) const INCLUDE: &str = "\ninclude 'weir.conf'\n";

const FIXED: &[(&str, &str)] = &[
    ("listen_addresses", ""),
    ("unix_socket_permissions", "0700"),
    ("cluster_name", "weir"),
    ("timezone", "UTC"),
    ("max_connections", "200"),
    ("shared_buffers", "256MB"),
    ("max_wal_size", "4GB"),
    ("wal_compression", "on"),
    ("jit", "off"),
    ("idle_in_transaction_session_timeout", "60s"),
    // An acknowledged event is on disk.
    ("fsync", "on"),
    ("full_page_writes", "on"),
    ("synchronous_commit", "on"),
    // Standard error is Weir's log. Statements and row contents stay out of it.
    ("logging_collector", "off"),
    ("log_destination", "stderr"),
    ("log_line_prefix", ""),
    ("log_timezone", "UTC"),
    ("log_error_verbosity", "terse"),
    ("log_min_error_statement", "panic"),
];

/// The text of `weir.conf` for a server at `address`.
pub(super) fn text(address: &Address) -> String {
    let mut text = String::from(
        "# Written by Weir at every start. Change settings with ALTER SYSTEM instead.\n",
    );
    let mut set = |name: &str, value: &str| {
        let _infallible = writeln!(text, "{name} = '{}'", value.replace('\'', "''"));
    };
    for (name, value) in FIXED {
        set(name, value);
    }
    set("unix_socket_directories", &address.socket_dir.to_string_lossy());
    set("port", &address.port.to_string());
    if cfg!(target_os = "linux") {
        // After a crash: one system call instead of opening every file of the cluster.
        set("recovery_init_sync_method", "syncfs");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_cannot_break_out_of_their_quotes() {
        let address = Address { socket_dir: "/it's/here".into(), port: 5432 };
        let text = text(&address);
        assert!(text.contains("unix_socket_directories = '/it''s/here'\n"), "{text}");
        assert!(text.lines().skip(1).all(|line| line.matches('\'').count() % 2 == 0), "{text}");
    }
}
