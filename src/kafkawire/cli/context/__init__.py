"""``kafkawire context``: clusters with a name."""
