-- Waivers, those of the past too: who asked, who said yes, and how each ended.
CREATE TABLE waivers (
    id text COLLATE "C" PRIMARY KEY,
    -- The event it began with: the order of the list.
    first_position bigint NOT NULL UNIQUE,
    -- The event that made it what it is.
    position bigint NOT NULL,
    -- waiting, granted, revoked, expired
    state text COLLATE "C" NOT NULL,
    ecosystem text COLLATE "C" NOT NULL,
    package text COLLATE "C" NOT NULL,
    versions text NOT NULL,
    waives text[] NOT NULL,
    token text COLLATE "C",
    reason text NOT NULL,
    owner text NOT NULL,
    expires_at timestamptz NOT NULL,
    requested_by text COLLATE "C" NOT NULL,
    requested_at timestamptz NOT NULL,
    granted_by text COLLATE "C",
    granted_at timestamptz,
    -- Who took it back; nobody where its time was over.
    ended_by text COLLATE "C",
    ended_at timestamptz,
    end_reason text
);
CREATE INDEX waivers_by_state ON waivers (state, first_position);
