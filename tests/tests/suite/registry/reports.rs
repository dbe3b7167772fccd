//! What went wrong elsewhere: thirty reports about other registries, mirrors and firewalls, each with
//! the tests that hold Weir to the right behaviour.

use std::{fs, path::Path};

/// A report: the right behaviour, and which tests prove it, as `file name` below the repository.
type Report = (&'static str, &'static [(&'static str, &'static str)]);

const P: &str = "processors/src/registry";
const S: &str = "tests/tests/suite/registry";

/// In the order in which they were collected.
const REPORTS: [Report; 30] = [
    (
        "a tag steps down within its major version, never up and never away",
        &[
            ("P/npm/tags.rs", "latest_steps_down_within_its_major_version_and_never_up"),
            ("P/npm/tags.rs", "no_tag_ever_stands_for_what_is_not_listed_and_latest_stays"),
            ("S/npm.rs", "who_asks_for_no_version_gets_the_newest_that_is_allowed"),
        ],
    ),
    (
        "a list is filtered once for each document and policy, whoever asks",
        &[
            ("P/npm/tests/packages.rs", "a_rule_counts_at_once_and_each_policy_is_written_once"),
            ("P/npm/tests/outside.rs", "many_cold_clients_make_one_request_for_a_packument"),
        ],
    ),
    (
        "each form of a list has a validator of its own",
        &[(
            "P/npm/tests/packages.rs",
            "each_form_is_revalidated_by_itself_and_never_unchanged_across_policies",
        )],
    ),
    (
        "the abbreviated form tells how old versions are",
        &[("P/npm/tests/packages.rs", "the_abbreviated_form_tells_how_old_versions_are")],
    ),
    (
        "a policy makes no package look as if it had been changed",
        &[("P/npm/render/tests.rs", "a_policy_does_not_touch_when_a_package_was_modified")],
    ),
    (
        "what a failing upstream leaves to say is not to be kept",
        &[
            (
                "P/npm/tests/outside.rs",
                "a_packument_without_times_does_not_displace_one_that_tells_them",
            ),
            (
                "P/npm/tests/outside.rs",
                "a_packument_without_times_is_kept_briefly_and_by_no_client_where_an_age_counts",
            ),
            (
                "P/hostile.rs",
                "a_list_that_is_none_is_told_not_kept_and_does_not_displace_the_last_good_one",
            ),
        ],
    ),
    (
        "when a file was uploaded is passed on",
        &[
            ("P/pypi/render.rs", "when_a_file_was_uploaded_is_passed_on_as_it_was_told"),
            ("P/pypi/render.rs", "without_rules_the_json_is_the_upstreams_but_for_the_addresses"),
        ],
    ),
    (
        "core metadata are served, and verified by their own hash",
        &[(
            "P/pypi/tests/files.rs",
            "core_metadata_and_signatures_are_gated_like_their_file_and_verified_by_their_own_hash",
        )],
    ),
    (
        "a part has the length it says",
        &[
            (
                "P/pypi/tests/files.rs",
                "parts_of_a_file_can_be_asked_for_before_and_after_it_is_kept",
            ),
            ("P/npm/tests/tarballs.rs", "parts_heads_and_validators_of_a_tarball"),
        ],
    ),
    (
        "who asks for the head of what is not here yet is answered",
        &[(
            "P/pypi/tests/files.rs",
            "head_tells_the_true_size_without_fetching_and_a_known_file_is_not_sent_again",
        )],
    ),
    (
        "a head tells the true length",
        &[
            ("api/src/packages.rs", "head_tells_the_size_of_what_it_does_not_send"),
            ("P/answer.rs", "head_keeps_the_length_of_the_body_it_does_not_send"),
        ],
    ),
    (
        "files are passed on as they are, and lists are decoded once",
        &[
            (
                "P/npm/tests/tarballs.rs",
                "nothing_promised_passes_through_unpacked_by_nobody_and_is_not_kept",
            ),
            ("P/pypi/tests/outside.rs", "a_compressed_page_is_decoded_exactly_once"),
            ("P/npm/tests/outside.rs", "a_compressed_packument_is_decoded_exactly_once"),
        ],
    ),
    (
        "an unchanged list is the one that was there, also for many who ask at once",
        &[
            (
                "P/pypi/tests/races.rs",
                "many_who_ask_at_once_hear_unchanged_of_what_they_have_only_and_the_upstream_hears_of_it_once",
            ),
            ("P/pypi/tests/outside.rs", "a_page_is_asked_for_again_with_its_validator"),
            ("P/asking.rs", "a_validator_is_found_among_those_the_client_has"),
        ],
    ),
    (
        "a part of a file is never kept for the whole",
        &[
            ("P/pypi/tests/files.rs", "a_download_that_breaks_off_is_an_error_and_leaves_nothing"),
            (
                "P/hostile.rs",
                "a_file_that_is_none_never_ends_well_is_not_kept_and_does_not_displace_the_right_one",
            ),
        ],
    ),
    (
        "many who ask make one fetch, and a failure does not last",
        &[
            ("P/pypi/tests/files.rs", "many_cold_clients_make_one_fetch_and_read_while_it_comes"),
            (
                "P/docker/tests.rs",
                "a_blob_passes_with_a_manifest_that_passes_and_with_nothing_else",
            ),
            (
                "P/docker/tests/blobs.rs",
                "many_cold_clients_make_one_fetch_of_a_manifest_and_one_of_a_blob",
            ),
            (
                "P/docker/tests/blobs.rs",
                "a_blob_that_could_not_be_kept_is_given_all_the_same_and_kept_the_next_time",
            ),
            (
                "processors/src/flights.rs",
                "work_that_is_dropped_is_given_up_and_does_not_block_the_key",
            ),
        ],
    ),
    (
        "an image that is here is given though its tag vanished, and the head of a blob before it is here",
        &[
            (
                "P/docker/tests.rs",
                "an_old_tag_is_given_while_the_upstream_fails_and_after_it_vanished",
            ),
            (
                "P/docker/tests/blobs.rs",
                "the_head_of_a_blob_tells_its_size_before_it_is_here_and_no_more_than_its_manifest_does",
            ),
        ],
    ),
    (
        "a list that is kept is asked for again, with the validator it came with",
        &[
            ("P/cargo/tests/outside.rs", "a_list_is_asked_for_again_with_its_validator"),
            ("P/go/tests/lists.rs", "a_list_is_revalidated"),
        ],
    ),
    (
        "what nobody here understands stays byte for byte",
        &[
            (
                "P/cargo/tests/lists.rs",
                "a_forbidden_version_is_marked_or_left_out_and_all_else_stays_byte_for_byte",
            ),
            ("P/npm/render/tests.rs", "what_is_hidden_is_cut_out_and_nothing_else_is_touched"),
            ("P/pypi/render.rs", "without_rules_the_json_is_the_upstreams_but_for_the_addresses"),
        ],
    ),
    (
        "what is not there is a 404, and who is not known gets a 401",
        &[
            ("P/cargo/tests/lists.rs", "what_does_not_exist_is_not_found"),
            ("P/cargo/tests/lists.rs", "who_is_not_known_is_told_where_tokens_are_to_be_had"),
            (
                "S/cargo.rs",
                "where_tokens_are_needed_cargo_shows_its_own_and_one_for_python_opens_no_crate",
            ),
        ],
    ),
    (
        "a module that is missing, a proxy that fails and a zip of others are told apart",
        &[
            (
                "P/go/tests/lists.rs",
                "what_is_not_there_is_not_found_and_a_failing_upstream_is_no_way_around",
            ),
            (
                "P/go/tests/zips.rs",
                "a_zip_is_verified_kept_byte_for_byte_and_served_without_the_upstream",
            ),
            ("P/go/tests/lists.rs", "the_checksum_database_is_passed_on_but_for_private_modules"),
        ],
    ),
    (
        "a scoped package is found by every spelling of its slash",
        &[("P/npm/tests/packages.rs", "a_scoped_package_has_one_packument_in_every_spelling")],
    ),
    (
        "addresses in lists lead here, by one rule",
        &[
            ("api/src/base.rs", "the_operators_word_goes_before_what_the_client_asked"),
            ("api/src/base.rs", "https_is_believed_from_a_trusted_proxy_only"),
            ("S/prefixed.rs", "every_tarball_of_a_packument_is_found_through_the_proxy"),
            ("S/prefixed.rs", "every_file_of_a_project_is_found_through_the_proxy"),
        ],
    ),
    (
        "an audit is answered here",
        &[
            ("P/npm/tests/beside.rs", "an_audit_is_answered_from_the_rules_and_asks_nobody"),
            ("S/npm.rs", "npm_audits_against_the_advisories_that_are_known_here"),
        ],
    ),
    (
        "another file under a name that is known is another file",
        &[(
            "P/hostile.rs",
            "a_file_that_was_published_again_is_given_neither_as_it_was_nor_as_it_is",
        )],
    ),
    (
        "names of our own are nobody else's, and nobody outside hears of them",
        &[
            ("P/pypi/tests/pages.rs", "what_is_reserved_is_refused_and_nobody_outside_hears_of_it"),
            (
                "P/npm/tests/packages.rs",
                "what_is_reserved_is_refused_and_nobody_outside_hears_of_it",
            ),
            ("P/pypi/render.rs", "what_an_index_says_of_other_indexes_is_passed_on"),
            ("P/go/sumdb.rs", "private_patterns_are_those_of_the_go_command"),
        ],
    ),
    (
        "what is kept is judged like what is not",
        &[
            (
                "P/pypi/tests/files.rs",
                "a_forbidden_file_is_refused_with_the_reason_even_when_it_is_here",
            ),
            ("S/pypi.rs", "an_advisory_bites_within_a_second_also_on_what_is_cached"),
        ],
    ),
    (
        "what was not there is looked for again, and a failure is no absence",
        &[
            (
                "P/hostile.rs",
                "a_list_that_is_none_is_told_not_kept_and_does_not_displace_the_last_good_one",
            ),
            (
                "P/npm/tests/outside.rs",
                "without_an_old_packument_a_failure_is_ours_to_report_and_not_a_missing_package",
            ),
        ],
    ),
    (
        "a path that leads elsewhere leads nowhere",
        &[
            ("P/npm/request.rs", "paths_that_lead_elsewhere_lead_nowhere"),
            ("P/pypi/request.rs", "paths_that_lead_elsewhere_lead_nowhere"),
            ("P/go/module.rs", "a_query_leads_nowhere_else"),
        ],
    ),
    (
        "what is listed can be downloaded",
        &[
            ("P/cargo/document.rs", "a_line_that_cannot_be_read_is_not_passed_on"),
            ("P/go/document.rs", "a_list_holds_what_can_be_downloaded"),
            ("P/pypi/html.rs", "links_that_are_no_files_are_left_out_and_counted"),
        ],
    ),
    (
        "a minimum age keeps nobody from the version that mends",
        &[
            ("S/pypi.rs", "what_is_too_young_is_not_chosen_and_a_fix_may_be"),
            (
                "aggregates/src/registry/dossier/tests/times.rs",
                "a_version_that_fixes_an_advisory_that_counts_may_be_younger_and_that_is_told",
            ),
        ],
    ),
];

/// Whether a source has a test of this name, and it is one that runs.
fn has_test(source: &str, name: &str) -> bool {
    let lines: Vec<_> = source.lines().map(str::trim).collect();
    let at = lines.iter().position(|line| {
        let line = line.strip_prefix("async ").unwrap_or(line);
        line.strip_prefix("fn ").is_some_and(|rest| rest.starts_with(&format!("{name}(")))
    });
    let attributes = lines[..at.unwrap_or_default()].iter().rev();
    let mut attributes = attributes.take_while(|line| line.starts_with('#')).peekable();
    attributes.peek().is_some()
        && attributes.all(|line| line.starts_with("#[test") || line.starts_with("#[tokio::test"))
}

#[test]
fn every_report_has_a_test_that_is_there() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    for (n, (right, tests)) in (1..).zip(&REPORTS) {
        assert!(!tests.is_empty(), "report {n}: {right}");
        for (file, name) in *tests {
            let file = file.strip_prefix("P/").map_or_else(
                || file.replacen("S/", &format!("{S}/"), usize::from(file.starts_with("S/"))),
                |rest| format!("{P}/{rest}"),
            );
            let source = fs::read_to_string(root.join(&file));
            let source = source.unwrap_or_else(|fault| panic!("report {n}: {file}: {fault}"));
            assert!(has_test(&source, name), "report {n}: {right}: no test {name} in {file}");
        }
    }
}

#[test]
fn a_test_that_does_not_run_is_none() {
    assert!(has_test("#[tokio::test]\nasync fn it() {}", "it"));
    for source in ["fn it() {}", "#[test]\n#[ignore]\nfn it() {}", "#[test]\nfn item() {}", ""] {
        assert!(!has_test(source, "it"), "{source}");
    }
}
