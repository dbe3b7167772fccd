-- What requests add up to: counted as they come, reported when a cycle and all that was admitted in it
-- have ended, published when its report is an event.
CREATE TABLE cycle_totals (
    cycle bigint PRIMARY KEY,
    n_requests bigint NOT NULL,
    n_completed bigint NOT NULL,
    n_cached bigint NOT NULL,
    n_blocked bigint NOT NULL,
    n_failed bigint NOT NULL,
    -- Answers that had code taken out of them.
    n_stripped bigint NOT NULL,
    ticks bigint NOT NULL,
    spark bigint NOT NULL,
    tax bigint NOT NULL,
    ended boolean NOT NULL,
    -- Of those that have ended: the event that ended it, when that was recorded, and the hash of the
    -- portal's state there.
    ended_at bigint,
    end_recorded_at timestamptz,
    state_hash bytea CHECK (octet_length(state_hash) = 32),
    -- Whether it has a report.
    reported boolean NOT NULL DEFAULT false
) WITH (fillfactor = 50);
CREATE INDEX cycle_totals_open ON cycle_totals (cycle) WHERE NOT reported;
CREATE INDEX cycle_totals_by_end ON cycle_totals (ended_at, cycle) WHERE ended;
CREATE TABLE cycle_agents (
    cycle bigint NOT NULL,
    agent text COLLATE "C" NOT NULL,
    n_requests bigint NOT NULL,
    -- Of its quota.
    n_used bigint NOT NULL,
    quota bigint NOT NULL,
    exhausted boolean NOT NULL,
    n_cached bigint NOT NULL,
    n_blocked bigint NOT NULL,
    n_failed bigint NOT NULL,
    ticks bigint NOT NULL,
    spark bigint NOT NULL,
    tax bigint NOT NULL,
    PRIMARY KEY (cycle, agent)
) WITH (fillfactor = 50);
CREATE INDEX cycle_agents_by_agent ON cycle_agents (agent, cycle);
CREATE TABLE cycle_hosts (
    cycle bigint NOT NULL,
    host text COLLATE "C" NOT NULL,
    -- That contacted it, or were shown a page of it.
    n_requests bigint NOT NULL,
    PRIMARY KEY (cycle, host)
) WITH (fillfactor = 50);
-- Admitted, and not settled.
CREATE TABLE open_requests (
    id bytea NOT NULL,
    agent text COLLATE "C" NOT NULL,
    PRIMARY KEY (id, agent)
);
-- Refused for their pace, and in which cycle: each may come again, and is counted once. Those of a cycle
-- are forgotten when another one ends, seven days after it: no signature counts for longer, and by then
-- the gateway does not know any id again, so that one that comes is another request.
CREATE TABLE early_requests (
    id bytea NOT NULL,
    agent text COLLATE "C" NOT NULL,
    cycle bigint NOT NULL,
    PRIMARY KEY (id, agent)
);
CREATE INDEX early_requests_by_cycle ON early_requests (cycle);
-- SHA-256 of what is known of the requests that changed since a cycle ended last.
CREATE TABLE request_digests (
    id bytea NOT NULL,
    agent text COLLATE "C" NOT NULL,
    digest bytea NOT NULL,
    PRIMARY KEY (id, agent)
);
-- SHA-256 of what is cached.
CREATE TABLE cache_digests (
    key bytea NOT NULL,
    variant bytea NOT NULL,
    -- Empty where it is shared.
    owner text COLLATE "C" NOT NULL,
    digest bytea NOT NULL,
    -- The cycle it is not shown in any more.
    expires_at bigint NOT NULL,
    -- As in `cache`.
    also text[] COLLATE "C" NOT NULL,
    PRIMARY KEY (key, variant, owner)
);
CREATE INDEX cache_digests_by_also ON cache_digests USING gin (also) WHERE also <> '{}';
CREATE INDEX cache_digests_by_expiry ON cache_digests (expires_at);
CREATE TABLE reports (
    cycle bigint PRIMARY KEY,
    total_requests bigint NOT NULL,
    cache_hit_rate double precision NOT NULL,
    domains_accessed text[] NOT NULL,
    -- Who asked most, and how often.
    top_users text[] NOT NULL,
    top_requests bigint[] NOT NULL,
    code_filter_hits bigint NOT NULL,
    blocked_requests bigint NOT NULL,
    tick_cost bigint NOT NULL,
    spark_cost bigint NOT NULL,
    tax bigint NOT NULL,
    state_hash bytea NOT NULL CHECK (octet_length(state_hash) = 32),
    -- The event that ended the cycle.
    ended_at bigint NOT NULL,
    -- How often it was reported before, and something of it came later.
    revision bigint NOT NULL,
    -- The event that published the report.
    published_at bigint
) WITH (fillfactor = 80);
CREATE INDEX reports_unpublished ON reports (cycle) WHERE published_at IS NULL;
