//! Behind a day, go resolves to what it resolved to on that day.

use super::*;

const THEN: [(&str, &str); 2] =
    [("v1.0.0", "2026-01-02T03:04:05Z"), ("v1.1.0", "2026-03-31T23:59:59Z")];
const LATER: [(&str, &str); 1] = [("v1.2.0", "2026-04-01T00:00:01Z")];
const DAY: &str = "2026-03-31";

fn published_by<'a>(versions: impl Iterator<Item = &'a (&'a str, &'a str)>) -> Files {
    let mut files = Files::new();
    for (version, time) in versions {
        let code = format!("package leaf\n\nconst Version = \"{version}\"\n");
        let go_mod = format!("module {LEAF}\n\ngo 1.21\n");
        publish_at(&mut files, LEAF, (version, time), &go_mod, &code);
        // Each version of the one asks for the same version of the other.
        let go_mod = format!("module {MID}\n\ngo 1.21\n\nrequire {LEAF} {version}\n");
        let code = format!("package mid\n\nimport \"{LEAF}\"\n\nconst Leaf = leaf.Version\n");
        publish_at(&mut files, MID, (version, time), &go_mod, &code);
    }
    files
}

/// What a project is locked to that asks for the newest there is.
fn newest(place: &Place, name: &str, proxy: &str) -> (String, String) {
    let project = Project::new(place, name, proxy);
    project.does(&["get", &format!("{MID}@latest")]);
    project.does(&["mod", "tidy"]);
    (project.read("go.mod"), project.read("go.sum"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn behind_a_day_a_project_is_locked_to_what_it_was_locked_to_then() {
    let place = Place::on_a_test_database().await;
    let then = serve(published_by(THEN.iter())).await;
    let wanted = newest(&place, "then", &then);
    assert!(wanted.0.contains("mid v1.1.0"), "{}", wanted.0);
    let now = serve(published_by(THEN.iter().chain(&LATER))).await;
    let place = place.setting(&format!("registries:\n  go:\n    upstream: {now}/\n"));
    let weir = place.start(Part::Up).await;
    let today = newest(&place, "today", &format!("{}/go", weir.url));
    assert!(today.0.contains("mid v1.2.0"), "{}", today.0);
    for name in ["cold", "warm"] {
        let again = newest(&place, name, &format!("{}/@{DAY}/go", weir.url));
        assert_eq!(again, wanted, "{name}");
    }
    // What is locked to something later does not get it there.
    let later = Project::new(&place, "later", &format!("{}/@{DAY}/go", weir.url));
    later.refuses(&["get", &format!("{MID}@v1.2.0")]);
}
