//! What npm uses: the environment, else what npm itself says, its own default included.

use super::{Named, Unknown, ask};
use crate::environment;

/// npm reads its variables in any case; these two are the ones people write.
const VARIABLES: [&str; 2] = ["npm_config_registry", "NPM_CONFIG_REGISTRY"];

pub(super) async fn named() -> Result<Named, Unknown> {
    for name in VARIABLES {
        if let Some(address) = environment::var(name).filter(|named| !named.is_empty()) {
            return Ok(Named { address, by: name.to_owned() });
        }
    }
    let address = ask("npm", &["config", "get", "registry"]).await;
    let address = address.ok_or(Unknown::NoClient("npm"))?;
    Ok(Named { address, by: "npm config get registry".to_owned() })
}
