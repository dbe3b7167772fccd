//! Behind a reverse proxy, below a path of its own: every address in a list leads back through the
//! proxy, and to the file that it is of.

use axum::{
    Router,
    extract::Request,
    response::{IntoResponse as _, Response},
};
use http::{
    HeaderName, StatusCode,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, LOCATION},
};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use weir_tests::{
    site,
    upstream::{self, Index},
    weir::{Client, Part, Place, Weir},
};

use super::made::{self, Registry, tarball};

const PREFIX: &str = "/weir";
const VERSIONS: [&str; 12] = [
    "1.0.0", "1.0.1", "1.1.0", "1.2.0", "1.3.0", "1.4.0", "1.5.0", "2.0.0", "2.0.1", "2.1.0",
    "2.2.0", "3.0.0",
];

/// Hands on what is asked of it below the prefix, without that.
async fn forward(weir: &Client, request: Request) -> Response {
    // Nothing of a body is held while Weir is asked.
    let (asked, _) = request.into_parts();
    let whole = asked.uri.path_and_query().map_or("", |path| path.as_str());
    let Some(below) = whole.strip_prefix(PREFIX) else {
        return (StatusCode::NOT_FOUND, "this is not below the prefix").into_response();
    };
    let header = |name: HeaderName| asked.headers.get(name)?.to_str().ok();
    let kept = [ACCEPT, AUTHORIZATION].map(|name| (name.clone(), header(name)));
    let kept = kept.iter().filter_map(|(name, value)| Some((name.as_str(), (*value)?)));
    let told = [("x-forwarded-proto", "https"), ("x-forwarded-prefix", PREFIX)];
    let headers: Vec<_> = kept.chain(told).collect();
    let answer = weir.request(asked.method.as_str(), below, &headers).send().await;
    let answer = answer.expect("an answer of Weir");
    let mut response = Response::builder().status(answer.status().as_u16());
    for name in [CONTENT_TYPE, LOCATION] {
        if let Some(value) = answer.headers().get(&name) {
            response = response.header(name, value);
        }
    }
    let body = answer.bytes().await.expect("a body");
    response.body(body.into()).expect("a response")
}

/// A Weir behind a proxy.
struct Proxied {
    /// What it is called there.
    public: String,
    /// A client that knows it by that alone.
    client: Client,
    /// The admin, past the proxy.
    admin: Client,
    _weir: Weir,
    _place: Place,
}

async fn proxied(settings: &str) -> Proxied {
    let (listener, public) = site::listen().await;
    let public = public + PREFIX;
    let server = format!("server:\n  public_url: {public}/\n  trusted_proxies: [127.0.0.1]\n");
    let place = Place::on_a_test_database().await.setting(&server).setting(settings);
    // Where it listens it says to nobody any more, so it is told.
    let free = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let at = free.local_addr().expect("its address").to_string();
    drop(free);
    let weir = place.start_at(Part::Up, &at).await;
    let behind = Client::new(&format!("http://{at}"), None);
    let answer = move |request: Request| {
        let behind = behind.clone();
        async move { forward(&behind, request).await }
    };
    site::serve(listener, Router::new().fallback(answer));
    let (client, admin) = (weir.client.at(&public), weir.client.at(&format!("http://{at}")));
    Proxied { public, client, admin, _weir: weir, _place: place }
}

/// Follows an address through the proxy, and answers what is there.
async fn follow(client: &Client, public: &str, address: &str) -> String {
    let below = address.strip_prefix(public);
    let below = below.unwrap_or_else(|| panic!("{address} does not lead through {public}"));
    client.get(below).await.expect(200).body
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_tarball_of_a_packument_is_found_through_the_proxy() {
    let names = ["leaf", "@team/top"];
    let time = "2021-01-02T03:04:05.678Z";
    let all = names.iter().flat_map(|name| VERSIONS.map(|version| (*name, version, time)));
    let registry = Registry::start(&all.collect::<Vec<_>>()).await;
    let settings = format!("registries:\n  npm:\n    upstream: {}\n", registry.url);
    let weir = proxied(&settings).await;
    let Proxied { public, client, admin, .. } = &weir;
    for name in names {
        for accept in ["application/json", "application/vnd.npm.install-v1+json"] {
            for path in [format!("/npm/{name}"), format!("/npm/{}", name.replace('/', "%2f"))] {
                let page = client.send("GET", &path, &[("accept", accept)], None).await;
                let page = page.expect("an answer").expect(200);
                assert!(!page.body.contains(&registry.url), "{}", page.body);
                let versions = page.json()["versions"].as_object().expect("versions").clone();
                assert_eq!(versions.len(), VERSIONS.len(), "{name}");
                for (version, told) in versions {
                    let address = told["dist"]["tarball"].as_str().expect("an address");
                    let file = tarball(name, &version);
                    let begins = format!("{public}/npm/{name}/-/");
                    assert!(address.starts_with(&begins), "{address}");
                    assert_eq!(follow(client, public, address).await, made::content(&file));
                }
            }
        }
        let one = client.get(&format!("/npm/{name}/latest")).await.expect(200).json();
        let address = one["dist"]["tarball"].as_str().expect("an address");
        let wanted = made::content(&tarball(name, "3.0.0"));
        assert_eq!(follow(client, public, address).await, wanted);
    }
    // One that is refused says why below the same address.
    let rule = json!({"ecosystem": "npm", "package": "leaf", "versions": "3.0.0",
        "reason": "not ours", "mask": "mark"});
    let rule = admin.post("/api/rules", &rule).await.expect(201);
    admin.judges_by(rule.position()).await;
    let page = client.get("/npm/leaf").await.expect(200).json();
    let address = page["versions"]["3.0.0"]["dist"]["tarball"].as_str().expect("an address");
    let below = address.strip_prefix(public.as_str()).expect("it leads through the proxy");
    assert!(below.contains("/blocked/not-ours-"), "{below}");
    let refused = client.get(below).await.expect(403);
    assert!(refused.body.contains("not ours"), "{}", refused.body);
}

/// The addresses of a page, as a client of it resolves them.
fn links(page: &str, body: &str) -> Vec<String> {
    let base: reqwest::Url = page.parse().expect("a URL");
    let written: Vec<String> = if let Ok(json) = serde_json::from_str::<Value>(body) {
        let files = json["files"].as_array().expect("files").iter();
        files.map(|file| file["url"].as_str().expect("an address").to_owned()).collect()
    } else {
        let anchors = body.split("<a href=\"").skip(1);
        anchors.filter_map(|rest| Some(rest.split('"').next()?.to_owned())).collect()
    };
    let resolved = written.iter().map(|link| base.join(link).expect("an address"));
    resolved
        .map(|mut link| {
            link.set_fragment(None);
            link.to_string()
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_file_of_a_project_is_found_through_the_proxy() {
    let index = Index::start().await;
    index.project("six", &VERSIONS);
    let settings = format!("registries:\n  pypi:\n    upstream: {}\n", index.simple);
    let weir = proxied(&settings).await;
    let Proxied { public, client, .. } = &weir;
    let page = format!("{public}/pypi/simple/six/");
    for accept in ["application/vnd.pypi.simple.v1+json", "text/html"] {
        let answer = client.send("GET", "/pypi/simple/six/", &[("accept", accept)], None).await;
        let body = answer.expect("an answer").expect(200).body;
        let links = links(&page, &body);
        assert_eq!(links.len(), VERSIONS.len(), "{accept}: {body}");
        for (link, version) in links.iter().zip(VERSIONS) {
            let file = format!("six-{version}.tar.gz");
            assert!(link.starts_with(&format!("{public}/pypi/files/six/")), "{link}");
            let content = follow(client, public, link).await;
            assert_eq!(content.as_bytes(), upstream::content(&file), "{link}");
        }
    }
    // Who asks in another spelling is sent to the one that counts, through the proxy as well.
    for path in ["/pypi/simple/Six/", "/pypi/simple/six"] {
        let sent = client.get(path).await;
        let location = sent.header("location").unwrap_or_else(|| panic!("{path}: {sent:?}"));
        let asked: reqwest::Url = format!("{public}{path}").parse().expect("a URL");
        assert_eq!(asked.join(location).expect("an address").as_str(), page, "{path}");
    }
}
