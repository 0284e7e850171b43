"""The records of topics: a little data, in memory, gone with the broker."""
