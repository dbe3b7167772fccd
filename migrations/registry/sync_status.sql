-- How each source of advisories stands, part by part. The part of a source that is visited as a
-- whole is the empty text.
CREATE TABLE sync_status (
    source text COLLATE "C" NOT NULL,
    ecosystem text COLLATE "C" NOT NULL,
    started_at timestamptz,
    succeeded_at timestamptz,
    failed_at timestamptz,
    -- Why the last visit failed, if it did.
    cause text,
    -- What the source called its state when it was read last.
    revision text,
    -- What the last visit that succeeded counted.
    n_records bigint NOT NULL DEFAULT 0,
    n_unreadable bigint NOT NULL DEFAULT 0,
    position bigint NOT NULL,
    PRIMARY KEY (source, ecosystem)
) WITH (fillfactor = 50);
-- When somebody last asked for a visit to a source.
CREATE TABLE sync_requests (
    source text COLLATE "C" PRIMARY KEY,
    asked_at timestamptz NOT NULL
) WITH (fillfactor = 50);
-- How much each source says about each ecosystem.
CREATE TABLE sync_advisories (
    source text COLLATE "C" NOT NULL,
    ecosystem text COLLATE "C" NOT NULL,
    n_advisories bigint NOT NULL,
    PRIMARY KEY (source, ecosystem)
) WITH (fillfactor = 50);
-- Every visit that ended.
CREATE TABLE sync_history (
    position bigint PRIMARY KEY,
    source text COLLATE "C" NOT NULL,
    ecosystem text COLLATE "C" NOT NULL,
    ended_at timestamptz NOT NULL,
    duration_ms bigint NOT NULL,
    -- Why it failed, if it did.
    cause text,
    revision text,
    n_records bigint NOT NULL,
    n_unreadable bigint NOT NULL,
    n_published bigint NOT NULL,
    n_changed bigint NOT NULL,
    n_withdrawn bigint NOT NULL
);
CREATE INDEX sync_history_by_source ON sync_history (source, position);
