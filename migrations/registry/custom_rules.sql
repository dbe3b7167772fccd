-- The operator's rules that are in force.
CREATE TABLE custom_rules (
    id text COLLATE "C" PRIMARY KEY,
    -- The event that made it what it is.
    position bigint NOT NULL,
    changed_at timestamptz NOT NULL,
    changed_by text COLLATE "C" NOT NULL,
    ecosystem text COLLATE "C" NOT NULL,
    package text COLLATE "C" NOT NULL,
    versions text NOT NULL,
    reason text NOT NULL,
    mask text COLLATE "C" NOT NULL
);
