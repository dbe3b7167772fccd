//! What each of the ten clients shows of a pinned version that is forbidden, under each mask: the
//! table of the README, which the suites of the clients hold them to.

use std::fs;

/// What a client shows.
#[derive(Debug, Clone, Copy)]
enum Shows {
    /// The id of the advisory or rule, and what else.
    Id(&'static str),
    /// Not that: the version looks as if it were not there, or not to be chosen.
    No(&'static str),
}

/// Clients that show the same, and what they show under `mark`, `deny-only` and `hide`.
type Row = (&'static [&'static str], [Shows; 3]);

const MASKS: [&str; 3] = ["mark", "deny-only", "hide"];

const MATRIX: [Row; 6] = [
    (
        &["pip", "uv"],
        [
            Shows::Id("the reason and the rule, in the error of the download"),
            Shows::Id("the same"),
            Shows::No("no such version"),
        ],
    ),
    (
        &["npm"],
        [
            Shows::Id("the reason and the rule (`npm notice`)"),
            Shows::Id("the same"),
            Shows::No("no matching version"),
        ],
    ),
    (
        &["pnpm", "yarn", "berry", "bun"],
        [
            Shows::Id("the reason, in the address they print"),
            Shows::Id("the same (bun prints `***` for the rule)"),
            Shows::No("no such version"),
        ],
    ),
    (
        &["cargo"],
        [
            Shows::No(
                "for a pin that is locked the whole reason; for one that is not only that it is \
                 yanked, without reason or id",
            ),
            Shows::Id("the whole reason"),
            Shows::No("the candidates that are left"),
        ],
    ),
    (
        &["go"],
        [
            Shows::Id("the whole reason"),
            Shows::Id("the same"),
            Shows::Id("the same: a 404 would send it elsewhere"),
        ],
    ),
    (
        &["skopeo"],
        [
            Shows::Id("the whole reason, by tag or by digest"),
            Shows::Id("the same"),
            Shows::Id("the same; `list-tags` leaves it out, as with `mark`"),
        ],
    ),
];

/// Whether a client shows the id of the advisory for a version that its user pinned.
pub(super) fn shows_id(client: &str, mask: &str) -> bool {
    let row = MATRIX.iter().find(|(clients, _)| clients.contains(&client));
    let (_, cells) = row.unwrap_or_else(|| panic!("no row of {client}"));
    let column = MASKS.iter().position(|known| *known == mask);
    matches!(cells[column.unwrap_or_else(|| panic!("no mask {mask}"))], Shows::Id(_))
}

#[test]
fn the_readme_says_of_every_client_what_the_suites_hold_it_to() {
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md");
    let readme = fs::read_to_string(readme).expect("the README");
    let mut n_clients = 0;
    for (clients, cells) in &MATRIX {
        let cells = cells.map(|(Shows::Id(words) | Shows::No(words))| words);
        let line = format!("| {} | {} |\n", clients.join(", "), cells.join(" | "));
        let line = line.replace("berry", "yarn berry");
        assert!(readme.contains(&line), "the README does not say:\n{line}");
        n_clients += clients.len();
    }
    assert_eq!(n_clients, 10);
}
