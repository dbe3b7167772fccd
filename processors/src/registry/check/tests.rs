use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};
use weir_aggregates::{
    machine::Machine as _,
    registry::seen::{Seen, State, Watching},
};
use weir_events::registry::{Mask, sighting::VersionsSeen};

use super::*;
use crate::registry::testing::{aged, dossier, rule_of};

/// What a text names: the components, and what is not judged with why, each as one line.
fn listed(kind: Kind, text: &str) -> (Vec<String>, Vec<String>) {
    assert_eq!(Kind::of(text), Some(kind), "its content tells its kind");
    let (told, listing) = read(None, text).unwrap();
    assert_eq!(told, kind);
    let component = |it: &Component| format!("{} {} {}", it.ecosystem, it.package, it.version);
    let components = listing.components().map(|(it, _)| component(it)).collect();
    let unjudged = listing.unjudged().map(|it| format!("{}: {}", it.entry, it.reason)).collect();
    (components, unjudged)
}

const NOT_OF_REGISTRY: &str = "it does not come from a registry";

fn fault(kind: Kind, text: &str) -> String {
    read(Some(kind), text).unwrap_err().to_string()
}

#[test]
fn a_package_url_is_read_as_its_specification_has_it() {
    for (text, ecosystem, package, version) in [
        ("pkg:npm/%40angular/core@12.3.1", Ecosystem::Npm, "@angular/core", Some("12.3.1")),
        ("pkg:npm/@angular/core@12.3.1", Ecosystem::Npm, "@angular/core", Some("12.3.1")),
        ("pkg:npm/@angular/core", Ecosystem::Npm, "@angular/core", None),
        ("PKG:PyPI/Django@1.11.1?file=x#sub/path", Ecosystem::Pypi, "Django", Some("1.11.1")),
        ("pkg:cargo/serde@1.0.0%2Bx", Ecosystem::Cargo, "serde", Some("1.0.0+x")),
        ("pkg://npm//left-pad@", Ecosystem::Npm, "left-pad", None),
        (
            "pkg:golang/github.com/Azure/go-autorest@v14.2.0%2Bincompatible#x",
            Ecosystem::Go,
            "github.com/Azure/go-autorest",
            Some("v14.2.0+incompatible"),
        ),
        (
            "pkg:docker/library/nginx@sha256%3A0a1b?tag=1",
            Ecosystem::Docker,
            "library/nginx",
            Some("sha256:0a1b"),
        ),
    ] {
        let purl = Purl::parse(text).unwrap();
        let read = (purl.ecosystem, &*purl.package, purl.version.as_deref());
        assert_eq!(read, (ecosystem, package, version), "{text}");
    }
    for (text, words) in [
        ("", "it is no package URL: no `pkg:`"),
        ("npm/left-pad@1", "it is no package URL: no `pkg:`"),
        ("pkg:npm", "it is no package URL: no name"),
        ("pkg:npm/", "it is no package URL: no name"),
        ("pkg:npm/a%ff@1", "it is no package URL: a part is not UTF-8"),
        ("pkg:maven/org.a/b@1", "packages of type `maven` are not known here"),
        (
            "pkg:oci/debian@sha256:0",
            "an image by the address of its repository cannot be told from here",
        ),
        (
            "pkg:docker/a@1?repository_url=b.example",
            "an image by the address of its repository cannot be told from here",
        ),
    ] {
        assert_eq!(Purl::parse(text).unwrap_err().to_string(), words, "{text}");
    }
    let mut listing = Listing::default();
    for text in ["pkg:pypi/Django@2", "pkg:pypi/django@2", "pkg:pypi/six", "pkg:npm/a%0ab@1"] {
        listing.purl(text).unwrap();
    }
    assert_eq!(listing.len(), 1);
    let reasons: Vec<_> = listing.unjudged().map(|it| (&*it.entry, &*it.reason)).collect();
    let odd = ("a\u{fffd}b@1", "no package of npm can have this name");
    assert_eq!(reasons, [odd, ("pkg:pypi/six", "it names no version")]);
}

#[test]
fn each_version_of_package_locks_is_read() {
    let flat = json!({"lockfileVersion": 3, "packages": {
        "": {"name": "me", "version": "1.0.0", "dependencies": {"a": "^1"}},
        "folder": {"version": "1.0.0"},
        "node_modules/folder": {"resolved": "folder", "link": true},
        "node_modules/a": {"version": "1.2.0", "resolved": "https://registry.example/a/-/a-1.2.0.tgz"},
        "node_modules/a/node_modules/@s/b": {"version": "2.0.0"},
        "node_modules/alias": {"name": "real", "version": "3.0.0", "resolved": "https://r.example/x"},
        "node_modules/git": {"version": "1.0.0", "resolved": "git+ssh://git@host.example/x.git#0"},
        "node_modules/odd": {"resolved": false},
    }});
    let (components, unjudged) = listed(Kind::PackageLock, &flat.to_string());
    assert_eq!(components, ["npm @s/b 2.0.0", "npm a 1.2.0", "npm real 3.0.0"]);
    assert_eq!(
        unjudged,
        [
            "folder: a folder of the project".to_owned(),
            "node_modules/folder: a link to a folder of the project".to_owned(),
            format!("node_modules/git (git+ssh://git@host.example/x.git#0): {NOT_OF_REGISTRY}"),
            "node_modules/odd: it names no version".to_owned(),
        ]
    );
    let tree = json!({"lockfileVersion": 1, "dependencies": {
        "A": {"version": "1.0.0", "bundled": true, "requires": {"b": "1"}, "dependencies": {
            "b": {"version": "npm:@s/real@2.0.0"}}},
        "c": {"version": "git+https://host.example/c.git#0"},
        "d": {"version": "file:../d"},
    }});
    let (components, unjudged) = listed(Kind::PackageLock, &tree.to_string());
    assert_eq!(components, ["npm @s/real 2.0.0", "npm a 1.0.0"]);
    assert_eq!(unjudged.len(), 2, "{unjudged:?}");
    // What npm goes by counts, where both are there.
    let mut both = flat;
    both["dependencies"] = tree["dependencies"].clone();
    assert_eq!(listed(Kind::PackageLock, &both.to_string()).0.len(), 3);
    assert_eq!(listed(Kind::PackageLock, r#"{"lockfileVersion":3}"#), (vec![], vec![]));
    for bad in ["", "{", "[]", r#"{"lockfileVersion":3,"packages":[]}"#] {
        assert!(fault(Kind::PackageLock, bad).contains("no package-lock file"), "{bad}");
    }
    let deep = format!("{}{}", r#"{"dependencies":{"a":"#.repeat(9_000), "1");
    assert!(
        fault(Kind::PackageLock, &deep).contains("recursion"),
        "{}",
        fault(Kind::PackageLock, &deep)
    );
}

#[test]
fn lock_files_of_every_yarn_are_read() {
    let classic = "# THIS IS AN AUTOGENERATED FILE. DO NOT EDIT THIS FILE DIRECTLY.\n# yarn lockfile v1\n\n\n\
        \"@s/b@^1.0.0\", \"@s/b@>=1, <2\", c@latest:\n  version \"1.4.0\"\n  resolved \"https://r.example/b.tgz#0\"\n  \
        dependencies:\n    version \"9.9.9\"\n\n\
        alias@npm:real@^2:\n  version \"2.1.0\"\n\n\"d@git+https://host.example/d.git\":\n  version \"0.1.0\"\n\
        e@user/e:\n  version \"1.0.0\"\nnoversion@1:\n  resolved \"x\"\n";
    let (components, unjudged) = listed(Kind::Yarn, classic);
    assert_eq!(components, ["npm @s/b 1.4.0", "npm c 1.4.0", "npm real 2.1.0"]);
    assert_eq!(
        unjudged,
        [
            format!("d@git+https://host.example/d.git: {NOT_OF_REGISTRY}"),
            format!("e@user/e: {NOT_OF_REGISTRY}"),
            "noversion@1: it names no version".to_owned(),
        ]
    );
    let conflict = "# yarn lockfile v1\na@1:\n  version \"1.0.0\"\n<<<<<<< HEAD\n";
    assert!(fault(Kind::Yarn, conflict).contains("line 4: no entry begins so"));
    assert!(fault(Kind::Yarn, "  version \"1\"\n").contains("line 1: it belongs to no entry"));
    assert!(fault(Kind::Yarn, "\"a@1:\n").contains("line 1: a quote is never closed"));

    let berry = "# This file is generated by running \"yarn install\"\n\n__metadata:\n  version: 8\n  cacheKey: 10c0\n\n\
        \"@s/b@npm:^1.0.0, @s/b@npm:^1.2.0\":\n  version: 1.4.0\n  resolution: \"@s/b@npm:1.4.0\"\n  \
        dependencies:\n    c: \"npm:^2\"\n  checksum: 10c0/00\n  languageName: node\n  linkType: hard\n\n\
        \"c@patch:c@npm%3A2.0.0#~/.yarn/p\":\n  version: 2.0.0\n  resolution: \"c@patch:c@npm%3A2.0.0#~/.yarn/p::version=2.0.0&hash=1\"\n\n\
        \"d@npm:1\":\n  version: 1.0.0\n  resolution: \"d@npm:1.0.0::__archiveUrl=https%3A%2F%2Fr.example\"\n\n\
        \"me@workspace:.\":\n  version: 0.0.0-use.local\n  resolution: \"me@workspace:.\"\n\n\
        \"g@https://host.example/g.git\":\n  version: 1.0.0\n  resolution: \"g@https://host.example/g.git#commit=0\"\n";
    let (components, unjudged) = listed(Kind::Yarn, berry);
    assert_eq!(components, ["npm @s/b 1.4.0", "npm c 2.0.0", "npm d 1.0.0"]);
    assert_eq!(
        unjudged,
        [
            format!("g@https://host.example/g.git#commit=0: {NOT_OF_REGISTRY}"),
            "me@workspace:.: a folder of the project".to_owned(),
        ]
    );
    let nested = "__metadata:\n  version: 8\n\"c@x\":\n  resolution: \"c@patch:c@patch:c#x\"\n";
    assert_eq!(listed(Kind::Yarn, nested).1, ["c@x: it cannot be told what is patched"]);
}

#[test]
fn lock_files_of_pnpm_are_read() {
    let five = "lockfileVersion: 5.4\n\nspecifiers:\n  a: ^1\n\npackages:\n\n  /@s/b/1.0.0_peer@1.0.0:\n    \
        resolution: {integrity: sha512-x}\n    dev: false\n\n  /a/1.2.0:\n    resolution: {integrity: sha512-x}\n\n  \
        github.com/user/r/0123:\n    resolution: {tarball: https://host.example/x}\n";
    let elsewhere = |entry: &str| vec![format!("{entry}: {NOT_OF_REGISTRY}")];
    let (components, unjudged) = listed(Kind::Pnpm, five);
    assert_eq!(components, ["npm @s/b 1.0.0", "npm a 1.2.0"]);
    assert_eq!(unjudged, elsewhere("github.com/user/r/0123"));
    let six = "lockfileVersion: '6.0'\npackages:\n  /@s/b@1.0.0(p@1.0.0)(q@2.0.0):\n    dev: true\n  \
        /a@1.2.0:\n    dev: false\n  file:../x:\n    name: x\n";
    let (components, unjudged) = listed(Kind::Pnpm, six);
    assert_eq!(components, ["npm @s/b 1.0.0", "npm a 1.2.0"]);
    assert_eq!(unjudged, elsewhere("file:../x"));
    let nine = "lockfileVersion: '9.0'\n\nimporters:\n  .:\n    dependencies:\n      a:\n        specifier: ^1\n        \
        version: 1.2.0\n\npackages:\n\n  '@s/b@1.0.0':\n    resolution: {integrity: sha512-x}\n\n  a@1.2.0:\n    \
        resolution: {integrity: sha512-x}\n\n  g@https://host.example/g:\n    resolution: {tarball: https://host.example/g}\n\n\
        snapshots:\n\n  '@s/b@1.0.0(a@1.2.0)': {}\n\n  a@1.2.0: {}\n";
    let (components, unjudged) = listed(Kind::Pnpm, nine);
    assert_eq!(components, ["npm @s/b 1.0.0", "npm a 1.2.0"]);
    assert_eq!(unjudged, elsewhere("g@https://host.example/g"));
    let two =
        format!("---\n{nine}\n---\nlockfileVersion: '9.0'\npackages:\n  pnpm@10.0.0:\n    x: y\n");
    assert_eq!(listed(Kind::Pnpm, &two).0.len(), 3);
    assert!(fault(Kind::Pnpm, "packages:\n  a@1: {}\n").contains("it has no lockfileVersion"));
    assert!(fault(Kind::Pnpm, "lockfileVersion: 9\npackages:\n\t- x\n").contains("line 3"));
    assert!(read(Some(Kind::Pnpm), "lockfileVersion: &a 9\nx: [*a, *a]\n").is_err());
}

#[test]
fn lock_files_in_toml_are_read() {
    let cargo = "# This file is automatically @generated by Cargo.\nversion = 4\n\n[[package]]\nname = \"me\"\nversion = \"0.1.0\"\n\
        dependencies = [\n \"serde_json\",\n]\n\n[[package]]\nname = \"serde_json\"\nversion = \"1.0.1\"\n\
        source = \"registry+https://index.example\"\nchecksum = \"00\"\n\n[[package]]\nname = \"s\"\nversion = \"1.0.0\"\n\
        source = \"sparse+https://index.example/\"\n\n[[package]]\nname = \"g\"\nversion = \"0.2.0\"\nsource = \"git+https://host.example/g#0\"\n";
    let (components, unjudged) = listed(Kind::Cargo, cargo);
    assert_eq!(components, ["cargo s 1.0.0", "cargo serde-json 1.0.1"]);
    let folder = "me@0.1.0: a folder of the project".to_owned();
    assert_eq!(unjudged, [format!("g@0.2.0: {NOT_OF_REGISTRY}"), folder.clone()]);

    let uv = "version = 1\nrevision = 3\nrequires-python = \">=3.12\"\n\n[[package]]\nname = \"me\"\nversion = \"0.1.0\"\n\
        source = { virtual = \".\" }\n\n[[package]]\nname = \"six\"\nversion = \"1.17.0\"\nsource = { registry = \"https://index.example/simple\" }\n\
        sdist = { url = \"https://x.example/s\", hash = \"sha256:0\", upload-time = \"2024-12-04T17:35:28.174Z\" }\n\
        wheels = [\n    { url = \"https://x.example/w\", upload-time = \"2024-12-04T17:35:26.475Z\" },\n]\n\n\
        [[package]]\nname = \"old\"\nversion = \"1.0\"\nsource = { registry = \"x\" }\nwheels = [{ url = \"https://x.example/w\" }]\n\n\
        [[package]]\nname = \"g\"\nversion = \"0.2.0\"\nsource = { git = \"https://host.example/g\" }\n";
    let (components, unjudged) = listed(Kind::Uv, uv);
    assert_eq!(components, ["pypi old 1.0", "pypi six 1.17.0"]);
    assert_eq!(unjudged, [format!("g@0.2.0: {NOT_OF_REGISTRY}"), folder]);
    let (_, listing) = read(Some(Kind::Uv), uv).unwrap();
    let dates: Vec<_> =
        listing.components().map(|(_, at)| at.map(|at| at.published_at.to_string())).collect();
    assert_eq!(dates, [None, Some("2024-12-04T17:35:28.174Z".to_owned())]);
    let late = |uv: &str| {
        let (_, listing) = read(Some(Kind::Uv), uv).unwrap();
        listing.components().any(|(_, dated)| dated.is_some_and(|dated| dated.late))
    };
    assert!(!late(uv) && late(&uv.replace("2024-12-04T17:35:26", "2023-12-04T17:35:26")));

    let poetry = "# This file is automatically @generated by Poetry 2.1\n\n[[package]]\nname = \"Six\"\nversion = \"1.17.0\"\n\
        files = [\n    {file = \"six.whl\", hash = \"sha256:0\"},\n]\n\n[[package]]\nname = \"other\"\nversion = \"1\"\n\n[package.source]\ntype = \"legacy\"\n\
        url = \"https://index.example\"\n\n[[package]]\nname = \"g\"\nversion = \"0.2.0\"\n\n[package.source]\ntype = \"git\"\n\n\
        [[package]]\nname = \"me\"\nversion = \"0.1.0\"\n\n[package.source]\ntype = \"directory\"\n\n\
        [metadata]\nlock-version = \"2.1\"\ncontent-hash = \"0\"\n";
    let (components, unjudged) = listed(Kind::Poetry, poetry);
    assert_eq!(components, ["pypi other 1", "pypi six 1.17.0"]);
    assert_eq!(unjudged.len(), 2, "{unjudged:?}");

    assert!(fault(Kind::Cargo, "[[package]]\nname = \"a\"\n<<<<<<<\n").contains("line 3"));
    assert!(fault(Kind::Cargo, "[[package]]\nversion = \"1\"\n").contains("a package has no name"));
    assert!(fault(Kind::Cargo, "package = 1\n").contains("`package` is no list"));
    assert!(fault(Kind::Cargo, "package = [1]\n").contains("a package is no table"));
    let deep = format!("a = {}", "[".repeat(1 << 20));
    assert!(fault(Kind::Uv, &deep).contains("depth"), "{}", fault(Kind::Uv, &deep));
}

#[test]
fn a_requirement_is_judged_where_it_leaves_one_version_only() {
    let text = "# by hand\n--index-url https://index.example/simple\nDjango==4.2.1 \\\n    --hash=sha256:00 \\\n    --hash=sha256:11\n\
        requests[socks,x] == 2.31.0 ; python_version >= \"3.8\" # why\n    # via x\nsix===1.16.0\nzope.interface (==5.0)\nboth>=1,==1.2\n\
        loose>=1\nwild==1.*\nbare\n-r other.txt\n-e ./me\nx @ https://host.example/x.whl\n./wheels/y.whl\nhttps://host.example/z#egg=z\nlast==1.0 \\\n";
    let (components, unjudged) = listed(Kind::Requirements, text);
    assert_eq!(
        components,
        [
            "pypi both 1.2",
            "pypi django 4.2.1",
            "pypi last 1.0",
            "pypi requests 2.31.0",
            "pypi six 1.16.0",
            "pypi zope-interface 5.0"
        ]
    );
    let unpinned = "it is not pinned to one version";
    assert_eq!(
        unjudged,
        [
            "-e ./me: a folder of the project".to_owned(),
            "-r other.txt: another file; check it by itself".to_owned(),
            format!("./wheels/y.whl: {NOT_OF_REGISTRY}"),
            format!("bare: {unpinned}"),
            format!("https://host.example/z#egg=z: {NOT_OF_REGISTRY}"),
            format!("loose>=1: {unpinned}"),
            format!("wild==1.*: {unpinned}"),
            format!("x @ https://host.example/x.whl: {NOT_OF_REGISTRY}"),
        ]
    );
}

#[test]
fn what_go_requires_and_what_replaces_it_is_read() {
    let sum = "golang.org/x/text v0.14.0 h1:x=\ngolang.org/x/text v0.14.0/go.mod h1:y=\n\
        golang.org/x/net v0.1.0/go.mod h1:z=\ngithub.com/Azure/a v1.0.0+incompatible h1:x=\n";
    let (components, unjudged) = listed(Kind::GoSum, sum);
    assert_eq!(
        components,
        ["go github.com/Azure/a v1.0.0+incompatible", "go golang.org/x/text v0.14.0"]
    );
    assert_eq!(unjudged, ["golang.org/x/net@v0.1.0: only its go.mod is read, never its code"]);
    assert!(fault(Kind::GoSum, "a v1 h1:x\n\n<<<<<<< HEAD\n").contains("line 3"));

    let module = "module example.com/me // mine\n\ngo 1.21\n\ntoolchain go1.22.0\n\nrequire (\n\tgolang.org/x/text v0.14.0\n\t\
        golang.org/x/net v0.1.0 // indirect\n\texample.com/local v1.0.0\n)\nrequire \"example.com/one\" v1.1.0\n\n\
        replace golang.org/x/net v0.1.0 => golang.org/x/net v0.2.0\nreplace (\n\texample.com/local => ../local\n)\n\
        exclude golang.org/x/text v0.13.0\nretract [v1.0.0, v1.1.0]\n";
    let (components, unjudged) = listed(Kind::GoMod, module);
    assert_eq!(
        components,
        [
            "go example.com/one v1.1.0",
            "go golang.org/toolchain v0.0.1-go1.22.0",
            "go golang.org/x/net v0.2.0",
            "go golang.org/x/text v0.14.0"
        ]
    );
    for (lines, wanted) in [
        ("go 1.23.1\n", &["go golang.org/toolchain v0.0.1-go1.23.1"][..]),
        ("toolchain go1.23.2\ngo 1.23.1\n", &["go golang.org/toolchain v0.0.1-go1.23.2"]),
        // The language, not a release.
        ("go 1.20\n", &[]),
        ("require (\n\tgo v1.21.0\n)\n", &[]),
    ] {
        assert_eq!(listed(Kind::GoMod, &format!("module a\n{lines}")).0, wanted, "{lines}");
    }
    assert_eq!(unjudged, ["example.com/local@v1.0.0 => ../local: a folder of the project"]);
    assert!(fault(Kind::GoMod, "module a\nrequire b\n").contains("line 2"));
    assert!(fault(Kind::GoMod, "module a\nrequire (\n").contains("a block is never closed"));
}

#[test]
fn bills_of_materials_are_read() {
    let cyclonedx = json!({"bomFormat": "CycloneDX", "specVersion": "1.6",
    "metadata": {"component": {"name": "me", "purl": "pkg:npm/me@1.0.0"}},
    "components": [
        {"type": "library", "name": "a", "version": "1.0.0", "purl": "pkg:npm/a@1.0.0",
            "components": [{"name": "b", "version": "2.0", "purl": "pkg:pypi/b"}]},
        {"type": "file", "name": "/etc/passwd"},
        {"name": "c", "version": "1", "purl": "pkg:maven/g/c@1"},
    ]});
    let (components, unjudged) = listed(Kind::CycloneDx, &cyclonedx.to_string());
    assert_eq!(components, ["pypi b 2.0", "npm a 1.0.0"]);
    assert_eq!(
        unjudged,
        [
            "/etc/passwd: it has no package URL",
            "pkg:maven/g/c@1: packages of type `maven` are not known here"
        ]
    );
    let spdx = json!({"spdxVersion": "SPDX-2.3", "packages": [
        {"name": "a", "versionInfo": "1.0.0", "externalRefs": [
            {"referenceCategory": "SECURITY", "referenceType": "cpe23Type", "referenceLocator": "cpe:2.3:a:a"},
            {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": "pkg:cargo/a@1.0.0"}]},
        {"name": "me", "versionInfo": "NOASSERTION"},
    ]});
    let (components, unjudged) = listed(Kind::Spdx, &spdx.to_string());
    assert_eq!(
        (components, unjudged),
        (vec!["cargo a 1.0.0".into()], vec!["me: it has no package URL".into()])
    );
    let graph = json!({"@context": "https://spdx.example/3.0", "@graph": [
        {"type": "CreationInfo", "created": "x"},
        {"type": "software_Package", "name": "a", "software_packageVersion": "1.0.0", "software_packageUrl": "pkg:npm/a@1.0.0"},
        {"type": "software_Package", "name": "me"},
    ]});
    assert_eq!(listed(Kind::Spdx, &graph.to_string()).0, ["npm a 1.0.0"]);
    let deep =
        format!(r#"{{"bomFormat":"CycloneDX","components":{}"#, r#"[{"components":"#.repeat(9_000));
    assert!(fault(Kind::CycloneDx, &deep).contains("recursion"));
}

#[test]
fn what_is_no_such_file_or_names_too_much_is_refused() {
    for text in ["", "hello\nworld\n", "{}", "{", "[1]", "\u{feff}"] {
        assert!(matches!(read(None, text), Err(CheckFault::Unknown)), "{text}");
    }
    let large = " ".repeat(MAX_TEXT_BYTES + 1);
    assert!(matches!(read(Some(Kind::GoSum), &large), Err(CheckFault::TooLarge)));
    let many = |n: usize| (0..n).map(|n| format!("p{n}==1")).collect::<Vec<_>>().join("\n");
    assert!(matches!(read(None, &many(MAX_ENTRIES + 1)), Err(CheckFault::TooMany)));
    let (_, listing) = read(None, &format!("\u{feff}{}", many(MAX_ENTRIES))).unwrap();
    assert_eq!(listing.len(), MAX_ENTRIES);
    // As long as a list of this many can be, as pnpm writes it.
    let entry = |n: usize| {
        format!(
            "  p{n}@1.0.0:\n    resolution: {{integrity: sha512-x}}\n    engines: {{node: '>=1'}}\n    \
            dependencies:\n      a: 1.0.0\n      b: 1.0.0\n      c: 1.0.0\n    peerDependencies:\n      d: '*'\n\n"
        )
    };
    let pnpm = (0..MAX_ENTRIES).map(entry).collect::<Vec<_>>().concat();
    let (_, listing) = read(None, &format!("lockfileVersion: '9.0'\npackages:\n{pnpm}")).unwrap();
    assert_eq!(listing.len(), MAX_ENTRIES);
    for kind in Kind::ALL {
        assert_eq!(Kind::find(kind.as_str()), Some(kind));
    }
}

#[test]
fn what_is_named_is_judged_and_its_age_only_where_it_is_told() {
    let rules = [rule_of(Ecosystem::Npm, 1, "left-pad", "<1.3.0", Mask::Mark)];
    let dossier = dossier(Ecosystem::Npm, "left-pad", 7, &rules);
    let component = |version: &str| Component {
        ecosystem: Ecosystem::Npm,
        package: "left-pad".to_owned(),
        version: version.to_owned(),
    };
    let nothing = || Arc::new(Seen::nothing());
    let judged = judge(&dossier, nothing(), &component("1.2.0"), None);
    assert!(!judged.verdict.allowed() && judged.objections.len() == 1 && !judged.age_unknown);
    assert!(judge(&dossier, nothing(), &component("1.3.0"), None).verdict.allowed());
}

#[test]
fn a_version_is_as_old_as_our_own_clock_says_and_old_enough_where_no_clock_says_it() {
    let hours = |n: i64| Timestamp::from_micros(1_795_824_000_000_000).plus_seconds(n * 3_600);
    let (package, go) = ("example.com/m", Ecosystem::Go);
    let dossier = aged(go, 72).about(go, package, None, hours(100));
    let mut state = State::default();
    for (name, seen_at) in [("v1.0.0", hours(28)), ("v1.1.0", hours(29))] {
        let (ecosystem, package, names) = (go, package.to_owned(), vec![name.to_owned()]);
        let seen = VersionsSeen { ecosystem, package, names, first_look: true, seen_at };
        Watching::apply(&mut state, &seen.into());
    }
    let judged = |version: &str, published_at| {
        let (ecosystem, package) = (go, package.to_owned());
        let component = Component { ecosystem, package, version: version.to_owned() };
        let seen = Arc::new(Seen::Versions(state.clone()));
        let judged = judge(&dossier, seen, &component, published_at);
        (judged.verdict.allowed(), judged.age_unknown)
    };
    let told = |n| Some(Dated { published_at: hours(n), late: false });
    assert_eq!(judged("v1.0.0", None), (true, false));
    assert_eq!(judged("v1.1.0", None), (false, false));
    assert_eq!(judged("v1.1.0", told(0)), (false, false), "what its author says is nothing");
    assert_eq!(judged("v1.2.0", told(99)), (true, true), "nor is it against it");
}

/// Any text, and what looks like a file of the kind.
fn any_text() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just("[[package]]".to_owned()),
        Just("require (".to_owned()),
        Just("packages:".to_owned()),
        "[a-z@/]{0,8}(==|@|: | = |: \")[0-9a-z.:*^]{0,6}\"?:?",
        "(name|version|source) = \"[a-z0-9.+]{0,8}\"",
        "  (/?[@a-z/]{1,8}@[0-9.(]{1,6}|version \"[0-9.]{1,5}\"|version: [0-9.]{1,5}):?",
        "\\PC{0,20}",
    ];
    prop::collection::vec(line, 0..12).prop_map(|lines| lines.join("\n"))
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "(pkg:(npm|pypi)/)?[a-z@%/]{0,8}@?[0-9.]{0,5}".prop_map(Value::from),
    ];
    let key = prop::sample::select(vec![
        "packages",
        "dependencies",
        "version",
        "resolved",
        "link",
        "name",
        "components",
        "purl",
        "bomFormat",
        "spdxVersion",
        "@graph",
        "externalRefs",
        "lockfileVersion",
        "node_modules/a",
    ]);
    leaf.prop_recursive(4, 40, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..5)
                .prop_map(|members| members.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()),
        ]
    })
}

proptest! {
    #[test]
    fn a_package_url_that_is_written_is_read_again(
        name in "[a-z0-9][a-z0-9._-]{0,9}", scope in prop::option::of("[a-z][a-z0-9-]{0,5}"),
        version in "[0-9]{1,3}(\\.[0-9]{1,3}){0,2}([+-][a-z0-9.]{1,5})?",
    ) {
        let package = scope.as_ref().map_or_else(|| name.clone(), |it| format!("@{it}/{name}"));
        let (path, at) = (package.replace('@', "%40"), version.replace('+', "%2B"));
        let read = Purl::parse(&format!("pkg:npm/{path}@{at}")).unwrap();
        prop_assert_eq!(read, Purl { ecosystem: Ecosystem::Npm, package, version: Some(version) });
    }

    #[test]
    fn whatever_is_read_holds_together(text in any_text(), value in any_json()) {
        let json = value.to_string();
        for text in [&text, &json] {
            for kind in Kind::ALL.map(Some).into_iter().chain([None]) {
                match read(kind, text) {
                    Ok((_, listing)) => {
                        for (it, _) in listing.components() {
                            prop_assert!(valid(it.ecosystem, &it.package) && !it.version.is_empty());
                        }
                        prop_assert!(listing.unjudged().all(|it| !it.reason.is_empty()));
                    }
                    Err(fault) => prop_assert!(!fault.to_string().is_empty()),
                }
            }
        }
    }
}
