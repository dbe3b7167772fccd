-- The engine of read models: builds, leases, dead letters, operators' commands.
CREATE SCHEMA projections;

-- One row per build of a read model. At most one is live (or halted), at most one is being made.
-- Who writes to a build's tables holds its row first: batches, redeliveries and the swap never
-- overlap.
CREATE TABLE projections.builds (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- The last position whose effects are in its tables.
    position bigint NOT NULL DEFAULT 0 CHECK (position >= 0),
    started_from bigint NOT NULL DEFAULT 0 CHECK (started_from >= 0),
    started_at timestamptz NOT NULL DEFAULT now(),
    moved_at timestamptz NOT NULL DEFAULT now(),
    -- Events a second, as its worker measured them.
    rate double precision NOT NULL DEFAULT 0,
    version integer NOT NULL,
    name text COLLATE "C" NOT NULL CHECK (name ~ '^[a-z][a-z0-9_]{0,39}$'),
    subsystem text COLLATE "C" NOT NULL CHECK (subsystem ~ '^[a-z]{1,9}$'),
    -- The schema its tables stand in.
    schema text COLLATE "C" NOT NULL UNIQUE
        GENERATED ALWAYS AS (subsystem || '_' || name || '_' || id::text) STORED,
    -- building becomes live, live becomes retired, what is retired gets dropped; a build that is
    -- called off is retired at once. checking is the scratch of a comparison.
    state text COLLATE "C" NOT NULL
        CHECK (state IN ('live', 'halted', 'building', 'checking', 'retired')),
    -- The event it stands still before, and why.
    halted_by text
) WITH (fillfactor = 50);
CREATE UNIQUE INDEX builds_one_live ON projections.builds (name) WHERE state IN ('live', 'halted');
CREATE UNIQUE INDEX builds_one_building ON projections.builds (name) WHERE state = 'building';

-- Who may move the builds of a projection (by its name), or a check's scratch (by its schema).
-- The fence rises with every new owner; a stalled one cannot commit.
CREATE TABLE projections.leases (
    name text COLLATE "C" PRIMARY KEY,
    owner uuid NOT NULL,
    -- What the owner calls itself.
    host text NOT NULL,
    fence bigint NOT NULL,
    -- By the clock of this database, which is the only one that counts.
    held_until timestamptz NOT NULL,
    held_for interval NOT NULL
) WITH (fillfactor = 50);

-- Operators' commands that were handled, by the version of their event in the projection's
-- operations stream; the newest row says how far that stream was followed.
CREATE TABLE projections.operations (
    name text COLLATE "C" NOT NULL,
    version bigint NOT NULL CHECK (version > 0),
    position bigint NOT NULL,
    build bigint,
    refused text,
    handled_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (name, version)
);

-- Events a build could not apply.
CREATE TABLE projections.dead_letters (
    build bigint NOT NULL REFERENCES projections.builds (id) ON DELETE CASCADE,
    position bigint NOT NULL,
    kind integer NOT NULL,
    attempts integer NOT NULL,
    parked_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    actor text NOT NULL,
    stream text COLLATE "C" NOT NULL,
    error text NOT NULL,
    PRIMARY KEY (build, position)
);

-- Points the views of a read model at a build's tables. Replacing keeps grants and whatever else
-- stands on a view; where the columns do not allow it, the view is made anew.
CREATE FUNCTION projections.point_views(subsystem text, tables text[], build_schema text)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    name text;
BEGIN
    IF to_regnamespace(quote_ident(subsystem)) IS NULL THEN
        BEGIN
            EXECUTE format('CREATE SCHEMA %I', subsystem);
        EXCEPTION WHEN duplicate_schema OR unique_violation THEN
            -- A neighbour of the same subsystem was quicker, and has committed.
            NULL;
        END;
    END IF;
    FOREACH name IN ARRAY tables LOOP
        BEGIN
            EXECUTE format('CREATE OR REPLACE VIEW %I.%I AS SELECT * FROM %I.%I',
                subsystem, name, build_schema, name);
        EXCEPTION WHEN invalid_table_definition THEN
            EXECUTE format('DROP VIEW %I.%I', subsystem, name);
            EXECUTE format('CREATE VIEW %I.%I AS SELECT * FROM %I.%I',
                subsystem, name, build_schema, name);
        END;
    END LOOP;
END $$;
