"""Messages of the share_coordinator definitions."""
