"""Messages of the raft definitions."""
