//! What `weir-actor` promises: Pekko's vectors row by row, the round-trip laws, and the bounds.

mod laws;
mod paths;
mod strategies;
mod vectors;
