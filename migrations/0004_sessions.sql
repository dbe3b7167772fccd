-- Browsers that signed in: a secret of 256 random bits each, kept as its BLAKE3 hash only.
-- A row opens nothing by itself: its token has to be good too.
CREATE TABLE access.sessions (
    hash bytea PRIMARY KEY CHECK (octet_length(hash) = 32),
    token_id text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    -- When it was ended before its time. That it was counts, whatever clock reads the time; the row
    -- stays a while, since who swept it away at once would lose who it was of.
    ended_at timestamptz,
    -- To the minute.
    last_used timestamptz NOT NULL
) WITH (fillfactor = 70);
CREATE INDEX sessions_of_token ON access.sessions (token_id);
CREATE INDEX sessions_expire ON access.sessions (expires_at);
