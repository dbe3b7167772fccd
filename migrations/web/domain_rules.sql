-- The rules about hosts that are in force.
CREATE TABLE domain_rules (
    -- In its one spelling.
    pattern text COLLATE "C" PRIMARY KEY,
    -- 0 allows, 1 blocks.
    action smallint NOT NULL CHECK (action IN (0, 1)),
    category text COLLATE "C" NOT NULL,
    reason text NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    -- The event that made it what it is.
    position bigint NOT NULL UNIQUE,
    updated_by text COLLATE "C" NOT NULL
);
