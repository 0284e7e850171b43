"""The reference pages: Markdown about every message, and what changed from version to version."""
