//! The first minute: `weir up` on an empty machine, and the printed commands work as they stand.

use std::process::{Command, Stdio};

use weir_tests::{
    database::weir_binary,
    deadline,
    weir::{Part, Place, signal},
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn up_starts_a_postgres_of_its_own_and_heals_it_and_stops_it_cleanly() {
    let place = Place::with_a_private_postgres();
    let weir = place.start(Part::Up).await;
    weir.client.rule("six", ">=1.17", "not reviewed", "mark").await.position();
    let postmaster = || {
        let children = Command::new("pgrep").args(["-f", "postgres"]).output().expect("pgrep");
        let children = String::from_utf8_lossy(&children.stdout).into_owned();
        children.lines().find_map(|pid| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
            let ours = place.data_dir().to_string_lossy().into_owned();
            let line = String::from_utf8_lossy(&line).into_owned();
            (line.contains(&ours) && line.contains("-D")).then(|| pid.parse::<u32>().ok())?
        })
    };
    let pid = postmaster().expect("a postmaster of its own");
    signal(pid, "KILL");
    deadline::until("it is healed", async || {
        let answer = weir.client.send("GET", "/api/rules", &[], None).await?;
        let healed = postmaster().is_some_and(|now| now != pid);
        if answer.status == 200 && healed { Ok(()) } else { Err(answer.body) }
    })
    .await;
    weir.client.rule("six", ">=1.18", "not reviewed either", "mark").await;
    weir.stop().await;
    assert_eq!(postmaster(), None, "its Postgres outlived it");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_three_things_to_try_work_by_copy_and_paste() {
    let place = Place::with_a_private_postgres();
    let output = place.path().join("printed");
    let file = std::fs::File::create(&output).expect("a file");
    let mut child = place
        .command(&["up", "--listen", "127.0.0.1:0"])
        .stdout(file.try_clone().expect("a file"))
        .stderr(file)
        .stdin(Stdio::null())
        .spawn()
        .expect("start weir");
    let printed = deadline::until("the three things are printed", async || {
        let text = std::fs::read_to_string(&output).unwrap_or_default();
        if text.lines().any(|line| line.trim_end().ends_with(" tail")) {
            Ok(text)
        } else {
            Err(text)
        }
    })
    .await;
    let binary = weir_binary();
    let folder = binary.parent().expect("its folder").to_owned();
    let path = format!(
        "{}:{}",
        folder.display(),
        weir_tests::database::variable("PATH").unwrap_or_default()
    );
    let commands: Vec<String> = printed
        .lines()
        .map(|line| line.trim().trim_start_matches("$ ").to_owned())
        .filter(|line| {
            ["pip install ", " rules add ", " tail"].iter().any(|w| line.contains(w))
                && !line.ends_with(':')
        })
        .collect();
    assert!(commands.len() >= 3, "{printed}");
    for command in &commands {
        // A tail goes on for ever; three events are enough to see.
        let command = if command.ends_with(" tail") {
            format!("{command} --from-start --limit 3")
        } else if command.contains("pip install") {
            format!("{command} --target {}", place.path().join("installed").display())
        } else {
            command.clone()
        };
        let ran = Command::new("bash")
            .args(["-c", &command])
            .env("PATH", &path)
            .env_remove("PIP_INDEX_URL")
            .current_dir(place.path())
            .output()
            .expect("run it");
        assert!(
            ran.status.success(),
            "`{command}`: {}{}",
            String::from_utf8_lossy(&ran.stdout),
            String::from_utf8_lossy(&ran.stderr)
        );
    }
    signal(child.id(), "TERM");
    assert!(child.wait().expect("its end").success());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_older_schema_is_refused_with_the_command_that_helps() {
    let place = Place::with_a_private_postgres();
    let empty = format!("empty_{}", weir_tests::database::fresh().simple());
    let cluster = weir_tests::database::cluster();
    let mut admin =
        <sqlx::PgConnection as sqlx::Connection>::connect(&cluster).await.expect("connect");
    sqlx::query(sqlx::AssertSqlSafe(format!("CREATE DATABASE {empty}")))
        .execute(&mut admin)
        .await
        .expect("an empty database");
    let url = weir_tests::database::at(&cluster, &empty);
    for part in ["api", "worker"] {
        let refused = place.run(&[part, "--database-url", &url]);
        assert!(!refused.status.success());
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(said.contains("weir migrate"), "{part}: {said}");
    }
}

#[tokio::test]
async fn a_configuration_file_that_is_not_there_ends_every_command_the_same_way() {
    let place = Place::with_a_private_postgres();
    for command in [
        &["up"][..],
        &["down"],
        &["api"],
        &["worker"],
        &["migrate"],
        &["config", "check"],
        &["config", "show"],
        &["doctor", "--offline"],
        &["status"],
        &["tail"],
        &["events", "get", "1"],
        &["replay", "block_log"],
        &["dead-letters", "ls"],
        &["verify"],
        &["token", "ls"],
        &["rules", "ls"],
        &["filter", "-"],
        &["version", "compare", "pypi", "1", "2"],
    ] {
        let ended = place.run(&[&["--config", "nowhere.yaml"], command].concat());
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(2), "{command:?}: {said}");
        assert!(said.contains("`nowhere.yaml`"), "{command:?}: {said}");
    }
    assert!(!place.data_dir().exists(), "something was made all the same");
}
