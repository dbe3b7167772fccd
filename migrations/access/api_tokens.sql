-- Every token ever issued, revoked or not. No secret stands here.
CREATE TABLE api_tokens (
    id text COLLATE "C" PRIMARY KEY,
    position bigint NOT NULL UNIQUE,
    name text NOT NULL,
    scopes text[] NOT NULL,
    issued_at timestamptz NOT NULL,
    issued_by text COLLATE "C" NOT NULL,
    expires_at timestamptz,
    revoked_at timestamptz,
    -- The profile that it is judged by.
    profile text COLLATE "C",
    -- The agent whose own it is.
    agent text COLLATE "C"
);
