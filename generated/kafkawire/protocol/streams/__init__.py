"""Messages of the streams definitions."""
