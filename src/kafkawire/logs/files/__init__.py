"""Which files hold logs, and how their bytes are read."""
