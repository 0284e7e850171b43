"""Messages of the proposals definitions."""
