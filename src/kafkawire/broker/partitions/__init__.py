"""The records of topics: in memory, or in a data directory."""
