-- The versions that are known here: of which a file was delivered in full to anybody. Of an image the
-- digest of its manifest; the empty text where a file's name told no version.
CREATE TABLE known_versions (
    ecosystem text COLLATE "C" NOT NULL,
    package text COLLATE "C" NOT NULL,
    version text COLLATE "C" NOT NULL,
    PRIMARY KEY (ecosystem, package, version)
);
