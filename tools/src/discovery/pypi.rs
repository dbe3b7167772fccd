//! What pip uses: the environment, its configuration, and what it looks in when nobody configured
//! anything, in this order.

use super::{Named, Unknown, ask};
use crate::environment;

const INTERPRETERS: [&str; 2] = ["python3", "python"];
const ASK_MODEL: &str = "from pip._internal.models.index import PyPI; print(PyPI.simple_url)";

pub(super) async fn named() -> Result<Named, Unknown> {
    if let Some(address) = environment::var("PIP_INDEX_URL").filter(|named| !named.is_empty()) {
        return Ok(Named { address, by: "PIP_INDEX_URL".to_owned() });
    }
    let configured = |address| Named { address, by: "pip config get global.index-url".to_owned() };
    for interpreter in INTERPRETERS {
        let arguments = ["-m", "pip", "config", "get", "global.index-url"];
        if let Some(address) = ask(interpreter, &arguments).await {
            return Ok(configured(address));
        }
    }
    if let Some(address) = ask("pip", &["config", "get", "global.index-url"]).await {
        return Ok(configured(address));
    }
    for interpreter in INTERPRETERS {
        if let Some(address) = ask(interpreter, &["-c", ASK_MODEL]).await {
            return Ok(Named { address, by: format!("the pip of {interpreter}") });
        }
    }
    Err(Unknown::NoClient("pip"))
}
