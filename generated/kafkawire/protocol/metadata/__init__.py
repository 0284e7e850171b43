"""Messages of the metadata definitions."""
