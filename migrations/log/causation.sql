-- Which event answers to which, and what one first cause set off.
CREATE TABLE causation (
    position bigint PRIMARY KEY,
    event_id uuid NOT NULL,
    correlation_id uuid NOT NULL,
    causation_id uuid
);
CREATE INDEX causation_by_correlation ON causation (correlation_id, position);
