-- Every refused download.
CREATE TABLE block_log (
    position bigint PRIMARY KEY,
    at timestamptz NOT NULL,
    ecosystem text COLLATE "C" NOT NULL,
    package text COLLATE "C" NOT NULL,
    version text COLLATE "C",
    file text NOT NULL,
    source text COLLATE "C" NOT NULL,
    rule_id text COLLATE "C",
    reason text NOT NULL,
    mask text COLLATE "C" NOT NULL,
    principal text COLLATE "C" NOT NULL,
    advisory_id text COLLATE "C",
    severity text COLLATE "C",
    hit text,
    fixed_by text
);
CREATE INDEX block_log_by_package ON block_log (package, position);
CREATE INDEX block_log_by_rule ON block_log (rule_id, position) WHERE rule_id IS NOT NULL;
CREATE INDEX block_log_by_advisory ON block_log (advisory_id, position)
    WHERE advisory_id IS NOT NULL;
