//! Defaults, then the file, then `WEIR__SECTION__KEY`, then flags: each later layer wins, and every
//! value remembers which layer said it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Config;
use super::fault::{KeyFault, What, nearest};
use super::file::{Entry, Node};
use super::origin::Origin;

/// Keys of old that are read and ignored, with a warning.
const IGNORED: &[(&str, &str)] = &[(
    "database.path",
    "`database.path` means nothing here: Weir keeps its data in Postgres, see `database.url`",
)];

/// The configuration, layer by layer.
#[derive(Debug, Clone)]
pub(crate) struct Layers {
    tree: Value,
    config: Config,
    origins: BTreeMap<String, Said>,
    warnings: Vec<String>,
    faults: Vec<KeyFault>,
}

/// Who said a value, and how, before variables were put in.
#[derive(Debug, Clone)]
struct Said {
    origin: Origin,
    unexpanded: Option<String>,
}

/// A value on its way into a layer.
struct Given {
    value: Value,
    origin: Origin,
    /// The text with variables in it, shown instead of the value.
    unexpanded: Option<String>,
    /// Text from outside YAML: may stand for a number or a boolean.
    is_text: bool,
}

impl Layers {
    /// The defaults alone.
    pub(crate) fn new() -> Self {
        let config = Config::default();
        Self {
            // Serialising plain structs into a value has no way to fail.
            tree: serde_json::to_value(&config).unwrap_or_default(),
            config,
            origins: BTreeMap::new(),
            warnings: Vec::new(),
            faults: Vec::new(),
        }
    }

    /// Adds what a file says. `lookup` knows the variables of the environment.
    pub(crate) fn file(
        &mut self,
        name: &str,
        entries: &[Entry],
        lookup: &dyn Fn(&str) -> Option<String>,
    ) {
        self.section(name, "", entries, lookup);
    }

    fn section(
        &mut self,
        name: &str,
        above: &str,
        entries: &[Entry],
        lookup: &dyn Fn(&str) -> Option<String>,
    ) {
        for entry in entries {
            let key =
                if above.is_empty() { entry.key.clone() } else { format!("{above}.{}", entry.key) };
            let at = |line, column| Origin::File { path: name.to_owned(), line, column };
            let key_origin = at(entry.line, entry.column);
            match &entry.value {
                _ if !self.is_known(&key) => self.unknown(&key, key_origin),
                Node::Section(entries) if self.is_section(&key) => {
                    self.section(name, &key, entries, lookup);
                }
                // A section whose keys are all commented out.
                Node::Value(Value::Null) if self.is_section(&key) => {}
                _ if self.is_section(&key) => {
                    self.faults.push(KeyFault { key, origin: key_origin, what: What::NotASection });
                }
                Node::Section(_) => {
                    let what = What::Invalid("it is a value, not a section".to_owned());
                    self.faults.push(KeyFault { key, origin: key_origin, what });
                }
                Node::Value(value) => {
                    let origin = at(entry.value_line, entry.value_column);
                    match expand(value, lookup) {
                        Ok((value, unexpanded)) => {
                            let is_text = unexpanded.is_some();
                            self.set(&key, Given { value, origin, unexpanded, is_text });
                        }
                        Err(variable) => {
                            let what = What::Unset(variable);
                            self.faults.push(KeyFault { key, origin, what });
                        }
                    }
                }
            }
        }
    }

    /// Adds what a variable `WEIR__SECTION__KEY` says.
    pub(crate) fn variable(&mut self, name: &str, text: &str) {
        let path = name.trim_start_matches(crate::environment::OVERRIDE_PREFIX);
        let key = path.split("__").map(str::to_lowercase).collect::<Vec<_>>().join(".");
        self.text(&key, text, Origin::Environment(name.to_owned()));
    }

    /// Adds what a flag says.
    pub(crate) fn flag(&mut self, flag: &'static str, key: &str, text: &str) {
        self.text(key, text, Origin::Flag(flag));
    }

    fn text(&mut self, key: &str, text: &str, origin: Origin) {
        if !self.is_known(key) {
            self.unknown(key, origin);
        } else if self.is_section(key) {
            let what = What::Invalid("it is a section: name one of its keys".to_owned());
            self.faults.push(KeyFault { key: key.to_owned(), origin, what });
        } else {
            let value = Value::from(text);
            self.set(key, Given { value, origin, unexpanded: None, is_text: true });
        }
    }

    fn unknown(&mut self, key: &str, origin: Origin) {
        if let Some((_, warning)) = IGNORED.iter().find(|(ignored, _)| *ignored == key) {
            self.warnings.push(format!("{origin}: {warning}"));
            return;
        }
        let (above, last) = key.rsplit_once('.').unwrap_or(("", key));
        let siblings = self.at(above).and_then(Value::as_object);
        let near = siblings.and_then(|siblings| nearest(last, siblings.keys().map(String::as_str)));
        let near = near.map(|near| if above.is_empty() { near } else { format!("{above}.{near}") });
        // A key of another section, written at the wrong place?
        let near = near.or_else(|| {
            let keys = self.keys();
            keys.into_iter().find(|known| known.rsplit('.').next() == Some(last))
        });
        self.faults.push(KeyFault { key: key.to_owned(), origin, what: What::Unknown(near) });
    }

    /// Puts a value in its place if the whole configuration still holds with it.
    fn set(&mut self, key: &str, given: Given) {
        let mut tries = vec![given.value.clone()];
        if given.is_text
            && let Value::String(text) = &given.value
            && let Ok(read) = serde_json::from_str::<Value>(text)
            && !read.is_string()
        {
            tries.push(read);
        }
        let mut why = String::new();
        if let Some(c) = control(&given.value) {
            why = format!("it holds the control character U+{:04X}", u32::from(c));
            tries.clear();
        }
        for value in tries {
            let mut tree = self.tree.clone();
            if let Some(place) = place(&mut tree, key) {
                *place = value;
            }
            match serde_json::from_value::<Config>(tree.clone()) {
                Ok(config) => {
                    let Given { origin, unexpanded, .. } = given;
                    (self.tree, self.config) = (tree, config);
                    self.origins.insert(key.to_owned(), Said { origin, unexpanded });
                    return;
                }
                Err(fault) => why = fault.to_string(),
            }
        }
        // What came from a variable may be a secret: it is not repeated.
        if given.unexpanded.is_some() && control(&given.value).is_none() {
            "the value of the variable does not fit".clone_into(&mut why);
        }
        let what = What::Invalid(why);
        self.faults.push(KeyFault { key: key.to_owned(), origin: given.origin, what });
    }

    /// The configuration, unless something was wrong with a layer.
    pub(crate) fn finish(mut self) -> Result<Merged, Vec<KeyFault>> {
        if let Some(why) = self.config.nobodys_profile() {
            let key = "auth.loopback_profile".to_owned();
            let said = self.origins.get(&key);
            let origin = said.map_or(Origin::Default, |said| said.origin.clone());
            self.faults.push(KeyFault { key, origin, what: What::Invalid(why) });
        }
        if !self.faults.is_empty() {
            return Err(self.faults);
        }
        let keys = self.keys();
        let Self { tree, config, origins, warnings, .. } = self;
        let values = keys
            .into_iter()
            .map(|key| {
                let said = origins.get(&key);
                let unexpanded = said.and_then(|said| said.unexpanded.clone());
                let value = at(&tree, &key).cloned().unwrap_or_default();
                Shown {
                    value: shown(&key, value, unexpanded),
                    origin: said.map_or(Origin::Default, |said| said.origin.clone()),
                    key,
                }
            })
            .collect();
        Ok(Merged { config, values, warnings })
    }

    fn at(&self, key: &str) -> Option<&Value> {
        at(&self.tree, key)
    }

    fn is_known(&self, key: &str) -> bool {
        self.at(key).is_some()
    }

    fn is_section(&self, key: &str) -> bool {
        self.at(key).is_some_and(Value::is_object)
    }

    fn keys(&self) -> Vec<String> {
        let mut keys = Vec::new();
        leaves(&self.tree, "", &mut keys);
        keys
    }
}

/// The layers in one.
#[derive(Debug, Clone)]
pub(crate) struct Merged {
    pub(crate) config: Config,
    /// Every key with its value as it may be shown, in the order of the sections.
    pub(crate) values: Vec<Shown>,
    pub(crate) warnings: Vec<String>,
}

/// A key, its value without secrets, and who said it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Shown {
    pub(crate) key: String,
    pub(crate) value: Value,
    pub(crate) origin: Origin,
}

fn shown(key: &str, value: Value, unexpanded: Option<String>) -> Value {
    if let Some(text) = unexpanded {
        return text.into();
    }
    match value {
        Value::String(_) if key.ends_with("password") || key.ends_with("secret") => "…".into(),
        Value::String(text) => super::value::without_password(&text).into(),
        other => other,
    }
}

fn at<'a>(tree: &'a Value, key: &str) -> Option<&'a Value> {
    key.split('.').filter(|part| !part.is_empty()).try_fold(tree, |tree, part| tree.get(part))
}

fn place<'a>(tree: &'a mut Value, key: &str) -> Option<&'a mut Value> {
    key.split('.').try_fold(tree, |tree, part| tree.get_mut(part))
}

fn leaves(tree: &Value, above: &str, keys: &mut Vec<String>) {
    match tree {
        Value::Object(below) => {
            for (name, value) in below {
                let key = if above.is_empty() { name.clone() } else { format!("{above}.{name}") };
                leaves(value, &key, keys);
            }
        }
        _ => keys.push(above.to_owned()),
    }
}

/// The first control character of a value, at any depth. None means anything anywhere, and names of files
/// and hosts end at some.
fn control(value: &Value) -> Option<char> {
    match value {
        Value::String(text) => text.chars().find(|c| c.is_control()),
        Value::Array(all) => all.iter().find_map(control),
        Value::Object(all) => all.iter().find_map(|(key, value)| {
            key.chars().find(|c| c.is_control()).or_else(|| control(value))
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// Puts variables into a text: `${NAME}`. The text before is given back too, if there were any;
/// `Err` names a variable that is not set.
fn expand(
    value: &Value,
    lookup: &dyn Fn(&str) -> Option<String>,
) -> Result<(Value, Option<String>), String> {
    let Value::String(text) = value else { return Ok((value.clone(), None)) };
    let (mut out, mut rest, mut any) = (String::new(), text.as_str(), false);
    while let Some(at) = rest.find("${") {
        let (before, from) = rest.split_at(at);
        if let Some(literal) = before.strip_suffix('$') {
            out.push_str(literal);
            out.push_str("${");
            rest = &from[2..];
            continue;
        }
        out.push_str(before);
        let Some((name, after)) = from[2..].split_once('}') else {
            out.push_str(from);
            rest = "";
            break;
        };
        out.push_str(&lookup(name).ok_or_else(|| name.to_owned())?);
        (rest, any) = (after, true);
    }
    out.push_str(rest);
    Ok((out.into(), any.then(|| text.clone())))
}

#[cfg(test)]
mod tests;
