//! Where instances share lists of versions, if anywhere.

use weir_processors::registry::cache::redis::probe;

use super::Checked;
use crate::config::{Config, without_password};

pub(super) async fn check(config: &Config) -> Vec<Checked> {
    const WHAT: &str = "redis";
    let section = &config.cache.redis;
    let (Some(options), Some(url)) = (section.options(), &section.url) else { return Vec::new() };
    let shown = without_password(&url.0);
    // Without it everything goes on: nothing of this is wrong, only slower.
    let mut checked = vec![match probe(&options).await {
        Ok(()) => Checked::ok(WHAT, format!("{shown} answers")),
        Err(why) => Checked::warn(
            WHAT,
            format!("{shown} does not answer ({why}): each instance asks the upstream by itself"),
            "check cache.redis.url, and that the server runs and lets this user in",
        ),
    }];
    if config.server.secret.is_none() {
        checked.push(Checked::warn(
            WHAT,
            "lists are signed with the key of this data directory: instances with another directory \
             do not take them",
            "set server.secret to the same 64 hexadecimal digits on every instance",
        ));
    }
    checked
}
