"""Groups as far as they keep offsets that somebody committed: their state, and the log that it is kept in."""
