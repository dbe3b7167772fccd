//! The disk fills up: writes are refused with a clear error, reads go on, nothing is corrupted, and
//! everything goes on when there is room again.

use std::{fs, path::PathBuf, process::Command, time::Duration};

use serde_json::json;
use weir_tests::{
    deadline,
    weir::{Part, Place},
};

/// A small file system of its own, unmounted when dropped.
struct SmallDisk(PathBuf);

impl SmallDisk {
    /// `None` where this user may not mount one.
    fn mount(folder: PathBuf) -> Option<Self> {
        fs::create_dir_all(&folder).expect("a folder");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=300m,mode=755", "tmpfs"])
            .arg(&folder)
            .status();
        mounted.is_ok_and(|status| status.success()).then_some(Self(folder))
    }

    /// Fills it to the last block.
    fn fill(&self) -> PathBuf {
        let ballast = self.0.join("ballast");
        let to = format!("of={}", ballast.display());
        let filled = Command::new("dd").args(["if=/dev/zero", &to, "bs=64k"]).output();
        assert!(!filled.expect("run dd").status.success(), "the disk was not filled");
        ballast
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        drop(Command::new("umount").args(["-l"]).arg(&self.0).status());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_refuses_writes_clearly_and_recovers_without_a_restart() {
    let place = Place::with_a_private_postgres();
    let Some(disk) = SmallDisk::mount(place.data_dir()) else {
        println!("skipped: this user may not mount a file system");
        return;
    };
    let weir = place.start(Part::Up).await;
    let rule = |n: u32| {
        json!({"ecosystem": "pypi", "package": "six", "versions": format!("=={n}"),
            "reason": "x".repeat(200), "mask": "mark"})
    };
    weir.client.post("/api/rules", &rule(0)).await.has(201);
    let ballast = disk.fill();

    // It takes a while until Postgres has used up what it had at hand; then every write is refused.
    let mut n = 0;
    let mut n_added = 1;
    let refused = deadline::within(Duration::from_mins(2), "a write is refused", async || {
        for _ in 0..200 {
            n += 1;
            let answer = weir.client.post("/api/rules", &rule(n)).await;
            match answer.status {
                201 => n_added += 1,
                _ => return Ok(answer),
            }
        }
        Err(n)
    })
    .await;
    assert_eq!(refused.status, 503, "{}", refused.body);
    assert!(refused.header("retry-after").is_some(), "{refused:?}");
    assert_eq!(refused.header("content-type"), Some("application/problem+json"));

    fs::remove_file(ballast).expect("room again");
    deadline::within(Duration::from_secs(20), "writes go on", async || {
        n += 1;
        let answer = weir.client.post("/api/rules", &rule(n)).await;
        if answer.status == 201 { Ok(()) } else { Err(answer.body) }
    })
    .await;
    let verified = place.run(&["verify"]);
    let said = String::from_utf8_lossy(&verified.stdout).into_owned();
    assert!(verified.status.success(), "{said}{}", String::from_utf8_lossy(&verified.stderr));
    let head = weir.client.get("/api/status").await.json()["head"].as_i64().expect("the head");
    assert!(head > n_added, "{head} events for {n_added} acknowledged rules");
    weir.stop().await;
}
