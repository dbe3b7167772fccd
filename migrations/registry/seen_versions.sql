-- Every version of which a file was asked for, once, with how often it was let through and refused. A
-- file whose name tells no version is not here.
CREATE TABLE seen_versions (
    last_position bigint NOT NULL UNIQUE,
    last_seen timestamptz NOT NULL,
    n_allowed bigint NOT NULL,
    n_blocked bigint NOT NULL,
    ecosystem text COLLATE "C" NOT NULL,
    package text COLLATE "C" NOT NULL,
    version text COLLATE "C" NOT NULL,
    PRIMARY KEY (ecosystem, package, version)
) WITH (fillfactor = 80);
