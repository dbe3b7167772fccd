-- What agents asked of the outside, and what became of it. Cycles and ticks are those of the world's
-- time.
CREATE TABLE request_log (
    id bytea NOT NULL CHECK (octet_length(id) = 32),
    agent text COLLATE "C" NOT NULL,
    url text NOT NULL,
    host text COLLATE "C" NOT NULL,
    method text COLLATE "C" NOT NULL,
    purpose text NOT NULL,
    -- submitted, completed, blocked or failed.
    state text COLLATE "C" NOT NULL,
    -- None where the outside did not answer.
    status_code integer,
    content_size bigint NOT NULL,
    cached boolean NOT NULL,
    blocked boolean NOT NULL,
    block_reason text,
    tick_cost bigint NOT NULL,
    spark_cost bigint NOT NULL,
    -- In spark, on top.
    tax bigint NOT NULL,
    code_blocks_removed bigint NOT NULL,
    bytes_stripped bigint NOT NULL,
    cycle bigint NOT NULL,
    -- In ticks.
    created_at bigint NOT NULL,
    -- The hosts that were contacted.
    hosts text[] NOT NULL,
    -- The addresses that redirects led to, as MessagePack; none where there were none.
    redirects bytea,
    -- The host that was refused.
    domain text,
    error_code integer,
    error text COLLATE "C",
    error_reason text,
    -- By its BLAKE3 in the content store.
    content bytea,
    content_type text,
    -- MessagePack.
    filter_report bytea,
    -- Of those that were admitted only.
    interaction text COLLATE "C",
    strips_code boolean,
    epoch bigint,
    -- What a human was asked and has allowed.
    approval bytea CHECK (octet_length(approval) = 32),
    -- The event it begins with, and the one it ends with.
    position bigint NOT NULL,
    settled bigint,
    recorded_at timestamptz NOT NULL,
    -- When it was admitted: one that was too early at first may come again.
    submitted_at timestamptz,
    -- Agents choose the ids: two may choose the same.
    PRIMARY KEY (id, agent)
) WITH (fillfactor = 80);
CREATE INDEX request_log_by_position ON request_log (position);
CREATE INDEX request_log_by_agent ON request_log (agent, position);
CREATE INDEX request_log_by_cycle ON request_log (cycle);
CREATE INDEX request_log_by_host ON request_log (host, position);
-- Addresses may be longer than what fits into a tree.
CREATE INDEX request_log_by_url ON request_log USING hash (url);
CREATE INDEX request_log_unsettled ON request_log (submitted_at) WHERE state = 'submitted';
