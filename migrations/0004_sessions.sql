-- Browsers that signed in: a secret of 256 random bits each, kept as its BLAKE3 hash only.
-- A row opens nothing by itself: its token has to be good too.
CREATE TABLE access.sessions (
    hash bytea PRIMARY KEY CHECK (octet_length(hash) = 32),
    token_id text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL,
    -- Signing out sets it to that moment; who swept the row away then would lose who it was of.
    expires_at timestamptz NOT NULL,
    -- To the minute.
    last_used timestamptz NOT NULL
) WITH (fillfactor = 70);
CREATE INDEX sessions_of_token ON access.sessions (token_id);
CREATE INDEX sessions_expire ON access.sessions (expires_at);
