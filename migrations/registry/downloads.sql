-- Who was let through to what: once per version and token, with how often, since when and until when.
-- A version that no file name told is the empty text, as is the token of who is nobody at the API.
CREATE TABLE downloads (
    ecosystem text COLLATE "C" NOT NULL,
    package text COLLATE "C" NOT NULL,
    version text COLLATE "C" NOT NULL,
    token text COLLATE "C" NOT NULL,
    principal text COLLATE "C" NOT NULL,
    n_downloads bigint NOT NULL,
    first_at timestamptz NOT NULL,
    last_at timestamptz NOT NULL,
    last_position bigint NOT NULL,
    PRIMARY KEY (ecosystem, package, version, token, principal)
) WITH (fillfactor = 80);
-- The files of each version that anybody was let through to: few, however many people there are.
CREATE TABLE downloaded_files (
    ecosystem text COLLATE "C" NOT NULL,
    package text COLLATE "C" NOT NULL,
    version text COLLATE "C" NOT NULL,
    file text COLLATE "C" NOT NULL,
    PRIMARY KEY (ecosystem, package, version, file)
);
