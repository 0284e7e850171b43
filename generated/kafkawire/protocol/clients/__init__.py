"""Messages of the clients definitions."""
