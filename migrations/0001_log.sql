-- The log: one total order of events, and what keeps it true.
CREATE SCHEMA log;

-- One row per shard. An append moves it as its last lock before the insert, so positions are
-- handed out in the order of commit and never leave a hole.
CREATE TABLE log.head (
    shard smallint PRIMARY KEY,
    position bigint NOT NULL,
    incarnation uuid NOT NULL,
    -- What the incarnation is bound to: another cluster, timeline or database is another life.
    identity text NOT NULL
) WITH (fillfactor = 10);

-- The authority on versions. A row of version 0 is a stream somebody tried to write and failed.
-- Only log.append moves versions and the head; a CHECK would be compiled anew in every append.
CREATE TABLE log.streams (
    name text COLLATE "C" PRIMARY KEY,
    version bigint NOT NULL,
    archived boolean NOT NULL DEFAULT false
) WITH (fillfactor = 70);

-- Fixed-width columns first: no padding between them.
CREATE TABLE log.events (
    position bigint NOT NULL,
    version bigint NOT NULL,
    recorded_at timestamptz NOT NULL,
    kind integer NOT NULL,
    schema smallint NOT NULL,
    stream text COLLATE "C" NOT NULL,
    payload bytea NOT NULL,
    meta bytea NOT NULL,
    hash bytea NOT NULL,
    PRIMARY KEY (position),
    -- One for all: each is compiled anew in every append.
    CHECK (version > 0 AND schema > 0 AND octet_length(hash) = 32)
) PARTITION BY RANGE (position);

CREATE INDEX events_recorded_at ON log.events USING brin (recorded_at);

CREATE FUNCTION log.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'events are immutable: % on %.% is refused', tg_op, tg_table_schema, tg_table_name
        USING ERRCODE = 'restrict_violation';
END $$;

CREATE TRIGGER events_are_immutable BEFORE UPDATE OR DELETE ON log.events
    FOR EACH ROW EXECUTE FUNCTION log.refuse_change();
CREATE TRIGGER events_are_not_truncated BEFORE TRUNCATE ON log.events
    FOR EACH STATEMENT EXECUTE FUNCTION log.refuse_change();
REVOKE UPDATE, DELETE, TRUNCATE ON log.events FROM PUBLIC;

-- Idempotency: the answer of a command, in the transaction of its events.
CREATE TABLE log.commands (
    key bytea PRIMARY KEY CHECK (octet_length(key) = 32),
    request_hash bytea NOT NULL CHECK (octet_length(request_hash) = 32),
    answer bytea NOT NULL,
    first_position bigint NOT NULL,
    n_events integer NOT NULL,
    recorded_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX commands_recorded_at ON log.commands USING brin (recorded_at);

-- One row per writing process: the number of its last batch and where that went. A batch whose
-- commit was never answered is sent again under the same number, and cannot be written twice.
CREATE TABLE log.writers (
    id uuid PRIMARY KEY,
    batch bigint NOT NULL,
    first_position bigint NOT NULL,
    bases bigint[] NOT NULL,
    seen_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 50);

-- Chained, signed roots over contiguous leaves.
CREATE TABLE log.seals (
    last_position bigint PRIMARY KEY,
    first_position bigint NOT NULL UNIQUE,
    root bytea NOT NULL CHECK (octet_length(root) = 32),
    previous bytea NOT NULL UNIQUE CHECK (octet_length(previous) = 32),
    chain bytea NOT NULL UNIQUE CHECK (octet_length(chain) = 32),
    public_key bytea NOT NULL CHECK (octet_length(public_key) = 32),
    signature bytea NOT NULL CHECK (octet_length(signature) = 64),
    sealed_at timestamptz NOT NULL,
    CHECK (first_position <= last_position)
);

-- Makes partitions until two whole ones lie ahead of the head. Made beside the table and then
-- attached: attaching does not stop appends.
CREATE FUNCTION log.ensure_partitions(size bigint) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    head bigint;
    upto bigint;
    first bigint;
    name text;
    n_made integer := 0;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('weir.log.ensure_partitions'));
    SELECT max(position) INTO head FROM log.head;
    SELECT coalesce(max(substring(pg_get_expr(c.relpartbound, c.oid) FROM 'TO \(''(\d+)''\)')::bigint), 0)
        INTO upto
        FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = 'log.events'::regclass;
    WHILE upto < coalesce(head, 0) + 2 * size + 1 LOOP
        first := upto;
        upto := upto + size;
        name := 'events_' || lpad(first::text, 15, '0');
        EXECUTE format('CREATE TABLE log.%I (LIKE log.events INCLUDING ALL)', name);
        EXECUTE format('CREATE UNIQUE INDEX ON log.%I (stream, version)', name);
        EXECUTE format('ALTER TABLE log.events ATTACH PARTITION log.%I FOR VALUES FROM (%s) TO (%s)',
            name, first, upto);
        EXECUTE format('CREATE TRIGGER events_are_not_truncated BEFORE TRUNCATE ON log.%I
            FOR EACH STATEMENT EXECUTE FUNCTION log.refuse_change()', name);
        EXECUTE format('REVOKE UPDATE, DELETE, TRUNCATE ON log.%I FROM PUBLIC', name);
        n_made := n_made + 1;
    END LOOP;
    RETURN n_made;
END $$;

-- Writes one batch of one process, or says why not without writing anything.
--
-- repeated: this batch may have been sent before.
-- streams_exist: the writer has seen all of the streams; then they are moved at once, which costs
--   half of looking first.
-- streams, assumed, counts: the distinct streams of the batch in byte order; the version each is
--   assumed to have (NULL where no writer cares); how many events it gets.
-- keys..key_sizes: commands to remember, with where in the batch their events begin, and how many.
-- event_*: the events in order; event_index points into streams, event_ordinal counts from 1 within
--   its stream.
--
-- outcome 0: written; first is the first position, bases the versions before.
-- outcome 1: this batch was written before; first and bases as then.
-- outcome 2: a stream is not at its assumed version; bases has what each is at, 0 where it is not.
-- outcome 3: a command was recorded before.
-- outcome 4: a stream is archived.
-- outcome 5: the writer is unknown (its row was lost in a restore).
-- SQLSTATE WR002: the writer's row is not where it can be, so the database was restored.
-- SQLSTATE WR001: the writer is not at the batch before; it must ask again with `repeated`.
CREATE FUNCTION log.append(
    shard_id smallint, writer_id uuid, batch_no bigint, repeated boolean, streams_exist boolean,
    streams text[], assumed bigint[], counts bigint[],
    keys bytea[], request_hashes bytea[], answers bytea[], key_firsts bigint[], key_sizes integer[],
    event_streams text[], event_index integer[], event_ordinal bigint[],
    kinds integer[], schemas smallint[], payloads bytea[], metas bytea[],
    recorded_ats timestamptz[], hashes bytea[],
    OUT outcome smallint, OUT first bigint, OUT bases bigint[]
) LANGUAGE plpgsql
-- One plan for all batches, which looks each stream up by its name, in the order of the array.
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET lock_timeout = '10s'
AS $$
#variable_conflict use_column
DECLARE
    last_batch bigint;
    n_events bigint := cardinality(event_streams);
    moved bigint[];
    refused boolean;
    -- Held to the end: a batch that is sent again waits for its first sending, if that still runs.
    locked text := pg_advisory_xact_lock(hashtext('weir.log.append'), uuid_hash(writer_id));
BEGIN
    IF repeated THEN
        SELECT w.batch, w.first_position, w.bases INTO last_batch, first, bases
            FROM log.writers w WHERE w.id = writer_id;
        IF last_batch IS NULL THEN
            outcome := 5;
            RETURN;
        ELSIF last_batch = batch_no THEN
            outcome := 1;
            RETURN;
        ELSIF last_batch <> batch_no - 1 THEN
            RAISE EXCEPTION 'writer % is at batch %, not before %', writer_id, last_batch, batch_no
                USING ERRCODE = 'WR002';
        END IF;
    END IF;

    IF keys <> '{}' AND EXISTS (SELECT FROM log.commands c WHERE c.key = ANY (keys)) THEN
        outcome := 3;
        RETURN;
    END IF;

    -- Streams are locked in the order of names, so that two batches never wait for each other.
    IF streams_exist THEN
        WITH moved AS (
            UPDATE log.streams s SET version = s.version + n.events
                FROM unnest(streams, assumed, counts) WITH ORDINALITY n(name, base, events, nth)
                WHERE s.name = n.name AND NOT s.archived
                    AND (n.base IS NULL OR s.version = n.base)
                RETURNING n.nth, s.version - n.events AS base)
        SELECT array_agg(m.base ORDER BY m.nth), array_agg(m.nth) INTO bases, moved FROM moved m;
        IF cardinality(streams) <> coalesce(cardinality(moved), 0) THEN
            UPDATE log.streams s SET version = s.version - n.events
                FROM unnest(streams, counts) WITH ORDINALITY n(name, events, nth)
                WHERE s.name = n.name AND n.nth = ANY (moved);
            SELECT array_agg(coalesce(s.version, 0) ORDER BY n.nth), bool_or(s.archived)
                INTO bases, refused
                FROM unnest(streams) WITH ORDINALITY n(name, nth)
                LEFT JOIN log.streams s ON s.name = n.name;
            outcome := CASE WHEN refused THEN 4 ELSE 2 END;
            RETURN;
        END IF;
    ELSE
        INSERT INTO log.streams (name, version)
            SELECT n.name, 0 FROM unnest(streams) n(name)
            WHERE NOT EXISTS (SELECT FROM log.streams s WHERE s.name = n.name)
            ORDER BY n.name COLLATE "C"
            ON CONFLICT DO NOTHING;
        SELECT array_agg(l.version ORDER BY l.name), bool_or(l.archived) INTO bases, refused
            FROM (SELECT s.name, s.version, s.archived FROM log.streams s
                  WHERE s.name = ANY (streams) ORDER BY s.name FOR UPDATE) l;
        IF refused THEN
            outcome := 4;
            RETURN;
        END IF;
        SELECT bool_or(a.version <> a.base) INTO refused
            FROM unnest(assumed, bases) a(version, base) WHERE a.version IS NOT NULL;
        IF refused THEN
            outcome := 2;
            RETURN;
        END IF;
        UPDATE log.streams s SET version = s.version + n.events
            FROM unnest(streams, counts) n(name, events) WHERE s.name = n.name;
    END IF;

    UPDATE log.head h SET position = h.position + n_events
        WHERE h.shard = shard_id RETURNING h.position - n_events + 1 INTO first;
    INSERT INTO log.events
        (position, version, recorded_at, kind, schema, stream, payload, meta, hash)
        SELECT first + e.nth - 1, bases[e.at] + e.ordinal, e.recorded_at, e.kind, e.schema,
               e.stream, e.payload, e.meta, e.hash
        FROM unnest(event_streams, event_index, event_ordinal, kinds, schemas, payloads, metas,
                    recorded_ats, hashes)
             WITH ORDINALITY
             AS e(stream, at, ordinal, kind, schema, payload, meta, recorded_at, hash, nth);
    IF keys <> '{}' THEN
        INSERT INTO log.commands (key, request_hash, answer, first_position, n_events)
            SELECT c.key, c.request_hash, c.answer, first + c.offset_in_batch, c.size
            FROM unnest(keys, request_hashes, answers, key_firsts, key_sizes)
                 AS c(key, request_hash, answer, offset_in_batch, size);
    END IF;
    -- Here the number is taken, whoever else may be sending it: the second finds another one.
    UPDATE log.writers w
        SET batch = batch_no, first_position = append.first, bases = append.bases, seen_at = now()
        WHERE w.id = writer_id AND w.batch = batch_no - 1;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'writer % is not at batch %', writer_id, batch_no - 1
            USING ERRCODE = 'WR001';
    END IF;
    outcome := 0;
END $$;
