-- Decisions on downloads and filtered lists, counted: by hour for each ecosystem, and by day for each
-- package. Hours and days are those of UTC.
CREATE TABLE traffic_hours (
    hour timestamptz NOT NULL,
    ecosystem text COLLATE "C" NOT NULL,
    n_allowed bigint NOT NULL,
    n_blocked bigint NOT NULL,
    n_filtered bigint NOT NULL,
    PRIMARY KEY (hour, ecosystem)
) WITH (fillfactor = 80);
CREATE TABLE traffic_packages (
    day timestamptz NOT NULL,
    ecosystem text COLLATE "C" NOT NULL,
    package text COLLATE "C" NOT NULL,
    n_allowed bigint NOT NULL,
    n_blocked bigint NOT NULL,
    PRIMARY KEY (day, ecosystem, package)
) WITH (fillfactor = 80);
