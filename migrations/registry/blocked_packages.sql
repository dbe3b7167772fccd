-- What was refused, once per version and source, with how often. A version that no file name told
-- is the empty text.
CREATE TABLE blocked_packages (
    first_position bigint NOT NULL,
    last_position bigint NOT NULL UNIQUE,
    first_seen timestamptz NOT NULL,
    last_seen timestamptz NOT NULL,
    n_blocks bigint NOT NULL,
    ecosystem text COLLATE "C" NOT NULL,
    package text COLLATE "C" NOT NULL,
    version text COLLATE "C" NOT NULL,
    source text COLLATE "C" NOT NULL,
    reason text NOT NULL,
    PRIMARY KEY (package, ecosystem, version, source)
) WITH (fillfactor = 80);
