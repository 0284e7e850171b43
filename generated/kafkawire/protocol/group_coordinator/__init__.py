"""Messages of the group_coordinator definitions."""
