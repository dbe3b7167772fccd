//! Pages that are kept.

use super::*;

#[tokio::test]
async fn the_cache_has_a_rendering_for_everybody_and_one_for_each_owner() {
    let mut stage = Stage::new().await;
    let database = stage.log.log.database();
    let (ann, bob) = (agent(1), agent(2));
    let page = asked(1, ann, 3);
    let (everybodys, anns) = (stored(&page, None, hash(1)), stored(&page, Some(ann), hash(2)));
    let plain = weir_events::web::WebCacheStored { variant: hash(5), ..everybodys.clone() };
    stage.web(&[everybodys.clone().into(), anns.clone().into(), plain.into()]).await;
    stage.web(&[hit(&everybodys, &page).into(), hit(&everybodys, &page).into()]).await;
    let of = |agent| async move {
        let rows = cache::find(database, &everybodys.key, &everybodys.variant, &agent).await;
        let rows = rows.expect("rows").into_iter();
        rows.map(|row| (row.content, row.n_hits)).collect::<BTreeSet<_>>()
    };
    assert_eq!(of(ann).await, BTreeSet::from([(hash(1), 2), (hash(2), 2)]));
    let everybodys = stored(&page, None, hash(1));
    let rows = cache::find(database, &everybodys.key, &everybodys.variant, &bob).await;
    let rows = rows.expect("rows");
    assert_eq!(rows.iter().map(|row| row.content).collect::<Vec<_>>(), [hash(1)]);
    assert_eq!((rows[0].created_at, rows[0].expires_at), (3, 7));

    assert_eq!(cache::n_expired(database, 6).await.expect("a number"), 0);
    assert_eq!(cache::n_expired(database, 7).await.expect("a number"), 3);
    // What was not used for longest goes first.
    let beyond = cache::beyond(database, 20, 10).await.expect("rows");
    assert_eq!(beyond.iter().map(|it| it.variant).collect::<Vec<_>>(), [hash(5)]);
    // Stored again, it begins anew.
    stage.web(&[evicted(&anns, 4).into(), stored(&page, None, hash(3)).into()]).await;
    let rows = cache::find(database, &everybodys.key, &everybodys.variant, &ann).await;
    let rows: Vec<_> = rows.expect("rows").iter().map(|row| (row.content, row.n_hits)).collect();
    assert_eq!(rows, [(hash(3), 0)]);
    let totals = cache::totals(database).await.expect("totals");
    let bytes = stage.numbers("SELECT sum(content_size)::bigint FROM portal.cache").await;
    assert_eq!((totals.n_pages, vec![totals.n_bytes.cast_signed()]), (2, bytes));
    stage.rest().await;
}

/// One event forgets them all, however the log is cut into batches; what was stored after it stays.
#[tokio::test]
async fn all_whose_time_has_come_go_at_one_word() {
    for together in [true, false] {
        let mut stage = Stage::new().await;
        let database = stage.log.log.database();
        let (old, young) = (asked(1, agent(1), 3), asked(2, agent(1), 4));
        let anns = stored(&old, Some(agent(1)), hash(2));
        let again = weir_events::web::WebCacheStored { cycle: 5, ..anns.clone() };
        let events: [Event; 7] = [
            stored(&old, None, hash(1)).into(),
            anns.into(),
            stored(&young, None, hash(3)).into(),
            expired(2, 7).into(),
            hit(&stored(&old, None, hash(1)), &old).into(),
            again.into(),
            stored(&asked(3, agent(1), 3), None, hash(4)).into(),
        ];
        if together {
            stage.web(&events).await;
        } else {
            for event in events {
                stage.web(&[event]).await;
            }
        }
        let left = stage.numbers("SELECT expires_at FROM portal.cache ORDER BY expires_at").await;
        assert_eq!(left, [7, 8, 9], "late, young, and stored again");
        let totals = cache::totals(database).await.expect("totals");
        assert_eq!((totals.n_pages, totals.n_bytes), (3, 30));
        stage.rest().await;
    }
}

/// Whatever stands in one batch: what changed takes what was stored before it, and nothing after it.
#[tokio::test]
async fn what_changed_is_gone_with_all_that_comes_from_it_however_events_are_batched() {
    let (ann, keys) = (agent(1), |keys: &[u64]| {
        let keys = keys.iter().map(|key| hash(*key)).collect();
        WebCacheInvalidated {
            pages: Invalidated::Keys(keys),
            cause: WebEvictionCause::Changed,
            cycle: 3,
        }
    });
    let page = |n: u64, also: &[u64], owner: Option<AgentId>| {
        let also = also.iter().map(|key| hash(*key)).collect();
        WebCacheStored { key: hash(n), also, ..stored(&asked(n, ann, 3), owner, hash(100 + n)) }
    };
    let events: Vec<Event> = vec![
        page(1, &[], None).into(),
        page(2, &[1, 9], None).into(),
        page(3, &[9], Some(ann)).into(),
        page(4, &[8], None).into(),
        keys(&[1]).into(),
        // Again, with something else: that is newer.
        page(2, &[9], None).into(),
        page(5, &[], None).into(),
        keys(&[5, 7]).into(),
        page(6, &[], Some(ann)).into(),
        keys(&[9]).into(),
        page(1, &[], None).into(),
    ];
    let mut found = Vec::new();
    for size in [events.len(), 1, 4, 5] {
        let mut stage = Stage::new().await;
        for batch in events.chunks(size) {
            stage.web(batch).await;
        }
        let left =
            "SELECT ('x' || lpad(encode(substr(key, 1, 6), 'hex'), 16, '0'))::bit(64)::bigint
            FROM portal.cache ORDER BY 1";
        let digests =
            "SELECT ('x' || lpad(encode(substr(digest, 1, 6), 'hex'), 16, '0'))::bit(64)::bigint
            FROM portal.cache_digests ORDER BY 1";
        let totals = "SELECT unnest(ARRAY[n_pages, n_bytes]) FROM portal.cache_totals";
        let counted = "SELECT unnest(ARRAY[count(*), sum(content_size)::bigint]) FROM portal.cache";
        assert_eq!(stage.numbers(totals).await, stage.numbers(counted).await, "{size}");
        found.push((size, stage.numbers(left).await, stage.numbers(digests).await));
        stage.rest().await;
    }
    let (_, left, digests) = &found[0];
    assert_eq!(
        (left.len(), digests.len()),
        (3, 3),
        "the first, the fourth and the sixth: {found:?}"
    );
    for (size, of, their_digests) in &found[1..] {
        assert_eq!((of, their_digests), (left, digests), "{size} at once");
    }
}
