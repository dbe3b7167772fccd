-- Every agent ever registered, revoked or not.
CREATE TABLE agents (
    -- SHA-256 of its public key, in hexadecimal digits.
    id text COLLATE "C" PRIMARY KEY,
    position bigint NOT NULL UNIQUE,
    name text NOT NULL,
    public_key text COLLATE "C" NOT NULL,
    registered_at timestamptz NOT NULL,
    registered_by text COLLATE "C" NOT NULL,
    revoked_at timestamptz,
    revoked_by text COLLATE "C"
);
