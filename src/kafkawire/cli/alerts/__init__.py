"""The command that alerts."""
