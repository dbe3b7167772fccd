//! `weir agent sign`: a request as JSON in, the same signed out. What it leaves out is filled in.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use ed25519_dalek::SigningKey;
use serde_json::{Map, Value};
use weir_events::web::request::{AgentId, Hash256, Message, PortalRequest, Signature};
use weir_processors::web::signature::sign;

use super::key;
use crate::cli::ServerArgs;
use crate::client::Client;
use crate::context::Context;
use crate::exit::{EndsWith as _, Exit, Failure};
use crate::runtime;

/// The longest request that is read: the longest body in base64, and all that is around it.
const MAX_BYTES: u64 = 2 << 20;

#[derive(Debug, Args)]
pub(crate) struct SignArgs {
    /// The request as JSON, or `-` for standard input: `url`, `method`, `purpose`, and what else it
    /// needs. A fresh `id`, the `agent` and the `tick` are filled in
    #[arg(default_value = "-")]
    request: PathBuf,
    /// The file of the agent's secret key
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// The tick it is signed in [default: the server's, where the request has none]
    #[arg(long)]
    tick: Option<u64>,
    /// Write the envelope as it is sent to `POST /api/messages`, in bytes, and no JSON
    #[arg(long)]
    envelope: bool,
    #[command(flatten)]
    server: ServerArgs,
}

pub(super) fn run(context: &Context, args: &SignArgs) -> Result<Exit, Failure> {
    let key = key::read(&args.key)?;
    let mut draft = draft(&read(&args.request)?)?;
    if let Some(tick) = args.tick {
        draft.insert("tick".to_owned(), tick.into());
    }
    if draft.contains_key("tick") {
        return finish(context, args, draft, &key);
    }
    let client = Client::new(context, &args.server)?;
    runtime::run(async {
        let now = client.get("api/nexus", &[]).await?;
        draft.insert("tick".to_owned(), now["tick"].clone());
        finish(context, args, draft, &key)
    })
}

fn finish(
    context: &Context,
    args: &SignArgs,
    draft: Map<String, Value>,
    key: &SigningKey,
) -> Result<Exit, Failure> {
    let signed = signed(draft, key, rand::random())?;
    if args.envelope {
        let bytes = Message::Request(Box::new(signed)).encode()?;
        let mut out = io::stdout().lock();
        out.write_all(&bytes).and_then(|()| out.flush()).ends_with(Exit::Failed)?;
        return Ok(Exit::Done);
    }
    let pretty = serde_json::to_string_pretty(&signed)?;
    context.output.data(&signed, || pretty)?;
    Ok(Exit::Done)
}

fn draft(text: &[u8]) -> Result<Map<String, Value>, Failure> {
    let unreadable = |why: String| Failure::new(Exit::Usage, format!("this is no request: {why}"));
    match serde_json::from_slice(text) {
        Ok(Value::Object(draft)) => Ok(draft),
        Ok(_) => Err(unreadable("it is JSON, but no object".to_owned())),
        Err(fault) => Err(unreadable(fault.to_string())),
    }
}

/// The request of a draft, signed; `id` is for one that has none.
pub(super) fn signed(
    mut draft: Map<String, Value>,
    key: &SigningKey,
    id: [u8; 32],
) -> Result<PortalRequest, Failure> {
    let agent = AgentId::of_key(&key::public(key)).to_string();
    let named = draft.entry("agent").or_insert_with(|| agent.as_str().into());
    if *named != agent.as_str() {
        let words = format!("the request is of agent {named}, and the key is of agent {agent}");
        return Err(Failure::new(Exit::Usage, words));
    }
    draft.entry("id").or_insert_with(|| Hash256::new(id).to_string().into());
    draft.entry("method").or_insert_with(|| "GET".into());
    let unsigned = Signature::new([0; Signature::LEN]).to_string();
    draft.insert("signature".to_owned(), unsigned.into());
    let request: PortalRequest = serde_json::from_value(Value::Object(draft))
        .map_err(|fault| Failure::new(Exit::Usage, format!("this is no request: {fault}")))?;
    request.check_shape().ends_with(Exit::Usage)?;
    Ok(sign(request, key)?)
}

fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    let mut text = Vec::new();
    if file == Path::new("-") {
        io::stdin().lock().take(MAX_BYTES + 1).read_to_end(&mut text)?;
    } else {
        let opened = File::open(file).map_err(|fault| {
            let missing = fault.kind() == io::ErrorKind::NotFound;
            let exit = if missing { Exit::NotFound } else { Exit::Failed };
            Failure::new(exit, format!("could not read `{}`: {fault}", file.display()))
        })?;
        opened.take(MAX_BYTES + 1).read_to_end(&mut text)?;
    }
    if text.len() as u64 > MAX_BYTES {
        return Err(Failure::new(Exit::Usage, format!("a request has at most {MAX_BYTES} bytes")));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use weir_processors::web::signature::check_signature;

    use super::*;

    fn of(draft: Value) -> Result<PortalRequest, Failure> {
        let Value::Object(draft) = draft else { panic!("no object") };
        signed(draft, &SigningKey::from_bytes(&[1; 32]), [9; 32])
    }

    #[test]
    fn what_a_draft_leaves_out_is_filled_in_and_signed() {
        let key = SigningKey::from_bytes(&[1; 32]);
        let draft = json!({ "url": "https://docs.rs/", "purpose": "learn", "tick": 7 });
        let request = of(draft).unwrap();
        assert_eq!((request.id, request.tick), (Hash256::new([9; 32]), 7));
        assert_eq!(request.agent, AgentId::of_key(&key::public(&key)));
        assert!(check_signature(&request, &key.verifying_key()).is_ok());
        // What is signed already is signed anew, and is the same again.
        let again = of(serde_json::to_value(&request).unwrap()).unwrap();
        assert_eq!(again, request);
    }

    #[test]
    fn what_cannot_be_signed_says_why() {
        for (draft, why) in [
            (json!({ "purpose": "learn", "tick": 7 }), "`url`"),
            (json!({ "url": "https://x/", "purpose": "", "tick": 7 }), "`purpose` is empty"),
            (json!({ "url": "https://x/", "purpose": "y", "tick": -1 }), "-1"),
            (json!({ "agent": "00", "url": "https://x/", "tick": 7 }), "the key is of agent"),
            (json!({ "url": "https://x/", "purpose": "y", "tick": 7, "x": 1 }), "`x`"),
        ] {
            let refused = of(draft).unwrap_err();
            assert_eq!(refused.exit, Exit::Usage);
            assert!(refused.message.contains(why), "{} lacks {why}", refused.message);
        }
        assert!(draft(b"[]").is_err() && draft(b"{").is_err());
    }
}
