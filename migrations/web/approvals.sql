-- What agents have asked humans about, and what became of it.
CREATE TABLE approvals (
    approval bytea PRIMARY KEY,
    agent bytea NOT NULL,
    url text NOT NULL,
    method text NOT NULL,
    purpose text NOT NULL,
    host text NOT NULL,
    reason text NOT NULL,
    -- What else the request says, as JSON; none in questions from before it was recorded.
    said text,
    asked_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    -- `allow` or `deny`; none while nobody has answered.
    word text,
    answer text,
    answered_by text,
    answered_at timestamptz,
    until timestamptz,
    -- The event that made it what it is.
    position bigint NOT NULL
);
CREATE INDEX ON approvals (position DESC);
CREATE INDEX ON approvals (asked_at) WHERE word IS NULL;
