-- Auth state that no event may carry.
CREATE SCHEMA access;

-- The argon2id hash of each token's secret. A row without a TokenIssued event opens nothing.
CREATE TABLE access.secrets (
    token_id text COLLATE "C" PRIMARY KEY,
    verifier text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
