-- What is cached: renderings of pages, each for everybody or for one agent.
CREATE TABLE cache (
    key bytea NOT NULL CHECK (octet_length(key) = 32),
    variant bytea NOT NULL CHECK (octet_length(variant) = 32),
    owner text COLLATE "C",
    shared boolean NOT NULL GENERATED ALWAYS AS (owner IS NULL) STORED,
    url text NOT NULL,
    host text COLLATE "C" NOT NULL,
    method text COLLATE "C" NOT NULL,
    status integer NOT NULL,
    -- By its BLAKE3 in the content store.
    content bytea NOT NULL CHECK (octet_length(content) = 32),
    content_size bigint NOT NULL,
    content_type text NOT NULL,
    -- MessagePack.
    filter_report bytea NOT NULL,
    title text,
    -- The origins that redirects led to on the way.
    redirected text[] NOT NULL,
    -- The keys, in hexadecimal digits, that GET has of the other addresses it comes from.
    also text[] COLLATE "C" NOT NULL,
    -- The request that fetched it.
    request bytea NOT NULL CHECK (octet_length(request) = 32),
    -- In cycles: it may be shown in those before the one it expires in.
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    n_hits bigint NOT NULL,
    -- The event that stored it, or the last one that showed it.
    used_at bigint NOT NULL,
    -- The event that stored it.
    position bigint NOT NULL,
    -- Where the log stood when it was asked for.
    asked_at bigint NOT NULL
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX cache_once ON cache (key, variant, coalesce(owner, ''));
CREATE INDEX cache_by_expiry ON cache (expires_at);
CREATE INDEX cache_by_shared ON cache (shared, position);
CREATE INDEX cache_by_position ON cache (position);
CREATE INDEX cache_by_owner ON cache (owner, position) WHERE owner IS NOT NULL;
CREATE INDEX cache_by_host ON cache (host, position);
-- Addresses may be longer than what fits into a tree.
CREATE INDEX cache_by_url ON cache USING hash (url);
-- Few pages come from another address than their own.
CREATE INDEX cache_by_also ON cache USING gin (also) WHERE also <> '{}';
CREATE INDEX cache_by_content ON cache (content);
-- How much that is, all in all: one row, or none as long as nothing was stored.
CREATE TABLE cache_totals (
    one boolean PRIMARY KEY CHECK (one),
    n_pages bigint NOT NULL,
    n_bytes bigint NOT NULL
) WITH (fillfactor = 50);
