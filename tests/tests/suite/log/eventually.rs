//! Every machine is an `eventually` aggregate, and the log is its event store.

use std::sync::Arc;

use eventually::{AggregateRootBuilder, Repository, store::AppendError, versioning::Versioned};
use weir_aggregates::{
    access::{Binding, Command, Grantor, Refusal, Standing, State, Token},
    bridge::Bridged,
    machine::Context,
};
use weir_events::{
    access::{Event, TokenIssued},
    timestamp::Timestamp,
};
use weir_log::{append::Outcome, eventually::Store};
use weir_tests::{
    database::TestDatabase,
    events::{at_version, meta, stream},
};

const NOW: Context = Context { now: Timestamp::from_micros(1_795_824_000_000_000) };

fn issued() -> TokenIssued {
    TokenIssued {
        token_id: "0123456789abcdef".to_owned(),
        name: "ci".to_owned(),
        scopes: vec!["admin".to_owned()],
        expires_at: None,
        profile: None,
        agent: None,
    }
}

fn issue() -> Command {
    Command::Issue {
        token: Box::new(issued()),
        by: Grantor::admin(),
        binding: Binding::Stricter,
        standing: Standing::Nobody,
    }
}

#[tokio::test]
async fn a_machine_lives_in_eventuallys_repository_and_conflicts_are_told() {
    let database = TestDatabase::create().await;
    let log = database.log().await;
    let store = Store::<Event>::new(log.log.clone(), Arc::new(|| (meta(), NOW.now)));
    let builder = AggregateRootBuilder::from(Bridged::<Token>::new());
    let mut repository = Repository::new(builder, store);
    let id = stream("access/token/0123456789abcdef");

    let mut root = repository.get(id.clone()).await.expect("an empty stream");
    root.handle((issue(), NOW)).await.expect("issued");
    let root = repository.add(root).await.expect("saved");
    assert_eq!(root.version(), 1);

    let mut loaded = repository.get(id.clone()).await.expect("read back");
    assert_eq!(loaded.state(), &State::Live(issued()));
    let refused = loaded.handle((issue(), NOW)).await.map(drop);
    assert!(matches!(refused, Err(Refusal::AlreadyIssued(_))), "{refused:?}");

    // Somebody else writes in between.
    loaded.handle((Command::Revoke, NOW)).await.expect("decided on what was read");
    let between = at_version(id.as_str(), 1, &[Event::from(issued())]);
    assert!(matches!(log.log.append(between).await, Ok(Outcome::Appended(_))));
    let lost = repository.add(loaded).await.map(drop);
    let Err(eventually::repository::Error::Store(fault)) = lost else { panic!("{lost:?}") };
    assert!(fault.is_conflict_error(), "{fault}");
}
