//! Writes a filtered packument in the form a client wants.
//!
//! What is not changed is copied as the upstream wrote it. In the full form that is everything but
//! the addresses of tarballs, the words of a mark, and what is left out; the abbreviated form
//! (`application/vnd.npm.install-v1+json`) has the members it is defined to have, each as it was
//! written, and `time` beside them, for clients that ask how old a version is.

use super::{
    document::{Dist, Document, Field, Release, Top},
    filter::{Fate, Filtered},
    negotiate::Form,
    span::{Member, Object, Span},
    tags::Repair,
};

/// Writes a packument for clients that know this registry by an address.
#[must_use]
pub fn render(document: &Document, filtered: &Filtered, form: Form, base: &str) -> String {
    let mut writer = Writer::new(document, filtered, base, document.text.len() + 1_024);
    match form {
        Form::Full => writer.full(),
        Form::Abbreviated => writer.abbreviated(),
    }
    writer.page
}

/// Writes one version as it stands in the full form.
#[must_use]
pub fn version(document: &Document, filtered: &Filtered, at: usize, base: &str) -> String {
    let mut writer = Writer::new(document, filtered, base, 4_096);
    if let (Some(release), Some(fate)) = (document.release(at), filtered.fates.get(at)) {
        writer.release(release, fate);
    }
    writer.page
}

struct Writer<'a> {
    document: &'a Document,
    filtered: &'a Filtered,
    text: &'a str,
    /// What the addresses of all tarballs begin with.
    tarballs: String,
    page: String,
}

/// What stands instead of a stretch of the text; an empty one is where something is added.
type Edit = (Span, String);

impl<'a> Writer<'a> {
    fn new(document: &'a Document, filtered: &'a Filtered, base: &str, n_bytes: usize) -> Self {
        let tarballs = format!("{base}/{}/-/", document.name);
        let page = String::with_capacity(n_bytes);
        Self { document, filtered, text: &document.text, tarballs, page }
    }

    fn copy(&mut self, span: Span) {
        self.page.push_str(span.of(self.text));
    }

    fn full(&mut self) {
        let document = self.document;
        let mut parts: Vec<_> = document
            .top
            .members
            .iter()
            .filter(|member| matches!(member.name, Top::Tags | Top::Versions | Top::Time))
            .collect();
        parts.sort_by_key(|member| member.value);
        let mut at = 0;
        for Member { name, value, .. } in parts {
            self.copy(Span::new(at, value.from));
            match name {
                Top::Tags => self.tags(*value),
                Top::Versions => self.versions(*value, Self::release),
                _ => self.time(*value),
            }
            at = value.to;
        }
        self.copy(Span::new(at, u32::try_from(self.text.len()).unwrap_or(at)));
    }

    fn abbreviated(&mut self) {
        let top = &self.document.top;
        let name = top.get(&Top::Name).map(|span| span.of(self.text).to_owned());
        let name = name.unwrap_or_else(|| quoted(self.document.name.as_str()));
        self.page.push_str("{\"name\":");
        self.page.push_str(&name);
        let said = self.document.time.as_ref().and_then(|time| time.get(&"modified".into()));
        if let Some(modified) = top.get(&Top::Modified).or(said) {
            self.page.push_str(",\"modified\":");
            self.copy(modified);
        }
        self.page.push_str(",\"dist-tags\":");
        match top.get(&Top::Tags) {
            Some(span) if self.document.tags.is_some() => self.tags(span),
            _ => self.page.push_str("{}"),
        }
        self.page.push_str(",\"versions\":");
        match top.get(&Top::Versions) {
            Some(span) if self.document.versions.is_some() => {
                self.versions(span, Self::short_release);
            }
            _ => self.page.push_str("{}"),
        }
        if let (Some(span), Some(_)) = (top.get(&Top::Time), &self.document.time) {
            self.page.push_str(",\"time\":");
            self.time(span);
        }
        self.page.push('}');
    }

    fn tags(&mut self, span: Span) {
        let (document, filtered) = (self.document, self.filtered);
        let Some(tags) = &document.tags else { return self.copy(span) };
        let repairs = &filtered.tags;
        let listed = |at: usize| repairs.get(at) != Some(&Repair::Drop);
        self.object(tags, listed, |writer, at, value| match repairs.get(at) {
            Some(Repair::To(version)) => {
                let version = document.release(*version).map(|release| release.version.as_str());
                writer.page.push_str(&quoted(version.unwrap_or_default()));
            }
            _ => writer.copy(value),
        });
    }

    fn versions(&mut self, span: Span, write: impl Fn(&mut Self, &Release, &Fate)) {
        let (document, filtered) = (self.document, self.filtered);
        let Some(versions) = &document.versions else { return self.copy(span) };
        let listed = |at: usize| filtered.fates.get(at).is_some_and(Fate::listed);
        self.object(versions, listed, |writer, at, _| {
            if let (Some(release), Some(fate)) = (document.release(at), filtered.fates.get(at)) {
                write(writer, release, fate);
            }
        });
    }

    fn time(&mut self, span: Span) {
        let (document, filtered) = (self.document, self.filtered);
        let Some(time) = &document.time else { return self.copy(span) };
        let listed = |at: usize| filtered.times.get(at).is_none_or(|stays| *stays);
        self.object(time, listed, |writer, _, value| writer.copy(value));
    }

    /// Writes those members of an object that stay.
    fn object<N>(
        &mut self,
        object: &Object<N>,
        stays: impl Fn(usize) -> bool,
        mut write: impl FnMut(&mut Self, usize, Span),
    ) {
        self.page.push('{');
        let mut first = true;
        for (at, Member { lead, value, .. }) in object.members.iter().enumerate() {
            if !stays(at) {
                continue;
            }
            let lead = lead.of(self.text);
            // The comma goes where nothing stands before it any more.
            let lead = if first && at > 0 { after_comma(lead) } else { lead };
            first = false;
            self.page.push_str(lead);
            write(self, at, *value);
        }
        self.copy(object.tail());
    }

    /// Writes a version as it was, but for what we say of it.
    fn release(&mut self, release: &Release, fate: &Fate) {
        let mut edits: Vec<Edit> = Vec::with_capacity(2);
        let mut added = Vec::new();
        match &release.dist {
            Some(dist) => edits.push(self.tarball_edit(dist, release, fate)),
            None => added.push(format!("\"dist\":{{\"tarball\":{}}}", self.tarball(release, fate))),
        }
        if let Fate::Mark(told) = fate {
            let words = quoted(&told.text);
            match release.fields.get(&Field::Deprecated) {
                Some(span) => edits.push((span, words)),
                None => added.push(format!("\"deprecated\":{words}")),
            }
        }
        if !added.is_empty() {
            let end = Span::new(release.fields.span.to - 1, release.fields.span.to - 1);
            let comma = if release.fields.empty { "" } else { "," };
            edits.push((end, format!("{comma}{}", added.join(","))));
        }
        self.edited(release.fields.span, edits);
    }

    /// Writes what the abbreviated form says of a version.
    fn short_release(&mut self, release: &Release, fate: &Fate) {
        self.page.push('{');
        let mut key = Keys { empty: true };
        for Member { name, value, .. } in &release.fields.members {
            if !name.abbreviated() {
                continue;
            }
            key.push(&mut self.page, *name);
            match (name, fate, &release.dist) {
                (Field::Deprecated, Fate::Mark(told), _) => self.page.push_str(&quoted(&told.text)),
                (Field::Dist, _, Some(dist)) => {
                    let edit = self.tarball_edit(dist, release, fate);
                    self.edited(*value, vec![edit]);
                }
                _ => self.copy(*value),
            }
        }
        let says = |field| release.fields.get(&field).is_some();
        if release.dist.is_none() {
            key.push(&mut self.page, Field::Dist);
            let tarball = self.tarball(release, fate);
            self.page.push_str("{\"tarball\":");
            self.page.push_str(&tarball);
            self.page.push('}');
        }
        if let Fate::Mark(told) = fate
            && !says(Field::Deprecated)
        {
            key.push(&mut self.page, Field::Deprecated);
            self.page.push_str(&quoted(&told.text));
        }
        if release.runs_scripts && !says(Field::HasInstallScript) {
            key.push(&mut self.page, Field::HasInstallScript);
            self.page.push_str("true");
        }
        self.page.push('}');
    }

    fn edited(&mut self, span: Span, mut edits: Vec<Edit>) {
        edits.sort_by_key(|(span, _)| *span);
        let mut at = span.from;
        for (span, words) in edits {
            self.copy(Span::new(at, span.from));
            self.page.push_str(&words);
            at = span.to;
        }
        self.copy(Span::new(at, span.to));
    }

    fn tarball_edit(&self, dist: &Object<Dist>, release: &Release, fate: &Fate) -> Edit {
        let tarball = self.tarball(release, fate);
        if let Some(span) = dist.get(&Dist::Tarball) {
            return (span, tarball);
        }
        let start = Span::new(dist.span.from + 1, dist.span.from + 1);
        let comma = if dist.empty { "" } else { "," };
        (start, format!("\"tarball\":{tarball}{comma}"))
    }

    /// Where we have the tarball of a version, in quotes. Nothing in it needs an escape.
    fn tarball(&self, release: &Release, fate: &Fate) -> String {
        let mut url = String::with_capacity(self.tarballs.len() + 256);
        url.push('"');
        url.push_str(&self.tarballs);
        if let Some(told) = fate.told() {
            url.push_str("blocked/");
            url.push_str(&told.step);
            url.push('/');
        }
        url.push_str(release.file.as_str());
        url.push('"');
        url
    }
}

/// The keys of an object on its way into a page.
struct Keys {
    empty: bool,
}

impl Keys {
    fn push(&mut self, page: &mut String, field: Field) {
        if !self.empty {
            page.push(',');
        }
        self.empty = false;
        page.push('"');
        page.push_str(field.name());
        page.push_str("\":");
    }
}

fn after_comma(lead: &str) -> &str {
    lead.split_once(',').map_or(lead, |(_, rest)| rest)
}

pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests;
