"""Topics: how they may be called, how they are created, grow and go."""
