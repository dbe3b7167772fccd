//! What lies in the cache is counted, and forgotten when somebody says so: on every instance, and
//! under everybody's hands.

use serde_json::{Value, json};
use weir_tests::{
    database::TestDatabase,
    deadline::until,
    upstream::{Index, content},
    weir::{Client, Part, Place},
};

use super::said;

const PAGE: &str = "/pypi/simple/six/";

fn file(version: &str) -> String {
    format!("/pypi/files/six/six-{version}.tar.gz")
}

fn upstream(version: &str) -> String {
    format!("/files/six-{version}.tar.gz")
}

async fn index() -> Index {
    let index = Index::start().await;
    index.project("six", &["1.16.0", "1.17.0"]);
    index.project("attrs", &["1.0"]);
    index
}

async fn stats(client: &Client) -> Value {
    client.get("/api/cache/stats").await.expect(200).json()
}

/// Waits until so many files are kept.
async fn kept(client: &Client, n: u64) -> Value {
    until(&format!("{n} files are kept"), async || {
        let stats = stats(client).await;
        if stats["total"]["files"]["n"] == n { Ok(stats) } else { Err(stats) }
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_cache_is_counted_and_purged_by_what_is_meant_and_never_all_by_accident() {
    let index = index().await;
    let place = Place::on_a_test_database().await.upstream(&index.simple);
    let weir = place.start(Part::Up).await;
    let empty = stats(&weir.client).await;
    assert_eq!(empty["total"]["hit_rate"], Value::Null, "{empty}");
    let attrs = "/pypi/files/attrs/attrs-1.0.tar.gz";
    for path in [&file("1.16.0"), &file("1.17.0"), &file("1.17.0"), attrs] {
        weir.client.get(path).await.has(200);
    }
    let counted = kept(&weir.client, 3).await;
    let pypi = &counted["ecosystems"].as_array().expect("a list")[0];
    assert_eq!(pypi["ecosystem"], "pypi", "{counted}");
    for part in [pypi, &counted["total"]] {
        let (files, documents) = (&part["files"], &part["documents"]);
        assert_eq!((&files["hits"], &files["misses"]), (&json!(1), &json!(3)), "{counted}");
        assert_eq!((&files["size_bytes"], &files["hit_rate"]), (&json!(300_000), &json!(0.25)));
        assert_eq!((&documents["n"], &documents["misses"]), (&json!(2), &json!(2)), "{counted}");
        assert!(documents["size_bytes"].as_u64() > Some(0), "{counted}");
        assert!(files["oldest_at"].as_str() <= files["newest_at"].as_str(), "{counted}");
        let evictions = json!({"lru": 0, "expired": 0, "purged": 0, "broken": 0});
        assert_eq!(part["evictions"], evictions);
    }
    assert_eq!(counted["max_bytes"], 50_000_000_000_u64);

    // What says nothing, or too much, or nonsense, changes nothing.
    for (query, words) in [
        ("", "everything goes with all=true"),
        ("?all=false", "everything goes with all=true"),
        ("?ecosystem=", "everything goes with all=true"),
        ("?all=true&ecosystem=pypi", "everything, or some of it?"),
        ("?package=six", "a package is looked for in one ecosystem"),
        ("?ecosystem=pypi&versions=1.0", "versions are those of packages"),
        ("?ecosystem=pypi&package=six&versions=^1", "no constraint on versions"),
        ("?ecosystem=gems", "no ecosystem is called `gems`"),
        ("?ecosystem=pypi&pakcage=six", "nobody knows this parameter"),
    ] {
        let refused = weir.client.delete(&format!("/api/cache{query}")).await.expect(400);
        assert!(refused.body.contains(words), "{query}: {}", refused.body);
    }
    let (_, reader) = weir.client.issue("reader", &["rules:read"]).await;
    let reader = weir.client.with_token(Some(&reader));
    reader.delete("/api/cache?all=true").await.has(403);
    assert_eq!(stats(&reader).await["total"]["files"]["n"], 3);

    let query = "ecosystem=pypi&package=S*x&versions=%3E%3D1.17";
    let purged = weir.client.delete(&format!("/api/cache?{query}")).await.expect(200);
    let said_so = purged.json();
    assert_eq!((&said_so["n_files"], &said_so["size_bytes"]), (&json!(1), &json!(100_000)));
    assert_eq!((&said_so["n_documents"], &said_so["package"]), (&json!(1), &json!("S*x")));
    let event = format!("/api/events/{}", purged.position());
    let event = weir.client.get(&event).await.expect(200).json();
    assert_eq!(
        (&event["kind"], &event["stream"]),
        (&json!("CachePurged"), &json!("registry/cache"))
    );
    assert!(event.to_string().contains("admin"), "{event}");
    let counted = kept(&weir.client, 2).await;
    assert_eq!(counted["total"]["evictions"]["purged"], 1, "{counted}");
    assert_eq!(counted["total"]["documents"]["n"], 1, "{counted}");
    for path in [&file("1.16.0"), &file("1.17.0"), attrs] {
        weir.client.get(path).await.has(200);
    }
    let fetched = ["1.16.0", "1.17.0"].map(|version| index.asked(&upstream(version)));
    assert_eq!((fetched, index.asked("/files/attrs-1.0.tar.gz")), ([1, 2], 1));
    assert_eq!((index.asked("/simple/six/"), index.asked("/simple/attrs/")), (2, 1));

    // The same by the command line, which asks before everything goes.
    kept(&weir.client, 3).await;
    let at = ["--server", &weir.url];
    let told = place.run(&[&["cache", "stats"], &at[..]].concat());
    assert!(said(&told).contains("pypi") && said(&told).contains("300.0 kB"), "{}", said(&told));
    for (arguments, code, words) in [
        (&["cache", "purge"][..], 2, "ECOSYSTEM"),
        (&["cache", "purge", "--all"], 2, "cannot ask whether to forget everything"),
        (&["cache", "purge", "--all", "npm"], 2, "cannot be used with"),
        (&["cache", "purge", "--all", "--dry-run"], 0, "would forget everything in the cache"),
        (&["cache", "purge", "pypi", "attrs", "--yes"], 0, "1 files (100.0 kB)"),
        (&["cache", "purge", "--all", "--yes", "--json"], 0, "\"n_files\": 2"),
    ] {
        let output = place.run(&[arguments, &at[..]].concat());
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", said(&output));
        assert!(said(&output).contains(words), "{arguments:?}: {}", said(&output));
    }
    kept(&weir.client, 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_is_kept_for_as_long_as_its_registry_says_after_its_last_use() {
    let index = index().await;
    for (setting, ttl) in [
        ("", json!(86_400)),
        ("    cache_ttl: 90m\n", json!(5_400)),
        ("    cache_ttl: 0s\n", Value::Null),
    ] {
        let place = Place::on_a_test_database().await.upstream(&index.simple).setting(setting);
        let weir = place.start(Part::Up).await;
        weir.client.get(&file("1.16.0")).await.has(200);
        kept(&weir.client, 1).await;
        let described = "cache/files/pypi/six/six-1.16.0.tar.gz.meta.json";
        let described = std::fs::read(place.data_dir().join(described)).expect("its description");
        let described: Value = serde_json::from_slice(&described).expect("its JSON");
        assert_eq!(described["ttl"], ttl, "{described}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_purge_under_a_download_cuts_no_body_and_keeps_nothing_of_it() {
    let index = index().await;
    let place = Place::on_a_test_database().await.upstream(&index.simple);
    let weir = place.start(Part::Up).await;
    weir.client.get(&file("1.16.0")).await.has(200);
    kept(&weir.client, 1).await;
    let gate = index.hold();
    let coming = {
        let (client, path) = (weir.client.clone(), file("1.17.0"));
        tokio::spawn(async move { client.get(&path).await })
    };
    until("the download is under way", async || {
        let n = index.asked(&upstream("1.17.0"));
        if n == 1 { Ok(()) } else { Err(n) }
    })
    .await;
    let purged = weir.client.delete("/api/cache?ecosystem=pypi").await.expect(200).json();
    assert_eq!(purged["n_files"], 1, "{purged}");
    gate.add_permits(1);
    let whole = coming.await.expect("a download").expect(200);
    assert_eq!(whole.body.as_bytes(), content("six-1.17.0.tar.gz"));
    // Not even what was on its way is kept: it is fetched anew, and kept then.
    gate.add_permits(8);
    weir.client.get(&file("1.17.0")).await.has(200);
    assert_eq!(index.asked(&upstream("1.17.0")), 2);
    kept(&weir.client, 1).await;
    weir.client.get(&file("1.17.0")).await.has(200);
    assert_eq!(index.asked(&upstream("1.17.0")), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_purge_reaches_instances_that_share_the_folder_have_their_own_or_were_down() {
    let index = index().await;
    let place = Place::on_a_test_database().await.upstream(&index.simple);
    let shared = place.database.as_ref().expect("a database");
    let database = TestDatabase { name: shared.name.clone(), url: shared.url.clone() };
    let mut far = Place::with_a_private_postgres().upstream(&index.simple);
    far.database = Some(database);
    let (one, near) = (place.start(Part::Up).await, place.start(Part::Api).await);
    let other = far.start(Part::Api).await;
    let [two, three] = [&near.url, &other.url].map(|url| one.client.at(url));
    for client in [&one.client, &two, &three] {
        client.get(PAGE).await.has(200);
        client.get(&file("1.16.0")).await.has(200);
        kept(client, 1).await;
    }
    assert_eq!(index.asked(&upstream("1.16.0")), 2, "two share a folder");
    other.kill();
    let purged = two.delete("/api/cache?ecosystem=pypi&package=six").await.expect(200).json();
    assert_eq!(purged["n_files"], 1, "{purged}");
    let other = far.start(Part::Api).await;
    let three = one.client.at(&other.url);
    for client in [&one.client, &two, &three] {
        let left = kept(client, 0).await;
        assert_eq!(left["total"]["documents"]["n"], 0, "{left}");
    }
    for client in [&one.client, &two, &three] {
        client.get(&file("1.16.0")).await.has(200);
        kept(client, 1).await;
    }
    assert_eq!(index.asked(&upstream("1.16.0")), 4, "fetched anew, once for each folder");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_instances_that_share_a_folder_keep_to_its_bound_under_load_and_whoever_was_pushed_out_comes_again()
 {
    let index = Index::start().await;
    let versions: Vec<String> = (0..24).map(|n| format!("1.{n}")).collect();
    index.project("six", &versions.iter().map(String::as_str).collect::<Vec<_>>());
    // Room for five files of 100,000 bytes.
    let place = Place::on_a_test_database().await.upstream(&index.simple);
    let place = place.setting("cache:\n  max_size: 550kB\n");
    let (one, near) = (place.start(Part::Up).await, place.start(Part::Api).await);
    let two = one.client.at(&near.url);
    let each = versions.iter().enumerate().map(|(n, version)| {
        let client = if n % 2 == 0 { &one.client } else { &two };
        async move { (version, client.get(&file(version)).await) }
    });
    for (version, answer) in futures_util::future::join_all(each).await {
        answer.has(200);
        assert_eq!(answer.body.as_bytes(), content(&format!("six-{version}.tar.gz")), "{version}");
    }
    for client in [&one.client, &two] {
        until("the bound holds on both", async || {
            let stats = stats(client).await;
            let files = &stats["total"]["files"];
            let fits = files["size_bytes"].as_u64().is_some_and(|size| size <= 550_000);
            if fits && files["n"].as_u64() <= Some(5) { Ok(()) } else { Err(stats) }
        })
        .await;
    }
    let folder = place.data_dir().join("cache/files/pypi/six");
    let bodies = || {
        let all = std::fs::read_dir(&folder).expect("the folder");
        let names = all.map(|entry| entry.expect("an entry").file_name());
        names.filter(|name| !name.to_string_lossy().ends_with(".json")).count()
    };
    until("the bound holds on disk", async || {
        // Each looks at what the other has put there.
        stats(&one.client).await;
        stats(&two).await;
        if bodies() <= 5 { Ok(()) } else { Err(bodies()) }
    })
    .await;
    let counted = [stats(&one.client).await, stats(&two).await];
    let forgotten = counted.iter().map(|of| of["total"]["evictions"]["lru"].as_u64());
    let forgotten: u64 = forgotten.map(|n| n.expect("a number")).sum();
    assert!(forgotten >= 19, "{counted:?}");
    for version in &versions {
        one.client.get(&file(version)).await.has(200);
    }
}
