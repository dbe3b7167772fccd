//! Blobs as their clients ask for them: by their heads, many at once, and where nothing can be kept.

use std::{fs, sync::Arc};

use futures_util::future::join_all;
use tokio::sync::Semaphore;

use super::*;

fn layer() -> String {
    format!("blobs/{}", Digest::of(LAYER))
}

#[tokio::test]
async fn the_head_of_a_blob_tells_its_size_before_it_is_here_and_no_more_than_its_manifest_does() {
    let weir = Weir::start().await;
    let image = Image::new("x");
    weir.publish(&image, &["v1"]);
    assert_eq!(weir.head(&ours(layer())).await.status, StatusCode::NOT_FOUND);
    weir.has(format!("manifests/{}", image.manifest())).await;
    for temperature in ["cold", "warm"] {
        let head = weir.head(&ours(layer())).await;
        assert_eq!(head.status, StatusCode::OK, "{temperature}");
        assert_eq!(head.headers[CONTENT_LENGTH], LAYER.len().to_string().as_str());
        assert_eq!(head.headers[DIGEST], Digest::of(LAYER).to_string().as_str());
        assert_eq!(body(head).await.unwrap(), "");
        let fetched = usize::from(temperature == "warm");
        assert_eq!(weir.upstream.n_asked(&at(&layer())), fetched, "a head fetches nothing");
        assert_eq!(weir.has(layer()).await, LAYER);
        weir.until("kept", || weir.recorded().contains(&"stored")).await;
    }
    weir.rules(1, &[rule("*", Mask::Mark)]);
    let refused = weir.head(&ours(layer())).await;
    assert_eq!((refused.status, body(refused).await.unwrap().len()), (StatusCode::FORBIDDEN, 0));
}

#[tokio::test]
async fn many_cold_clients_make_one_fetch_of_a_manifest_and_one_of_a_blob() {
    let weir = Weir::start().await;
    let image = Image::new("x");
    weir.publish(&image, &[]);
    let manifest = format!("manifests/{}", image.manifest());
    for (rest, bytes) in [(manifest, &image.manifest[..]), (layer(), LAYER)] {
        let (path, gate) = (at(&rest), Arc::new(Semaphore::new(0)));
        weir.upstream.put(&path, Canned::new(bytes.to_vec()).held(&gate));
        // Whoever asks the upstream beside the first one finds it open, and is counted.
        let opening = async {
            weir.until("the upstream is asked", || weir.upstream.n_asked(&path) > 0).await;
            gate.add_permits(64);
        };
        let (got, ()) = tokio::join!(join_all((0..64).map(|_| weir.has(&rest))), opening);
        assert!(got.iter().all(|got| got == bytes), "{rest}");
        assert_eq!(weir.upstream.n_asked(&path), 1, "{rest}");
    }
}

/// Once, elsewhere, what could not be written was never written again, and an image was kept without its
/// layers.
#[tokio::test]
async fn a_blob_that_could_not_be_kept_is_given_all_the_same_and_kept_the_next_time() {
    let weir = Weir::start().await;
    let image = Image::new("x");
    weir.publish(&image, &[]);
    let manifest = format!("manifests/{}", image.manifest());
    weir.has(&manifest).await;
    let n_stored = || weir.recorded().iter().filter(|name| **name == "stored").count();
    weir.until("the manifest is kept", || n_stored() == 1).await;
    // Nothing can take the place of a folder.
    let file = Digest::of(LAYER).file();
    let taken = weir.root().join("files/docker/library%2fapp").join(file);
    fs::create_dir(&taken).unwrap();
    for n_fetches in 1..3 {
        assert_eq!(weir.has(layer()).await, LAYER);
        assert_eq!(weir.upstream.n_asked(&at(&layer())), n_fetches);
    }
    assert_eq!(n_stored(), 1);
    fs::remove_dir(&taken).unwrap();
    assert_eq!(weir.has(layer()).await, LAYER);
    weir.until("the blob is kept", || n_stored() == 2).await;
    for path in [&manifest, &layer()] {
        weir.upstream.remove(&at(path));
    }
    assert_eq!(weir.has(&manifest).await, image.manifest);
    assert_eq!(weir.has(layer()).await, LAYER);
}
