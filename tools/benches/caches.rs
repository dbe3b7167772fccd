//! Plain caches of HTTP, each as its distribution has it: what an answer costs that nobody judges.

use std::{
    fs,
    net::SocketAddr,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use tokio::process::Command;

use crate::{Fault, report::Missing};

/// A program that the script has installed, or `Missing`.
pub(crate) fn installed(path: PathBuf, name: &str) -> Result<PathBuf, Fault> {
    if path.exists() { Ok(path) } else { Err(Missing(format!("{name} is not installed")).into()) }
}

/// A program of the system.
fn of_system(name: &str) -> Result<PathBuf, Fault> {
    let places = ["/usr/sbin", "/usr/local/sbin", "/usr/bin"];
    let mut places = places.into_iter().map(|place| Path::new(place).join(name));
    let program = places.find(|place| place.exists());
    Ok(program.ok_or_else(|| Missing(format!("{name} is not installed")))?)
}

/// nginx in front of an origin, with what it says cached in files.
pub(crate) fn nginx(folder: &Path, address: SocketAddr, origin: &str) -> Result<Command, Fault> {
    let program = of_system("nginx")?;
    let own = folder.display();
    let kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
    let paths = kinds.map(|kind| format!("  {kind}_temp_path {own}/{kind};\n")).concat();
    let user = if rustix::process::geteuid().is_root() { "user root;\n" } else { "" };
    let config = format!(
        "daemon off;\n{user}worker_processes auto;\npid {own}/pid;\nerror_log {own}/error.log;\n\
         events {{ worker_connections 1024; }}\n\
         http {{\n{paths}  access_log {own}/access.log;\n  sendfile on;\n  tcp_nopush on;\n  \
         keepalive_requests 100000000;\n  \
         proxy_cache_path {own}/cache levels=1:2 keys_zone=documents:10m max_size=1g;\n  \
         server {{\n    listen {address};\n    location / {{\n      proxy_pass {origin};\n      \
         proxy_http_version 1.1;\n      proxy_cache documents;\n      \
         proxy_cache_key \"$uri $http_accept\";\n      \
         proxy_ignore_headers Cache-Control Expires Vary Set-Cookie;\n      \
         proxy_cache_valid 200 1h;\n    }}\n  }}\n}}\n"
    );
    let file = folder.join("nginx.conf");
    fs::write(&file, config)?;
    let mut command = Command::new(program);
    command.arg("-c").arg(file).arg("-e").arg(folder.join("error.log")).arg("-p").arg(folder);
    Ok(command)
}

/// squid in front of an origin, with what it says cached in memory.
pub(crate) fn squid(
    folder: &Path,
    address: SocketAddr,
    origin: SocketAddr,
) -> Result<Command, Fault> {
    let program = of_system("squid")?;
    let own = folder.display();
    let (host, port) = (origin.ip(), origin.port());
    let config = format!(
        "http_port {address} accel defaultsite={host} no-vhost\n\
         cache_peer {host} parent {port} 0 no-query no-digest originserver name=origin\n\
         never_direct allow all\nhttp_access allow all\ncache_mem 64 MB\n\
         maximum_object_size_in_memory 4 MB\nmemory_cache_shared off\n\
         refresh_pattern . 1440 100% 1440\naccess_log stdio:{own}/access.log\n\
         cache_log {own}/cache.log\npid_filename {own}/pid\ncoredump_dir {own}\n\
         max_filedescriptors 1024\nclient_idle_pconn_timeout 10 minutes\n\
         shutdown_lifetime 1 second\n"
    );
    let file = folder.join("squid.conf");
    fs::write(&file, config)?;
    // Started by root, it works as somebody else.
    fs::set_permissions(folder, fs::Permissions::from_mode(0o777))?;
    let mut command = Command::new(program);
    command.arg("-N").arg("-f").arg(file);
    Ok(command)
}
