"""Messages of the storage definitions."""
