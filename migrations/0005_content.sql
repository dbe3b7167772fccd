-- What the web gateway answered with, by the BLAKE3 of it: of all instances, and no read model. Read
-- models point at it; what none of them points at any more is swept.
CREATE SCHEMA portal;

CREATE TABLE portal.content (
    hash bytea PRIMARY KEY CHECK (octet_length(hash) = 32),
    size integer NOT NULL CHECK (size BETWEEN 0 AND 1000000),
    stored_at timestamptz NOT NULL DEFAULT now(),
    -- Since when nothing points at it, as far as was looked.
    unneeded_since timestamptz,
    -- The words it begins with, where it is a text.
    words tsvector,
    bytes bytea NOT NULL CHECK (octet_length(bytes) = size)
);
CREATE INDEX content_words ON portal.content USING gin (words);
