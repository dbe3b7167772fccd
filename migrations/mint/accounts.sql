-- What each account has, with what is set aside, and what it has paid. The treasury's is the sum of
-- all that was paid to it.
CREATE TABLE accounts (
    account text COLLATE "C" PRIMARY KEY,
    balance bigint NOT NULL,
    reserved bigint NOT NULL,
    granted bigint NOT NULL,
    -- Without tax.
    paid bigint NOT NULL,
    tax bigint NOT NULL,
    n_transfers bigint NOT NULL,
    -- The event that made it what it is.
    position bigint NOT NULL,
    changed_at timestamptz NOT NULL
) WITH (fillfactor = 50);
